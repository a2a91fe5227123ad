"""Simple models of a departure: a level, two of them, or a ramp.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.kinds import MIN_SECOND, ROWS_BESIDE, Array, ChannelChart, ChannelEvent

# a level explains eight ninths of a ramp: a ramp must explain this many times as much
MIN_RAMP_GAIN = 1.01

# share of a departure that a model explains clearly
CLEARLY = 0.8

# rows before and after the begin of a step whose medians differ by this share of it at least
STEP_ROWS, MIN_RISE = 4, 0.75

# places between which steps and ramps are sought
PLACES = 64


@dataclass(frozen=True, slots=True)
class LevelFit:
    """The best fit of a level, a ramp or two levels to an event and the rows beside it.

    ``explained`` is the share of the departure that it explains. It goes from row ``start`` to
    ``stop`` of the examined ones, half-open, by ``margin`` rows more or less. ``is_step`` tells
    whether one level explains the departure clearly, and begins at once.
    """

    explained: float
    is_ramp: bool
    start: int
    stop: int
    margin: int
    is_step: bool

    @classmethod
    def of(cls, event: ChannelEvent, chart: ChannelChart) -> LevelFit:
        """The fit to an event, and to the rows beside it."""
        window = slice(0, event.here.stop + ROWS_BESIDE)
        others = event.left_out[event.rows][window].copy()
        others[event.beside] = False
        sizes = np.where(others, 0, chart.sizes[window])
        # normal rows have a square of 1
        total = max(float(np.sum(np.square(sizes))) - len(sizes), 1.0)
        level, ramp = _best(sizes, is_ramp=False), _best(sizes, is_ramp=True)
        second = _best(sizes - level.line(len(sizes)), is_ramp=False)
        both = level.gain
        if level.height * second.height < 0 and second.gain > MIN_SECOND * total:
            both += second.gain
        is_ramp = ramp.gain > MIN_RAMP_GAIN * both
        best = ramp if is_ramp else level
        margin = -(-len(sizes) // PLACES)
        early, late = best.start - margin, best.start + margin
        # before the first row, and after the last, there is nothing to explain
        around = np.pad(sizes, margin + STEP_ROWS)[early + margin : late + margin + 2 * STEP_ROWS]
        rise = np.median(around[-STEP_ROWS:]) - np.median(around[:STEP_ROWS])
        return cls(
            max(ramp.gain, both) / total,
            is_ramp,
            best.start,
            best.stop,
            margin,
            is_step=not is_ramp
            and level.gain > CLEARLY * total
            and bool(rise * np.sign(level.height) > MIN_RISE * abs(level.height)),
        )


class _Line(NamedTuple):
    """A level or a ramp from one row to another, and by how much it makes squares smaller."""

    gain: float
    start: int
    stop: int
    height: float

    def line(self, rows: int) -> Array:
        """The level at each row, (R,)."""
        places = np.arange(rows)
        return np.where((self.start <= places) & (places < self.stop), self.height, 0.0)


def _best(sizes: Array, *, is_ramp: bool) -> _Line:
    """The level, or the ramp from 0, that leaves the smallest squares."""
    places = np.unique(np.linspace(0, len(sizes), PLACES + 1).astype(np.intp))
    lengths = np.maximum(places - places[:, None], 0)
    products, squares = _sums_between(sizes, places), lengths
    if is_ramp:
        weighted = _sums_between(sizes * np.arange(len(sizes)), places)
        products = weighted - places[:, None] * products
        squares = lengths * (lengths - 1) * (2 * lengths - 1) // 6
    gains = np.where(squares > 0, products**2 / np.maximum(squares, 1), 0)
    start, stop = np.unravel_index(gains.argmax(), gains.shape)
    height = products[start, stop] / max(squares[start, stop], 1)
    return _Line(float(gains[start, stop]), int(places[start]), int(places[stop]), float(height))


def _sums_between(values: Array, places: NDArray[np.intp]) -> Array:
    sums = np.append(0.0, np.cumsum(values))[places]
    return np.asarray(sums - sums[:, None])
