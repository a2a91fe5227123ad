"""The kinds of anomaly kept back for a final measurement: three of state, three of shape."""

# Shapes: N rows (training and test rows together), C channels.

from __future__ import annotations

import numpy as np

from reproduce.cases.drawing import (
    Draft,
    Span,
    bump,
    consecutive,
    ordinary,
    phase,
    plateau,
    smooth_noise,
)
from subadjacent.data.plant import Floats


def hole_in_a_torus(rng: np.random.Generator, rows: int) -> Draft:
    """Two cycles whose phase difference stays away from 0; in an anomaly they run in phase."""
    first = phase(rng, rows, 80, wander=0.1)
    # the bounds are reached often, so that cosines and sines of the two stay uncorrelated
    difference = np.pi + 2.1 * np.tanh(1.5 * smooth_noise(rng, rows, 400))
    noise = 0.06 * rng.standard_normal((rows, 4))
    others = ordinary(rng, rows, 4)

    def drawn(difference: Floats, where: slice) -> Floats:
        angles = first[where], first[where] + difference
        torus = [function(angle) for angle in angles for function in (np.cos, np.sin)]
        return np.column_stack([np.column_stack(torus) + noise[where], others[where]])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        normal = difference[where]
        in_phase = 2 * np.pi * np.round(normal / (2 * np.pi))
        return drawn(normal + (in_phase - normal) * plateau(len(normal), ramp=18), where)

    # only from where the way to "in phase" is short, so that no cycle speeds up much
    distance = np.pi - np.abs(difference - np.pi)
    spans = [
        (start, stop)
        for start, stop in consecutive(rng, rows, 50, 65)
        if distance[start:stop].max() < 1.4
    ]
    return Draft(drawn(difference, slice(0, rows)), spans, change)


def valve_at_another_load(rng: np.random.Generator, rows: int) -> Draft:
    """A bypass valve opens at low and at high load only; in an anomaly it opens in between.

    Flow and pressure obey the valve and the load by the same saturating curves
    as ever, and six more channels follow the load alone.
    """
    load = 0.5 + 0.5 * np.tanh(1.2 * smooth_noise(rng, rows, 250))
    between = np.abs(load - 0.5) < 0.2
    valve = np.zeros(rows)
    for start, stop in _runs(~between):
        if rng.random() < 0.7:
            valve[start + rng.integers(0, 10) : max(0, stop - rng.integers(0, 10))] = 1
    curves = [np.tanh(steep * load) for steep in rng.uniform(0.8, 4, 6)]
    noise = 0.02 * rng.standard_normal((rows, 4))
    others = np.column_stack([*curves, ordinary(rng, rows, 2)])
    others[:, :6] += 0.02 * rng.standard_normal((rows, 6))

    def drawn(valve: Floats, where: slice) -> Floats:
        flow = np.tanh(2.5 * load[where]) * (1 - 0.35 * valve)
        pressure = load[where] ** 2 * (1 - 0.25 * valve)
        plant = np.column_stack([load[where], valve, flow, pressure])
        return np.column_stack([plant + noise[where], others[where]])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        return drawn(np.ones(where.stop - where.start), where)

    near_half = np.abs(load - 0.5) < 0.12
    spans = [
        (start, min(stop, start + int(rng.integers(25, 70))))
        for start, stop in _runs(near_half)
        if stop - start >= 20
    ]
    return Draft(drawn(valve, slice(0, rows)), spans, change)


def fold_lost(rng: np.random.Generator, rows: int) -> Draft:
    """Two channels are even functions of two others; in an anomaly both follow something else.

    What they follow instead is a second signal with the same distribution and
    the same spectrum. No linear relation holds at any time.
    """
    signals, replaced = (
        np.column_stack([smooth_noise(rng, rows, 70) for _ in range(2)]) for _ in range(2)
    )
    noise = 0.05 * rng.standard_normal((rows, 4))
    others = ordinary(rng, rows, 3)

    def folded(signals: Floats) -> Floats:
        return np.column_stack([np.abs(signals[:, 0]), np.tanh(signals[:, 1] ** 2)])

    clean, odd = folded(signals), folded(replaced)
    values = np.column_stack([np.column_stack([signals, clean]) + noise, others])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        changed = values[where].copy()
        share = plateau(where.stop - where.start, ramp=20)[:, None]
        changed[:, 2:4] += share * (odd - clean)[where]
        return changed

    # the second signal may agree with the first for a while by chance
    apart = np.abs(odd - clean) / clean.std(axis=0)
    spans = [
        (start, stop)
        for start, stop in consecutive(rng, rows, 45, 64)
        if apart[start:stop].mean() > 1.2
    ]
    return Draft(values, spans, change)


