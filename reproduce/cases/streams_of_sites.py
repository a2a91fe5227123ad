"""Kinds of live stream for development: roads, machines, rooms, people."""

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


def rides(rng: np.random.Generator) -> Drawn:
    """Taxi rides every half hour; an anomaly is a holiday, a snow day or a great night."""
    rows = 48 * int(rng.integers(120, 220))
    days = day(rows, 30)
    weekday, free = daily(rng, days), daily(rng, days - 0.12, sharp=0.8)
    mean = 2_000 + 20_000 * np.where(weekend(days), 0.9 * free, weekday)
    mean *= slow(rng, rows, 0.93, 1.07) * (1 + 0.04 * wander(rng, rows, 20))
    spans = []
    for start in places(rng, rows, 5, fewest=2):
        begin = start - start % 48
        if rng.random() < 0.3:
            span = until(mean, begin + 40, 10)
            mean[slice(*span)] *= 1.7
        else:
            span = until(mean, begin, 48)
            quiet = 2_000 + 20_000 * 0.55 * free[slice(*span)]
            mean[slice(*span)] = quiet if rng.random() < 0.6 else 0.25 * mean[slice(*span)]
        spans.append(span)
    return column(counts(rng, mean, 0.0008)), spans


def road_speed(rng: np.random.Generator) -> Drawn:
    """Speed on a road that saturates at the limit, with rush hours.

    An anomaly is a jam at night, or a sensor that is stuck.
    """
    rows = int(rng.integers(2_000, 3_500))
    days = day(rows, 10, rng.uniform(0, 7))
    rush = daily(rng, days, sharp=3.0) * np.where(weekend(days), 0.15, 1)
    values = 72 - 38 * rush * (1 + 0.3 * smooth_noise(rng, rows, 30)) + rng.normal(0, 3, rows)
    values = np.minimum(values, 75 + rng.normal(0, 0.4, rows))
    spans = []
    for start in places(rng, rows, 3):
        if rng.random() < 0.6:
            span = until(values, near(days, start, 2), int(rng.integers(6, 20)))
            values[slice(*span)] = rng.uniform(8, 30) + rng.normal(0, 3, span[1] - span[0])
        else:
            span = until(values, start, int(rng.integers(40, 90)))
            values[slice(*span)] = values[span[0]]
        spans.append(span)
    return column(np.maximum(values, 0).round()), spans


def mentions(rng: np.random.Generator) -> Drawn:
    """Mentions of a name every five minutes: heavy tails and bursts are normal.

    An anomaly is a storm that is many times higher and lasts.
    """
    rows = int(rng.integers(10_000, 16_000))
    days = day(rows, 5, rng.uniform(0, 7))
    mean = (3 + 12 * daily(rng, days)) * slow(rng, rows, 0.7, 1.4) + bursts(rng, rows, 250, 15, 5)
    spans = []
    for start in places(rng, rows, 4):
        span = until(mean, start, int(rng.integers(20, 120)))
        fall = np.exp(-np.arange(span[1] - span[0]) / rng.uniform(8, 40))
        mean[slice(*span)] += rng.uniform(150, 500) * fall
        spans.append(span)
    return column(counts(rng, mean, 0.25)), spans


def cost_of_a_click(rng: np.random.Generator) -> Drawn:
    """Hourly prices of an advertisement: skewed noise around a slow price.

    An anomaly is an hour far above, or a segment of nothing.
    """
    rows = int(rng.integers(1_500, 1_800))
    days = day(rows, 60)
    price = 0.4 * slow(rng, rows, 0.8, 1.2) * (1 + 0.15 * daily(rng, days))
    values = price * rng.lognormal(0, 0.22, rows)
    spans = []
    for start in places(rng, rows, 3):
        if rng.random() < 0.7:
            span = until(values, start, int(rng.integers(1, 3)))
            values[slice(*span)] *= rng.uniform(4, 9)
        else:
            span = until(values, start, int(rng.integers(6, 14)))
            values[slice(*span)] = 0
        spans.append(span)
    return column(np.round(values, 3)), spans


def office_temperature(rng: np.random.Generator) -> Drawn:
    """Hourly temperature of a room under slow weather.

    An anomaly is a fall, a drift or a stuck sensor.
    """
    rows = int(rng.integers(4_000, 7_500))
    days = day(rows, 60)
    weather = 2.5 * wander(rng, rows, 72) + 4 * np.sin(2 * np.pi * days / 365 + rng.uniform(0, 6))
    values = 70 + weather + 2.5 * daily(rng, days) + rng.normal(0, 0.4, rows)
    spans = []
    for start in places(rng, rows, 3):
        nature = rng.integers(3)
        span = until(values, start, int((20, 160, 90)[nature]))
        length = span[1] - span[0]
        if nature == 0:
            values[slice(*span)] -= rng.uniform(10, 16) * np.hanning(length)
        elif nature == 1:
            values[slice(*span)] += rng.uniform(12, 18) * np.linspace(0, 1, length)
        else:
            values[slice(*span)] = np.round(values[start], 1)
        spans.append(span)
    return column(with_gaps(rng, values, 0.006)), spans


