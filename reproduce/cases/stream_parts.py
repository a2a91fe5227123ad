"""Building blocks of generated live streams: clocks, loads, counts, steps, places."""

# Shapes: T rows, C channels; what is not said otherwise is of one channel, (T,).

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from reproduce.cases.drawing import Span, consecutive, smooth_noise
from subadjacent.data.plant import Floats

Drawn = tuple[Floats, list[Span]]  # values (T, C), anomalies
Drawing = Callable[[np.random.Generator], Drawn]

MINUTES_A_DAY = 1_440
FIRST, LAST = 0.22, 0.96  # share of the rows between which anomalies begin
APART = 0.08  # share of the rows from the start of one anomaly to that of the next, at least


def day(rows: int, step: int, start: float = 0.0) -> Floats:
    """Days since the start of a Monday, one value a row of ``step`` minutes."""
    return start + np.arange(rows) * step / MINUTES_A_DAY


def weekend(days: Floats) -> NDArray[np.bool_]:
    """Whether a row is of a Saturday or a Sunday."""
    return np.asarray(np.floor(days) % 7 >= 5)


def daily(rng: np.random.Generator, days: Floats, sharp: float = 1.0) -> Floats:
    """A load over the day, from 0 at night to 1: a broad hill with a second peak of its own."""
    hour = 24 * (days % 1)
    peaks = rng.uniform(8, 11), rng.uniform(16, 20)
    widths = rng.uniform(2, 3.5, 2) / sharp
    heights = 1, rng.uniform(0.6, 1.1)
    hill = np.zeros_like(days)
    for peak, width, height in zip(peaks, widths, heights, strict=True):
        apart = (hour - peak + 12) % 24 - 12
        hill += height * np.exp(-0.5 * (apart / width) ** 2)
    return np.asarray(hill / hill.max())


def wander(rng: np.random.Generator, rows: int, memory: float) -> Floats:
    """Autoregressive noise of unit variance; a value counts for a third after ``memory`` rows."""
    keep = np.exp(-1 / memory)
    start = np.array([keep * rng.standard_normal()])
    noise = np.sqrt(1 - keep**2) * rng.standard_normal(rows)
    return np.asarray(lfilter([1.0], [1.0, -keep], noise, zi=start)[0])


def counts(rng: np.random.Generator, mean: Floats, heavy: float) -> Floats:
    """Whole numbers of the mean given; their variance is ``mean + heavy * mean**2``."""
    if heavy <= 0:
        return rng.poisson(np.maximum(mean, 0)).astype(float)
    shape = 1 / heavy
    return rng.poisson(rng.gamma(shape, np.maximum(mean, 0) / shape)).astype(float)


def bursts(rng: np.random.Generator, rows: int, every: int, height: float, fall: float) -> Floats:
    """Sudden rises at random rows, about one in ``every``, each of its own size, that die away."""
    sizes = (rng.random(rows) < 1 / every) * height * rng.lognormal(0, 0.5, rows)
    return np.asarray(lfilter([1.0], [1.0, -np.exp(-1 / fall)], sizes))


def steps(
    rng: np.random.Generator, rows: int, shortest: int, longest: int, levels: Floats
) -> Floats:
    """Levels that hold for a while each, drawn from ``levels``."""
    drawn = np.full(rows, levels[0], dtype=float)
    for start, stop in consecutive(rng, rows + longest, shortest, longest):
        drawn[start:stop] = rng.choice(levels)
    return drawn


def slow(rng: np.random.Generator, rows: int, low: float, high: float) -> Floats:
    """A factor that moves smoothly between two bounds over the whole stream."""
    moving = smooth_noise(rng, rows, max(4, rows // 2))
    reach = np.ptp(moving) or 1.0
    return np.asarray(low + (high - low) * (moving - moving.min()) / reach)


def places(rng: np.random.Generator, rows: int, most: int = 4, fewest: int = 1) -> list[int]:
    """First rows of ``fewest`` to ``most`` anomalies, in order, apart from each other."""
    wanted = int(rng.integers(fewest, most, endpoint=True))
    chosen: list[int] = []
    for start in rng.integers(int(FIRST * rows), int(LAST * rows), 40).tolist():
        if len(chosen) < wanted and all(abs(start - taken) > APART * rows for taken in chosen):
            chosen.append(start)
    return sorted(chosen)


def near(days: Floats, row: int, hour: float) -> int:
    """The first row from ``row`` on that is at the hour of the day, or ``row`` if none is."""
    after = np.flatnonzero((days[row:] * 24 - hour) % 24 < (days[1] - days[0]) * 24)
    return row + int(after[0]) if len(after) else row


def until(values: Floats, start: int, length: int) -> Span:
    """A span of ``length`` rows from ``start``, cut at the end of the stream."""
    return start, min(start + length, len(values))


def with_gaps(rng: np.random.Generator, values: Floats, share: float) -> Floats:
    """The values with missing rows (NaN): single ones, and some segments of ten."""
    missing = rng.random(len(values)) < share
    for start in np.flatnonzero(missing & (rng.random(len(values)) < 0.1)).tolist():
        missing[start : start + 10] = True
    missing[:20] = False  # a stream begins with a value
    return np.where(missing, np.nan, values)


def column(values: Floats) -> Floats:
    """The rows of a stream with one channel, (T, 1)."""
    return np.asarray(values, dtype=float)[:, None]
