"""Generated live streams, with the anomalies that an operator would mark."""

# Shapes: T rows, C channels.

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from reproduce.cases.drawing import Span
from reproduce.cases.stream_parts import Drawing
from reproduce.cases.streams_kept_back import KEPT_BACK_STREAMS
from reproduce.cases.streams_of_servers import SERVERS
from reproduce.cases.streams_of_sites import SITES
from subadjacent.data.plant import Codes, Floats
from subadjacent.errors import InputError, require_whole

STREAM_KINDS: dict[str, Drawing] = {**SERVERS, **SITES}

FIRST_KEPT_BACK_SEED = 1_000
"""Seeds from here on are kept back for a final measurement, those of every kind."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveStream:
    """One stream, from its first row on: there is no clean part to fit on.

    Parameters
    ----------
    kind, seed
        The kind and the seed of the stream.
    values
        Rows as they come, NaN where a value is missing, (T, C).
    spans
        The anomalies as ``[start, stop)``, in order; none in the first fifth. Of a change for
        good only the onset counts: what follows is the new normal.
    """

    kind: str
    seed: int
    values: Floats
    spans: tuple[Span, ...]

    @property
    def labels(self) -> Codes:
        """1 for each row inside an anomaly, else 0; shape (T,)."""
        labels = np.zeros(len(self.values), np.uint8)
        for start, stop in self.spans:
            labels[start:stop] = 1
        return labels


def live_stream(kind: str, seed: int = 0) -> LiveStream:
    """One stream of a kind in ``STREAM_KINDS``, or in ``KEPT_BACK_STREAMS`` for the end.

    >>> stream = live_stream("rides", seed=1)
    >>> stream.values.shape, len(stream.spans), int(stream.labels.sum())
    ((8784, 1), 2, 96)
    """
    kinds: dict[str, Drawing] = {**STREAM_KINDS, **KEPT_BACK_STREAMS}
    if kind not in kinds:
        raise InputError(f"kind must be one of {', '.join(map(repr, kinds))}; got {kind!r}")
    require_whole("seed", seed, least=0)
    # its name as well, so that two kinds with one seed do not share their noise
    rng = np.random.default_rng([seed, *kind.encode()])
    values, spans = kinds[kind](rng)
    return LiveStream(kind, seed, values, tuple(sorted(spans)))


def kept_back_streams(seeds: Iterable[int] = (1_000, 1_001)) -> Iterator[LiveStream]:
    """One stream for each kind, those of development too, and kept-back seed: for the end only."""
    for seed in seeds:
        if seed < FIRST_KEPT_BACK_SEED:
            raise InputError(f"seeds must be {FIRST_KEPT_BACK_SEED} or more; got {seed}")
        yield from (live_stream(kind, seed) for kind in (*STREAM_KINDS, *KEPT_BACK_STREAMS))


def live_streams(seeds: Iterable[int] = (0, 1)) -> Iterator[LiveStream]:
    """One stream for each development kind and seed."""
    for seed in seeds:
        if seed >= FIRST_KEPT_BACK_SEED:
            raise InputError(
                f"seeds must be below {FIRST_KEPT_BACK_SEED}, the others are kept back; got {seed}"
            )
        yield from (live_stream(kind, seed) for kind in STREAM_KINDS)