def machine_temperature(rng: np.random.Generator) -> Drawn:
    """A machine that wanders about its working temperature.

    An anomaly falls deep, some of them after a slow drift that is part of it.
    """
    rows = int(rng.integers(12_000, 20_000))
    values = 88 + 5 * wander(rng, rows, 250) + 1.2 * wander(rng, rows, 10)
    spans = []
    for start in places(rng, rows, 3):
        drift, fall = (int(rng.integers(200, 500)) if rng.random() < 0.5 else 0), 260
        span = until(values, start, drift + fall)
        away = np.append(np.linspace(0, 14, drift), 14 * bool(drift) + 70 * np.hanning(fall))
        values[slice(*span)] -= away[: span[1] - span[0]]
        spans.append(span)
    return column(values), spans


def key_presses(rng: np.random.Generator) -> Drawn:
    """How long keys are held: short and skewed; an anomaly is another hand at the keys."""
    rows = int(rng.integers(1_800, 5_000))
    values = 0.09 * rng.lognormal(0, 0.3, rows) * (1 + 0.1 * wander(rng, rows, 200))
    values[rng.random(rows) < 0.01] *= 2.5
    spans = []
    for start in places(rng, rows, 2):
        span = until(values, start, int(rng.integers(40, 150)))
        length = span[1] - span[0]
        slower, spread = rng.choice([0.45, 1.9]), rng.choice([0.05, 0.7])
        values[slice(*span)] = 0.09 * slower * rng.lognormal(0, spread, length)
        spans.append(span)
    return column(values), spans


def two_regimes(rng: np.random.Generator) -> Drawn:
    """A plant that runs in one of two ways, as it should; an anomaly is a third way."""
    rows = int(rng.integers(4_000, 7_000))
    regime = steps(rng, rows, 120, 400, np.array([0.0, 1.0]))
    angle = np.cumsum(2 * np.pi / np.where(regime > 0, 24, 60))
    values = np.where(regime > 0, 30 + 4 * np.sin(angle), 12 + 2 * np.sin(angle))
    spans = []
    for start in places(rng, rows, 3):
        span = until(values, start, int(rng.integers(60, 160)))
        where = slice(*span)
        if rng.random() < 0.5:
            values[where] = 21 + 3 * np.sin(angle[where])
        else:
            values[where] += 4 * np.sin(2.7 * angle[where])
        spans.append(span)
    return column(values + rng.normal(0, 0.5, rows)), spans


def growing_season(rng: np.random.Generator) -> Drawn:
    """Hourly demand whose daily swing grows and shrinks.

    An anomaly is a day without its peak, or with the peak at another hour.
    """
    rows = 24 * int(rng.integers(100, 200))
    days = day(rows, 60)
    load, swing = daily(rng, days), 40 * slow(rng, rows, 0.5, 1.6)
    base = 60 + 3 * wander(rng, rows, 24) + rng.normal(0, 1.2, rows)
    spans = []
    for start in places(rng, rows, 3):
        span = until(load, start - start % 24, 24)
        where = slice(*span)
        load[where] = 0.1 if rng.random() < 0.6 else np.roll(load[where], 9)
        spans.append(span)
    return column(base + swing * load), spans


def changing_noise(rng: np.random.Generator) -> Drawn:
    """A vibration whose noise follows the load slowly; an anomaly is a burst of noise, or calm."""
    rows = int(rng.integers(3_000, 6_000))
    noise = rng.standard_normal(rows) * slow(rng, rows, 0.6, 2.0)
    spans = []
    for start in places(rng, rows, 3):
        span = until(noise, start, int(rng.integers(30, 90)))
        noise[slice(*span)] *= rng.choice([0.03, 4.0])
        spans.append(span)
    return column(5 + 0.3 * wander(rng, rows, 60) + noise), spans


SITES: dict[str, Drawing] = {
    "rides": rides,
    "road speed": road_speed,
    "mentions": mentions,
    "cost of a click": cost_of_a_click,
    "office temperature": office_temperature,
    "machine temperature": machine_temperature,
    "key presses": key_presses,
    "two regimes": two_regimes,
    "growing season": growing_season,
    "changing noise": changing_noise,
}
