"""Kinds of live stream for development: processors, memory, disks, requests."""

# Shapes: T rows, C channels. A kind gives values (T, C) and the anomalies as [start, stop).

from __future__ import annotations

import numpy as np

from reproduce.cases.drawing import smooth_noise
from reproduce.cases.stream_parts import (
    Drawing,
    Drawn,
    bursts,
    column,
    counts,
    daily,
    day,
    near,
    places,
    slow,
    steps,
    until,
    wander,
    weekend,
    with_gaps,
)


def processor_plateaus(rng: np.random.Generator) -> Drawn:
    """A processor whose jobs make plateaus; an anomaly is a plateau higher than any, or none."""
    rows = int(rng.integers(3_500, 4_500))
    values = steps(rng, rows, 20, 160, rng.uniform(5, 60, 6)) + rng.normal(0, 1.5, rows)
    spans = []
    for start in places(rng, rows, 3):
        span = until(values, start, int(rng.integers(30, 150)))
        level = rng.choice([rng.uniform(82, 99), 0.3])
        values[slice(*span)] = level + rng.normal(0, 0.6, span[1] - span[0])
        spans.append(span)
    return column(np.clip(values, 0, 100)), spans


def processor_moves_for_good(rng: np.random.Generator) -> Drawn:
    """A noisy processor that changes its level for good, twice at most: the onset counts."""
    rows = int(rng.integers(3_500, 4_500))
    values = 40 + 2 * wander(rng, rows, 8) + rng.normal(0, 1, rows)
    values += bursts(rng, rows, 300, 12, 2)
    spans = []
    for start in places(rng, rows, 2):
        values[start:] += rng.choice([-1, 1]) * rng.uniform(9, 18)
        spans.append(until(values, start, 20))
    return column(np.clip(values, 0, 100)), spans


def latency_spikes(rng: np.random.Generator) -> Drawn:
    """Response times with sparse spikes; an anomaly is a spike beyond all, or spikes that crowd."""
    rows = int(rng.integers(3_500, 6_000))
    values = 20 * rng.lognormal(0, 0.12, rows) + bursts(rng, rows, 150, 30, 0.4)
    spans = []
    for start in places(rng, rows, 4):
        if rng.random() < 0.5:
            span = until(values, start, int(rng.integers(1, 4)))
            values[slice(*span)] += rng.uniform(250, 600)
        else:
            span = until(values, start, int(rng.integers(60, 150)))
            length = span[1] - span[0]
            values[slice(*span)] += bursts(rng, length, 6, 30, 0.4)
        spans.append(span)
    return column(values), spans


def request_counts(rng: np.random.Generator) -> Drawn:
    """Requests every five minutes over the day; an anomaly is a failure, a flood or a half."""
    rows = int(rng.integers(4_000, 8_000))
    days = day(rows, 5, rng.uniform(0, 7))
    mean = (
        (30 + 220 * daily(rng, days)) * np.where(weekend(days), 0.65, 1) * slow(rng, rows, 0.8, 1.2)
    )
    spans = []
    for start in places(rng, rows, 4):
        row = near(days, start, 13)
        span = until(mean, row, int(rng.integers(6, 50)))
        mean[slice(*span)] *= rng.choice([0.02, 0.4, 2.8])
        spans.append(span)
    return column(with_gaps(rng, counts(rng, mean, 0.01), 0.004)), spans


def memory_sawtooth(rng: np.random.Generator) -> Drawn:
    """Memory that fills and is cleared; an anomaly is a clearing that does not come, or a hang."""
    rows = int(rng.integers(3_000, 5_000))
    period = rng.uniform(70, 130)
    spans = []
    pace = np.full(rows, 1 / period) * (1 + 0.1 * smooth_noise(rng, rows, 40))
    for start in places(rng, rows, 3):
        span = until(pace, start, int(rng.integers(60, 140)))
        pace[slice(*span)] *= rng.choice([0.02, 3.5])
        spans.append(span)
    values = 30 + 45 * (np.cumsum(pace) % 1) + rng.normal(0, 0.8, rows)
    return column(values), spans


def rare_pulses(rng: np.random.Generator) -> Drawn:
    """Flat, with a pulse now and then.

    An anomaly is a first-time value, a crowd of pulses or a pulse that does not end.
    """
    rows = int(rng.integers(2_500, 4_500))
    values = np.full(rows, float(rng.choice([0, 1, 20])))
    floor = values[0]
    values[rng.random(rows) < 1 / 120] += 5
    spans = []
    for start in places(rng, rows, 3):
        nature = rng.integers(3)
        span = until(values, start, int((1, 40, 60)[nature]))
        length = span[1] - span[0]
        if nature == 0:
            values[start] = floor + rng.choice([-7, 11, 30])
        elif nature == 1:
            values[slice(*span)] = floor + 5 * (rng.random(length) < 0.3)
            values[start] = floor + 5
        else:
            values[slice(*span)] = floor + 5
        spans.append(span)
    return column(values), spans


