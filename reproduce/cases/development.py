"""The kinds of anomaly to develop detectors on: two of state, two of shape."""

# Shapes: N rows (training and test rows together), C channels.

from __future__ import annotations

import numpy as np

from reproduce.cases.drawing import (
    Draft,
    bump,
    consecutive,
    ordinary,
    phase,
    plateau,
    smooth_noise,
)
from subadjacent.data.plant import Floats

# the product of each row is 1, and no two columns are correlated
MODES = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def unseen_combination(rng: np.random.Generator, rows: int) -> Draft:
    """Three channels switch between two levels; the signs multiply to 1, but not in an anomaly.

    A mode lasts 20 to 120 rows. An anomaly is one such segment with one channel
    at its other level, so it begins and ends where the mode would switch anyway.
    """
    spans = consecutive(rng, rows + 120, 20, 120)
    mode = np.cumsum(rng.integers(1, 4, len(spans))) % len(MODES)
    lengths = [stop - start for start, stop in spans]
    signs = np.repeat(MODES[mode], lengths, axis=0)[:rows]  # (N, 3)
    noisy = signs + 0.15 * rng.standard_normal((rows, 3))
    values = np.column_stack([noisy, ordinary(rng, rows, 3)])

    def change(rng: np.random.Generator, where: slice) -> Floats:
        changed = values[where].copy()
        channel = rng.integers(3)
        changed[:, channel] -= 2 * signs[where, channel]
        return changed

    return Draft(values, spans, change)


def off_the_ring(rng: np.random.Generator, rows: int) -> Draft:
    """Two channels go round a circle at a varying speed; an anomaly cuts through its middle."""
    angle = phase(rng, rows, 60, wander=0.6)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    noise = 0.06 * rng.standard_normal((rows, 2))
    others = ordinary(rng, rows, 3)

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        radius = 1 - 0.8 * plateau(where.stop - where.start, ramp=12)
        return np.column_stack([radius[:, None] * ring[where] + noise[where], others[where]])

    values = np.column_stack([ring + noise, others])
    return Draft(values, consecutive(rng, rows, 35, 60), change)


def reversed_beat(rng: np.random.Generator, rows: int) -> Draft:
    """Pulses that rise quickly and fall slowly; an anomaly is one pulse played backwards.

    It is turned round its peak, so the peak stays where the rhythm puts it.
    """
    beats = consecutive(rng, rows + 80, 55, 80)
    beat = np.zeros(rows + 80)
    for start, stop in beats:
        width = rng.normal(1, 0.04)
        at = (np.arange(stop - start) - 28) / width  # rows from the peak
        wave = bump(at, 0, 2.5, 6) + 0.45 * bump(at, 15, 3.5)
        beat[start:stop] = rng.normal(1, 0.05) * wave
    noisy = beat[:rows] + 0.03 * rng.standard_normal(rows)
    values = np.column_stack([noisy, ordinary(rng, rows, 2)])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        changed = values[where].copy()
        changed[:, 0] = changed[::-1, 0]
        return changed

    return Draft(values, [(start + 2, start + 55) for start, _ in beats], change)


def other_wave(rng: np.random.Generator, rows: int) -> Draft:
    """A cycle of two harmonics; in an anomaly the second one is shifted against the first."""
    angle = phase(rng, rows, 20, wander=0.12)
    rest = 0.25 * smooth_noise(rng, rows, 200) + 0.05 * rng.standard_normal(rows)
    others = ordinary(rng, rows, 2)

    def drawn(shift: Floats, where: slice) -> Floats:
        first, second = np.sin(angle[where]), np.sin(2 * angle[where] + shift)
        return np.column_stack([first + 0.5 * second + rest[where], others[where]])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        length = where.stop - where.start
        return drawn(np.pi * plateau(length, ramp=length // 3), where)

    values = drawn(np.zeros(rows), slice(0, rows))
    return Draft(values, consecutive(rng, rows, 44, 80), change)
