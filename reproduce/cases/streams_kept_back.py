"""The kinds of live stream kept back for a final measurement.

No detector is run on them, and none of their figures is looked at, until nothing about the live
detector will be decided any more; the same holds for every kind with a seed of 1,000 or more.
"""

# Shapes: T rows, C channels. A kind gives values (T, C) and the anomalies as [start, stop).

from __future__ import annotations

import numpy as np

from reproduce.cases.drawing import smooth_noise
from reproduce.cases.stream_parts import (
    Drawing,
    Drawn,
    bursts,
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


def waiting_queue(rng: np.random.Generator) -> Drawn:
    """Jobs that wait: a walk that never falls below 0; an anomaly is a server that is gone."""
    rows = int(rng.integers(3_500, 5_500))
    arriving, served = rng.poisson(8, rows), rng.poisson(10, rows).astype(float)
    spans = []
    for start in places(rng, rows, 3):
        span = until(served, start, int(rng.integers(25, 60)))
        served[slice(*span)] /= 3
        spans.append((span[0], min(span[1] + 40, rows)))
    values, waiting = np.empty(rows), 0.0
    for row in range(rows):
        waiting = max(0.0, waiting + arriving[row] - served[row])
        values[row] = round(waiting)
    return values[:, None], spans


def hit_ratio(rng: np.random.Generator) -> Drawn:
    """Share of hits of a cache, near its top, with short dips at releases.

    An anomaly is a dip that does not recover, or the other way round a gauge frozen at its top.
    """
    rows = int(rng.integers(4_000, 6_000))
    lost = np.abs(0.01 + 0.004 * wander(rng, rows, 20)) + bursts(rng, rows, 400, 0.15, 6)
    spans = []
    for start in places(rng, rows, 3):
        span = until(lost, start, int(rng.integers(40, 120)))
        lost[slice(*span)] = 0 if rng.random() < 0.3 else lost[slice(*span)] + 0.25
        spans.append(span)
    return np.clip(1 - lost, 0, 1)[:, None], spans


def battery(rng: np.random.Generator) -> Drawn:
    """A battery that is used by day and charged by night.

    An anomaly is a night without charge, or a cell that fails.
    """
    rows = 96 * int(rng.integers(30, 60))
    days = day(rows, 15)
    hour = 24 * (days % 1)
    charging = (hour >= 22) | (hour < 5)
    flow = np.where(charging, 2.6, -1.0) * (1 + 0.1 * smooth_noise(rng, rows, 20))
    spans, faults = [], np.zeros(rows)
    for start in places(rng, rows, 3):
        if rng.random() < 0.5:
            span = until(flow, near(days, start, 22), 28)
            flow[slice(*span)] = -0.1
        else:
            span = until(flow, start, int(rng.integers(4, 12)))
            faults[slice(*span)] = -1.6
        spans.append(span)
    charge, level = np.empty(rows), 60.0
    for row in range(rows):
        level = min(100.0, max(5.0, level + flow[row]))
        charge[row] = level
    return (10.5 + 0.025 * charge + faults + rng.normal(0, 0.02, rows))[:, None], spans


def solar_power(rng: np.random.Generator) -> Drawn:
    """Power of a roof: nothing by night, clouds by day.

    An anomaly is a string that fails at noon, or power by night.
    """
    rows = 144 * int(rng.integers(25, 50))
    days = day(rows, 10)
    sun = np.maximum(0, np.sin(2 * np.pi * (days % 1) - np.pi / 2)) * slow(rng, rows, 0.7, 1)
    clear = np.clip(0.85 + 0.35 * smooth_noise(rng, rows, 12), 0.15, 1)
    values = 5_000 * sun * clear
    spans = []
    for start in places(rng, rows, 3):
        by_night = rng.random() < 0.3
        span = until(values, near(days, start, 1 if by_night else 11), 12 if by_night else 30)
        values[slice(*span)] = 400 if by_night else 0.04 * values[slice(*span)]
        spans.append(span)
    return np.round(values)[:, None], spans


def error_counts(rng: np.random.Generator) -> Drawn:
    """Errors a minute: mostly none, one or two now and then; an anomaly is a run of them."""
    rows = int(rng.integers(5_000, 12_000))
    mean = np.full(rows, rng.uniform(0.03, 0.3)) * slow(rng, rows, 0.7, 1.5)
    spans = []
    for start in places(rng, rows, 4):
        span = until(mean, start, int(rng.integers(8, 60)))
        mean[slice(*span)] += rng.uniform(2, 6)
        spans.append(span)
    return with_gaps(rng, counts(rng, mean, 0.3), 0.003)[:, None], spans


def shop_sales(rng: np.random.Generator) -> Drawn:
    """Sales of a shop that is closed by night and on Sunday.

    An anomaly is a day it stays shut, a Sunday it does not, or a rush.
    """
    rows = 24 * int(rng.integers(90, 160))
    days = day(rows, 60)
    hour = 24 * (days % 1)
    is_open = (hour >= 9) & (hour < 20) & (np.floor(days) % 7 != 6)
    level = 80 * np.where(weekend(days), 1.5, 1) * slow(rng, rows, 0.8, 1.3)
    mean = level * (0.4 + daily(rng, days)) * is_open
    spans = []
    for start in places(rng, rows, 3):
        morning = near(days, start, 9)
        span = until(mean, morning, 11)
        closed = mean[slice(*span)].sum() == 0
        mean[slice(*span)] = 90 if closed else mean[slice(*span)] * rng.choice([0.0, 3.0])
        spans.append(span)
    return counts(rng, mean, 0.02)[:, None], spans


def thermostat(rng: np.random.Generator) -> Drawn:
    """A room between two switching points; an anomaly is a heater that fails or does not stop."""
    rows = int(rng.integers(3_000, 5_000))
    outside = 5 + 4 * wander(rng, rows, 400)
    forced = np.full(rows, -1)
    spans = []
    for start in places(rng, rows, 3):
        span = until(outside, start, int(rng.integers(40, 90)))
        forced[slice(*span)] = rng.integers(2)
        spans.append(span)
    values, warm, heating = np.empty(rows), 20.0, False
    for row in range(rows):
        heating = warm < 19 or (heating and warm < 21.5)
        is_on = heating if forced[row] < 0 else bool(forced[row])
        warm += 0.35 * is_on - 0.008 * (warm - outside[row])
        values[row] = warm
    return (values + rng.normal(0, 0.08, rows))[:, None], spans


def flow_and_valve(rng: np.random.Generator) -> Drawn:
    """A valve and the flow that follows it after some rows.

    An anomaly is a leak or a valve that does not obey.
    """
    rows = int(rng.integers(3_000, 5_000))
    valve = steps(rng, rows, 30, 120, np.array([0.0, 25.0, 50.0, 75.0, 100.0]))
    follows = np.append(np.full(4, valve[0]), valve[:-4])
    flow = 0.4 * np.convolve(np.append(np.full(5, follows[0]), follows), np.ones(6) / 6, "valid")
    spans = []
    for start in places(rng, rows, 3):
        span = until(flow, start, int(rng.integers(30, 80)))
        flow[slice(*span)] = flow[start] if rng.random() < 0.4 else flow[slice(*span)] + 9
        spans.append(span)
    return np.column_stack([valve, flow + rng.normal(0, 0.4, rows)]), spans


def release_steps(rng: np.random.Generator) -> Drawn:
    """Memory of a service that settles at another level with every weekly release, as it should.

    An anomaly is a slow leak.
    """
    rows = 48 * int(rng.integers(70, 120))
    days = day(rows, 30)
    week = np.floor(days / 7).astype(int)
    values = 500 + 30 * rng.standard_normal(week.max() + 1)[week] + 25 * daily(rng, days)
    spans = []
    for start in places(rng, rows, 1):
        span = until(values, start, 300)
        values[slice(*span)] += np.linspace(0, 260, span[1] - span[0])
        spans.append(span)
    return (values + rng.normal(0, 4, rows))[:, None], spans


def quiet_weeks(rng: np.random.Generator) -> Drawn:
    """Hourly counts whose weekends move to another level for good, and no anomaly."""
    rows = 24 * int(rng.integers(100, 160))
    days = day(rows, 60)
    calm = np.where(weekend(days), np.linspace(0.4, 0.8, rows), 1)
    return counts(rng, (20 + 90 * daily(rng, days)) * calm, 0.02)[:, None], []


KEPT_BACK_STREAMS: dict[str, Drawing] = {
    "waiting queue": waiting_queue,
    "hit ratio": hit_ratio,
    "battery": battery,
    "solar power": solar_power,
    "error counts": error_counts,
    "shop sales": shop_sales,
    "thermostat": thermostat,
    "flow and valve": flow_and_valve,
    "release steps": release_steps,
    "quiet weeks": quiet_weeks,
}
