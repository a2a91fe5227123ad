"""Three cases of services and signals: web servers, a shop, and a heartbeat."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from examples.gallery.case import (
    Drawn,
    Planted,
    Random,
    Values,
    clock,
    hours,
    hump,
    lines,
    row_at,
    wandering,
    weekend,
)

EPOCH = datetime.fromisoformat("1970-01-01")
INSTANCES = ("web-1", "web-2", "web-3", "web-4")


def servers(seed: int) -> Drawn:
    """Fifteen days of four web servers, every ten minutes, as a query of metrics exports them."""
    random = np.random.default_rng(seed)
    times = clock("2026-03-02T00:00", 15 * 144, timedelta(minutes=10))
    rows, hour = len(times), hours(times)
    day = 0.25 + 0.75 * hump(hour, 14, 4.5) + 0.35 * hump(hour, 20.5, 1.5)
    load = day * np.where(weekend(times), 0.6, 1.0) * np.exp(0.06 * wandering(random, rows, 0.9))
    deployed = slice(row_at(times, "2026-03-11T10:20"), row_at(times, "2026-03-11T19:20"))
    failover = slice(row_at(times, "2026-03-16T15:10"), row_at(times, "2026-03-16T15:40"))
    table = []
    for number, instance in enumerate(INSTANCES):
        slower = np.ones(rows)
        if instance == "web-3":
            slower[deployed] = 1.5
        values = _server(random, load * (0.9 + 0.07 * number), slower, failover)
        table += [
            [f"{(when - EPOCH).total_seconds():.0f}", instance, f"{q:.1f}", f"{a:.1f}", f"{b:.1f}",
             f"{e:.2f}", f"{c:.1f}"]
            for when, q, a, b, e, c in zip(times, *values, strict=True)
        ]  # fmt: skip
    header = "timestamp,instance,requests_per_s,p50_ms,p99_ms,errors_per_s,cpu_percent"
    planted = (
        Planted.over("a deploy to web-3 alone makes its slowest requests 50 % slower, until it is "
                "rolled back after nine hours", deployed, "web-3"),
        *(Planted.over("the database fails over for half an hour", failover, one)
          for one in INSTANCES),
    )  # fmt: skip
    return Drawn(lines((header,), table, ","), planted)


def _server(random: Random, load: Values, slower: Values, failover: slice) -> list[Values]:
    """Requests, two latencies, errors and processor of one server."""
    rows = len(load)
    requests = random.poisson(180 * load * 10) / 10
    median = 18 + 9 * load**2 + 0.8 * random.normal(size=rows)
    slowest = (95 + 80 * load**2) * np.exp(0.09 * random.normal(size=rows)) * slower
    errors = random.poisson(0.4 * load * 60) / 60
    processor = 8 + 0.28 * requests + 1.5 * random.normal(size=rows)
    slowest[failover] *= random.uniform(3, 5, size=failover.stop - failover.start)
    errors[failover] += random.uniform(4, 9, size=failover.stop - failover.start)
    return [requests, median, slowest, errors, np.clip(processor, 0, 100)]


def shop(seed: int) -> Drawn:
    """Half a year of a web shop, every hour, as a report exports them: thousands have commas."""
    random = np.random.default_rng(seed)
    times = clock("2025-10-06T00:00", 26 * 7 * 24, timedelta(hours=1))
    rows, hour = len(times), hours(times)
    weekday = np.array([when.weekday() for when in times])
    # a bank holiday on which people shop as on a Sunday
    holiday = slice(row_at(times, "2026-03-23T00:00"), row_at(times, "2026-03-24T00:00"))
    weekday[holiday] = 6
    by_day = np.array([1.0, 0.97, 0.95, 1.0, 0.9, 0.75, 1.2])[weekday]
    evening = np.where(weekday >= 5, 15.0, 20.0)
    visitors = 260 + 1900 * by_day * (
        0.55 * hump(hour, 12, 2.6) + hump(hour - evening + 20, 20, 2.4)
    )
    letter = (weekday == 3) & (hour >= 9) & (hour < 11)  # a newsletter, every Thursday morning
    visitors = random.poisson(visitors * np.where(letter, 1.7, 1) * _busy(random, rows))
    wanted = random.binomial(visitors, 0.031)
    outage = slice(row_at(times, "2026-03-03T13:00"), row_at(times, "2026-03-03T16:00"))
    paid = wanted.copy()
    paid[outage] = random.binomial(wanted[outage], 0.08)
    basket = 62 + 3 * random.normal(size=rows)
    text = lines(
        ("Hour,Visitors,Orders,Revenue EUR,Checkouts started",),
        ([f"{when:%d-%b-%Y %H:%M}", f'"{v:,}"', f"{o}", f'"{o * b:,.2f}"', f'"{c:,}"']
         for when, v, o, b, c in zip(
             times, visitors, paid, basket, random.binomial(visitors, 0.055) + paid, strict=True)),
        ",",
    )  # fmt: skip
    planted = (
        Planted.over("the payment provider is down for three hours", outage),
        Planted.over("a Monday that is a bank holiday: people shop as on a Sunday", holiday),
    )  # fmt: skip
    return Drawn(text, planted)


def _busy(random: Random, rows: int) -> Values:
    """Good days and bad days."""
    return np.exp(0.07 * wandering(random, rows, 0.97) + 0.04 * random.normal(size=rows))


RATE = 125
"""Values a second of the heartbeat."""

# centre (share of a beat), width (share of a beat) and height (mV) of the waves P, Q, R, S and T
BEAT = ((0.18, 0.025, 0.14), (0.27, 0.010, -0.12), (0.30, 0.012, 1.1), (0.33, 0.011, -0.24),
        (0.52, 0.045, 0.30))  # fmt: skip
# an early beat without P wave, wide and tall, and one whose T wave points down
EARLY = ((0.30, 0.045, 1.25), (0.52, 0.070, -0.45))
INVERTED = (*BEAT[:-1], (0.52, 0.045, -0.22))


def heartbeat(seed: int) -> Drawn:
    """Eighty seconds of a heart, 125 values a second, tab-separated with comments on top."""
    random = np.random.default_rng(seed)
    rows = 80 * RATE
    seconds = np.arange(rows) / RATE
    signal = 0.08 * np.sin(2 * np.pi * 0.23 * seconds) + 0.05 * wandering(random, rows, 0.999)
    planted = []
    begins, inverted = 0.0, []
    while begins < 80:
        length = 0.82 * (1 + 0.05 * np.sin(2 * np.pi * 0.23 * begins) + 0.02 * random.normal())
        waves = BEAT
        if not planted and begins > 52:
            waves, length = EARLY, 0.75 * length
            planted.append(_beat("one early, wide beat", begins, length))
        if 62 < begins < 68:
            waves = INVERTED
            inverted.append(_beat("", begins, length))
        for centre, width, height in waves:
            away = (seconds - begins - centre * length) / (width * length)
            signal += height * (1 + 0.03 * random.normal()) * np.exp(-0.5 * away**2)
        begins += length
    planted.append(
        Planted("six seconds of beats whose last wave (T) points down", inverted[0].first,
                inverted[-1].last)
    )  # fmt: skip
    signal += 0.015 * random.normal(size=rows)
    text = lines(
        ("# generated, no patient", f"# {RATE} values a second", "time_s\tlead_II_mV"),
        ([f"{second:.3f}", f"{value:.3f}"] for second, value in zip(seconds, signal, strict=True)),
        "\t",
    )
    return Drawn(text, tuple(planted))


def _beat(what: str, begins: float, length: float) -> Planted:
    return Planted(what, int(begins * RATE), int((begins + length) * RATE))
