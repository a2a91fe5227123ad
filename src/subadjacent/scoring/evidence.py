"""A model's evidence on one segment of rows, from one pass.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]

# added to a channel's baseline squared error: one that never moved in training is not explained
# by its first ripple
ERROR_FLOOR = 1e-3


class Reach(NamedTuple):
    """The rows around a row that its score depends on.

    ``after`` is 0 for a causal model and None for one that needs the whole segment. A piece of a
    segment is scored as the whole is if it begins at a multiple of ``every`` rows: 1 for most
    models, the stride of the windows for networks.
    """

    before: int
    after: int | None
    every: int = 1


class Evidence(NamedTuple):
    """A model's evidence on every row of a segment.

    ``by_channel`` is how unusual each channel is: its squared departure in units of the normal
    one. ``expected``, and the expected range from ``low`` to ``high``, are in the data's own
    units, as if no anomaly had happened; None where a model expects nothing, or no range.
    ``traces`` are named rows, (T,) each, that led to the score. ``views`` names those of them that
    add up to the score of a row before it is averaged over rows; none where a score is no such sum.
    """

    score: Array  # (T,), high = abnormal
    by_channel: Array  # (T, C)
    expected: Array | None  # (T, C)
    traces: Mapping[str, Array]
    views: tuple[str, ...] = ()
    low: Array | None = None  # (T, C)
    high: Array | None = None  # (T, C)