def inverted_wave(rng: np.random.Generator, rows: int) -> Draft:
    """Heart beats of three waves; the last goes up, then down, and in an anomaly the other way."""
    beats = consecutive(rng, rows + 180, 145, 175)
    heart, last = np.zeros(rows + 180), np.zeros(rows + 180)
    for start, stop in beats:
        at = np.arange(stop - start) / rng.normal(1, 0.02)
        spike = bump(at, 45, 2) - 0.35 * bump(at, 51, 2.5) - 0.2 * bump(at, 39, 2)
        heart[start:stop] = rng.normal(1, 0.04) * (spike + 0.15 * bump(at, 20, 5))
        last[start:stop] = rng.normal(0.35, 0.02) * (bump(at, 90, 6) - bump(at, 106, 6))
    baseline = 0.05 * smooth_noise(rng, rows, 300) + 0.02 * rng.standard_normal(rows)

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        return (heart[where] - last[where] + baseline[where])[:, None]

    values = ((heart + last)[:rows] + baseline)[:, None]
    return Draft(values, [(start + 72, start + 125) for start, _ in beats], change)


def swapped_order(rng: np.random.Generator, rows: int) -> Draft:
    """A batch is two short peaks, then a slow ramp; in an anomaly the ramp comes first."""
    batches = consecutive(rng, rows + 90, 58, 85)
    work = np.zeros(rows + 90)
    half = 25  # rows of each of the two
    at = np.arange(half, dtype=np.float64)
    spans: list[Span] = []
    for start, _ in batches:
        peaks = bump(at, 7, 2.2) + 0.8 * bump(at, 17, 2.2)
        ramp = np.where(at < 20, at / 20, np.maximum(0, 24 - at) / 4)
        both = np.concatenate([rng.normal(1, 0.05) * peaks, rng.normal(0.9, 0.05) * ramp])
        work[start : start + 2 * half] = both
        spans.append((start, start + 2 * half))
    noisy = work[:rows] + 0.04 * rng.standard_normal(rows)
    values = np.column_stack([ordinary(rng, rows, 2), noisy])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        changed = values[where].copy()
        changed[:, 2] = np.roll(changed[:, 2], half)
        return changed

    return Draft(values, spans, change)


def stretched_cycle(rng: np.random.Generator, rows: int) -> Draft:
    """Two channels share a cycle; in an anomaly one is a third longer, the next makes up for it."""
    cycle = 32
    angle = phase(rng, rows, cycle, wander=0.04)
    noise = 0.06 * rng.standard_normal((rows, 2))
    others = ordinary(rng, rows, 3)

    def drawn(angle: Floats, where: slice) -> Floats:
        pair = np.column_stack(
            [np.sin(angle) + 0.4 * np.cos(2 * angle), np.tanh(2 * np.sin(angle + 1))]
        )
        return np.column_stack([others[where], pair + noise[where]])

    def change(_rng: np.random.Generator, where: slice) -> Floats:
        # one whole cycle runs a quarter slower on average
        late = np.pi / 2 * plateau(where.stop - where.start, ramp=cycle - 1)
        return drawn(angle[where] - late, where)

    values = drawn(angle, slice(0, rows))
    return Draft(values, consecutive(rng, rows, 2 * cycle - 4, 2 * cycle), change)


def _runs(true: np.ndarray) -> list[tuple[int, int]]:
    """Rows ``[start, stop)`` of each unbroken run of true values."""
    edges = np.flatnonzero(np.diff(true.astype(np.int8), prepend=0, append=0))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]