def disk_gauge(rng: np.random.Generator) -> Drawn:
    """A gauge in whole percent that climbs and is emptied by night.

    An anomaly is a sudden fill to its end, or a missed night.
    """
    rows = int(rng.integers(2_500, 4_000))
    days = day(rows, 15, rng.uniform(0, 1))
    use = 45 + 20 * (days % 1) + wander(rng, rows, 100) + 5 * slow(rng, rows, 0, 1)
    spans = []
    for start in places(rng, rows, 2):
        span = until(use, near(days, start, 1), int(rng.integers(40, 96)))
        use[slice(*span)] += rng.choice([60.0, 22.0])
        spans.append(span)
    return column(np.clip(np.round(use), 0, 100)), spans


def nightly_backup(rng: np.random.Generator) -> Drawn:
    """Bytes out: near nothing, short bursts, a backup every night.

    An anomaly is a backup that is missing or one in the afternoon.
    """
    rows = 288 * int(rng.integers(14, 28))
    days = day(rows, 5)
    rate = 2e5 * rng.lognormal(0, 0.3, rows) + bursts(rng, rows, 70, 1e6, 1.0)
    hour = 24 * (days % 1)
    backup = np.where((hour >= 2) & (hour < 3), 8e6, 0.0)
    spans = []
    for start in places(rng, rows, 3):
        missing = rng.random() < 0.5
        span = until(rate, near(days, start, 2 if missing else 14), 12)
        backup[slice(*span)] = 0 if missing else 8e6
        spans.append(span)
    return column(rate + backup * rng.lognormal(0, 0.05, rows)), spans


def server(rng: np.random.Generator) -> Drawn:
    """Three channels of one server that follow its load; an anomaly is one that leaves the rest."""
    rows = int(rng.integers(3_000, 5_000))
    days = day(rows, 5, rng.uniform(0, 7))
    load = 0.2 + 0.6 * daily(rng, days) + 0.06 * wander(rng, rows, 15)
    values = np.column_stack([100 * load, 40 + 25 * load, 900 * np.maximum(load, 0) ** 1.3])
    values *= 1 + 0.03 * rng.standard_normal(values.shape)
    spans = []
    for start in places(rng, rows, 4):
        span = until(values, near(days, start, 11), int(rng.integers(20, 70)))
        channel = int(rng.integers(3))
        values[slice(*span), channel] *= rng.choice([0.45, 1.6])
        spans.append(span)
    values[:, 0] = np.minimum(values[:, 0], 100)
    return values, spans


def nothing_wrong(rng: np.random.Generator) -> Drawn:
    """Seasons, drift, bursts and missing rows, and no anomaly."""
    rows = int(rng.integers(3_500, 4_500))
    days = day(rows, int(rng.choice([5, 15, 30])), rng.uniform(0, 7))
    swing = daily(rng, days) * slow(rng, rows, 0.7, 1.3) * np.where(weekend(days), 0.7, 1)
    values = 50 + 30 * swing + 2 * wander(rng, rows, 40) + bursts(rng, rows, 200, 8, 2)
    return column(with_gaps(rng, values + 15 * slow(rng, rows, 0, 1), 0.005)), []


def idle(rng: np.random.Generator) -> Drawn:
    """Almost nothing happens: a flat line with rare pulses of two sizes, and no anomaly."""
    rows = int(rng.integers(3_000, 4_500))
    values = 0.1 + 0.004 * np.abs(wander(rng, rows, 3))
    values[rng.random(rows) < 1 / 150] += 1.5
    values[rng.random(rows) < 1 / 300] += 3.0
    return column(np.round(values, 3)), []


SERVERS: dict[str, Drawing] = {
    "processor plateaus": processor_plateaus,
    "processor moves for good": processor_moves_for_good,
    "latency spikes": latency_spikes,
    "request counts": request_counts,
    "memory sawtooth": memory_sawtooth,
    "rare pulses": rare_pulses,
    "disk gauge": disk_gauge,
    "nightly backup": nightly_backup,
    "server": server,
    "nothing wrong": nothing_wrong,
    "idle": idle,
}
