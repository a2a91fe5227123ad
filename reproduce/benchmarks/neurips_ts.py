"""The NeurIPS-TS benchmark series: one noisy sine with five kinds of anomaly, seeded."""

# Shapes: n rows, C channels (one here).

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from subadjacent.data.plant import KIND_CODES, KINDS, Codes, Floats, check_kinds
from subadjacent.errors import InputError, require_whole

FREQUENCY = 0.04  # a period is 25 rows
AMPLITUDE = 1.5
NOISE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """A series with the anomalies put into it.

    Parameters
    ----------
    values
        The series with its anomalies, shape (n, C).
    base
        The same series before any anomaly, shape (n, C).
    kind
        The kind of each row, shape (n,): 0 normal, else the code in ``KIND_CODES``.
    """

    values: Floats
    base: Floats
    kind: Codes

    @property
    def labels(self) -> Codes:
        """1 where a row has a kind, else 0; shape (n,)."""
        return (self.kind > 0).astype(np.uint8)


def neurips_ts(
    n: int = 20_000,
    seed: int = 100,
    *,
    kinds: Sequence[str] = KINDS,
    ratio: float = 0.05,
    radius: int = 5,
) -> Generated:
    """The NeurIPS-TS series; the defaults give the paper's test series, 22.44 % anomalous.

    Kinds are put in one after the other, always in the order of ``KINDS``, and
    may fall on each other: a later one overwrites the rows and the kind of an
    earlier one. A trend also leaves every later row shifted, and those rows
    count as normal: that is the benchmark's definition, not a slip.

    Parameters
    ----------
    n
        Rows.
    seed
        Same seed, same series. 101 gives the training series: its ``base`` is
        clean, its ``values`` are the contaminated form.
    kinds
        Which anomalies to put in; none for a clean series.
    ratio
        Share of the rows that each kind is meant to cover, before overlaps.
        A share that rounds to no anomaly puts none in.
    radius
        A pattern covers this many rows before its centre and this many from it
        on; a point looks at the same rows to see how much the series varies.
    """
    require_whole("radius", radius, least=1)
    require_whole("n", n, least=2 * radius, why=f"one whole pattern of radius {radius}")
    require_whole("seed", seed, least=0)
    if seed >= 2**32:
        raise InputError(f"seed must be less than 2**32; got {seed}")
    check_kinds(kinds)
    if not 0 <= ratio <= 1:
        raise InputError(f"ratio must be between 0 and 1; got {ratio}")

    # the legacy generator, because only its draws give the published series
    rng = np.random.RandomState(seed)
    base = _sine(rng, n, FREQUENCY, NOISE)
    draft = _Draft(rng, base, base.copy(), np.zeros(n, np.uint8), ratio, radius)
    for name, put_in in _PUT_IN.items():
        if name in kinds:
            put_in(draft)
    return Generated(draft.values[:, None], base[:, None], draft.kind)


def rows_around(center: int, radius: int, n: int) -> slice:
    """Rows ``[center - radius, center + radius)`` within a series of ``n`` rows."""
    return slice(max(0, center - radius), min(n, center + radius))


@dataclass(slots=True)
class _Draft:
    """A series under way: each kind draws from ``rng`` and writes ``values`` and ``kind``."""

    rng: np.random.RandomState
    base: Floats  # (n,)
    values: Floats  # (n,)
    kind: Codes  # (n,)
    ratio: float
    radius: int

    def centers(self, rows_each: int) -> list[int]:
        """Where anomalies of ``rows_each`` rows go; repeats and overlaps are allowed."""
        n = len(self.values)
        count = round(n * self.ratio / rows_each)
        return [int(draw * n) for draw in self.rng.random_sample(count)]

    def pattern_centers(self) -> list[int]:
        return self.centers(rows_each=2 * self.radius)

    def rows(self, center: int) -> slice:
        return rows_around(center, self.radius, len(self.values))

    def put(self, where: slice | int, new: Floats | float, name: str) -> None:
        self.values[where] = new
        self.kind[where] = KIND_CODES[name]


def _sine(rng: np.random.RandomState, n: int, frequency: float, noise: float) -> Floats:
    clean = np.sin(2 * np.pi * frequency * np.arange(n))
    return np.asarray(AMPLITUDE * (clean + noise * rng.standard_normal(n)))


def _put_shapelets(draft: _Draft) -> None:
    """Segments of a square wave of the same period."""
    centers = draft.pattern_centers()
    n = len(draft.values)
    odd = range(1, 40, 2)
    square = sum((_sine(draft.rng, n, FREQUENCY * k, 0.03) / k for k in odd), np.zeros(n))
    for center in centers:
        rows = draft.rows(center)
        draft.put(rows, square[rows], "shapelet")


def _put_seasonal(draft: _Draft) -> None:
    """Segments at three times the frequency."""
    for center in draft.pattern_centers():
        rows = draft.rows(center)
        # drawn at full length each time: the published draws are
        fast = _sine(draft.rng, len(draft.values), 3 * FREQUENCY, NOISE)
        draft.put(rows, fast[rows], "seasonal")


def _put_trends(draft: _Draft) -> None:
    """Ramps up or down; what follows stays at the level where the ramp ended."""
    for center in draft.pattern_centers():
        rows = draft.rows(center)
        sign = draft.rng.choice([-1, 1])
        ramp = sign * 0.5 * np.arange(rows.stop - rows.start)
        draft.put(rows, draft.base[rows] + ramp, "trend")
        draft.values[rows.stop :] += ramp[-1]


def _put_global(draft: _Draft) -> None:
    """Points at or beyond the highest or lowest value of the series so far."""
    centers = draft.centers(rows_each=1)
    high, low = draft.values.max(), draft.values.min()
    for center in centers:
        value = _exaggerated(draft, center, 3.5)
        if 0 <= value < high:
            value = high
        elif low < value < 0:
            value = low
        draft.put(center, value, "global")


def _put_contextual(draft: _Draft) -> None:
    """Points odd for their neighbourhood but inside the range of the series so far."""
    centers = draft.centers(rows_each=1)
    high, low = draft.values.max(), draft.values.min()
    for center in centers:
        value = _exaggerated(draft, center, 2.5)
        if value > high or value < low:
            extreme = high if value > high else low
            value = extreme * min(0.95, abs(draft.rng.normal(0, 0.5)))
        draft.put(center, value, "contextual")


def _exaggerated(draft: _Draft, center: int, factor: float) -> float:
    around = draft.base[draft.rows(center)]
    return float(draft.base[center] * factor * around.std())


# in the published order: the draws of one kind follow those of the kind before
_PUT_IN: dict[str, Callable[[_Draft], None]] = {
    "shapelet": _put_shapelets,
    "seasonal": _put_seasonal,
    "trend": _put_trends,
    "global": _put_global,
    "contextual": _put_contextual,
}
