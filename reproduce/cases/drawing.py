"""Building blocks of the generated kinds: smooth noise, cycles, ordinary channels, ramps."""

# Shapes: N rows (training and test rows together), C channels.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from subadjacent.data.plant import Floats

Span = tuple[int, int]  # rows [start, stop)


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Clean rows, and how an anomaly would change them.

    Parameters
    ----------
    values
        Clean rows in arbitrary units, shape (N, C).
    spans
        Rows that an anomaly may take, as ``[start, stop)``.
    change
        From a generator and the rows of a span to their anomalous values, shape
        (stop - start, C).
    """

    values: Floats
    spans: list[Span]
    change: Callable[[np.random.Generator, slice], Floats]


def smooth_noise(rng: np.random.Generator, rows: int, width: int) -> Floats:
    """Gaussian noise of unit variance, smoothed by a Hann window of ``width`` rows."""
    kernel = np.hanning(width + 2)[1:-1]
    kernel /= np.linalg.norm(kernel)
    return np.convolve(rng.standard_normal(rows + width - 1), kernel, "valid")


def phase(rng: np.random.Generator, rows: int, cycle: float, wander: float) -> Floats:
    """Angle of a cycle of about ``cycle`` rows; its speed deviates by a share of ``wander``."""
    speed = 1 + wander * smooth_noise(rng, rows, 4 * round(cycle))
    return np.asarray(rng.uniform(0, 2 * np.pi) + np.cumsum(2 * np.pi / cycle * speed))


def ordinary(rng: np.random.Generator, rows: int, channels: int) -> Floats:
    """Channels that no anomaly touches: noisy cycles and autoregressive noise in turn."""
    drawn = np.empty((rows, channels))
    for channel in range(channels):
        if channel % 2:
            drawn[:, channel] = lfilter([np.sqrt(1 - 0.9**2)], [1, -0.9], rng.standard_normal(rows))
        else:
            angle = phase(rng, rows, rng.uniform(25, 90), wander=0.02)
            drawn[:, channel] = np.sin(angle) + 0.1 * rng.standard_normal(rows)
    return drawn


def consecutive(rng: np.random.Generator, rows: int, shortest: int, longest: int) -> list[Span]:
    """Spans of ``shortest`` to ``longest`` rows, one after the other, that fill ``rows``."""
    lengths = rng.integers(shortest, longest, rows // shortest, endpoint=True)
    stops = np.cumsum(lengths)
    return [
        (int(stop - length), int(stop))
        for stop, length in zip(stops, lengths, strict=True)
        if stop <= rows
    ]


def plateau(rows: int, ramp: int) -> Floats:
    """A smooth rise to 1 over ``ramp`` rows, and the same fall at the end; positive everywhere."""
    row = np.arange(1, rows + 1)
    from_edge = np.minimum(row, rows + 1 - row) / (ramp + 1)
    return np.asarray(np.sin(np.pi / 2 * np.minimum(from_edge, 1)) ** 2)


def bump(at: Floats, centre: float, rise: float, fall: float | None = None) -> Floats:
    """A bell of height 1 whose two sides may differ in width."""
    width = np.where(at < centre, rise, rise if fall is None else fall)
    return np.asarray(np.exp(-0.5 * ((at - centre) / width) ** 2))
