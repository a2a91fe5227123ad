"""Segments that come in parts, and what tests hold them against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.evidence import Evidence
from subadjacent.methods.stream import ModelStream, joined

Rows = NDArray[np.float64]


def in_parts(stream: ModelStream, rows: Rows, size: int) -> Evidence:
    """What a stream finds of a segment that comes in parts, to its end."""
    parts = [stream.push(rows[start : start + size]) for start in range(0, len(rows), size)]
    return joined([*parts, stream.finish()])


def assert_same(found: Evidence, wanted: Evidence, **near: float) -> None:
    np.testing.assert_allclose(found.score, wanted.score, **near)
    np.testing.assert_allclose(found.by_channel, wanted.by_channel, **near)
    assert (found.expected is None) == (wanted.expected is None)
    if found.expected is not None and wanted.expected is not None:
        np.testing.assert_allclose(found.expected, wanted.expected, **near)
    assert list(found.traces) == list(wanted.traces)
    for name, trace in wanted.traces.items():
        np.testing.assert_allclose(found.traces[name], trace, **near)
