"""Generated series for a first look: some history, then one row per second.

Every five minutes another series has a fault of 45 seconds; the first is the pump's, which begins
just before the page can be opened.
"""

from __future__ import annotations

import asyncio
import time as clock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.plant import multivariate
from subadjacent.service.metrics import Measures
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.request_body import RowBatch
from subadjacent.service.times import TimeKind

HISTORY, BROKEN = 1_200, 1_000
"""Rows of history: clean ones, then some among which there are anomalies."""

ROWS = 4_000
"""Generated rows of each part; after an hour they are repeated."""

PUSHED_AT_ONCE = 200

BREAKS_EVERY, BREAKS_FOR, BROKEN_BEFORE = 300, 45, 12
"""Rows from one fault to the next, rows of a fault, and rows of the first one that are history, so
that its alarm is open when the page is."""

DROP = 6.0
"""Deviations by which the first channel falls and the last one rises."""

LATE = 300.0
"""Seconds by which rows may be late, as on a busy machine; a longer pause becomes a gap."""


class DemoSeries(NamedTuple):
    """A name, its channels, and a seed."""

    name: str
    channels: tuple[str, ...]
    seed: int


SERIES = (
    DemoSeries("pump", ("pressure", "flow", "speed", "current", "vibration"), 4),
    DemoSeries("boiler", ("pressure", "temperature", "feed", "oxygen"), 1),
    DemoSeries("compressor", ("inlet", "outlet", "current", "vibration", "oil"), 2),
    DemoSeries("cooling tower", ("supply", "return", "fan"), 3),
    DemoSeries("web server", ("requests", "latency", "errors", "cpu"), 5),
)


async def play(registry: SeriesRegistry, _measures: Measures) -> None:
    """Push rows until it is cancelled."""
    await asyncio.gather(*(_play(registry, series) for series in SERIES))


async def _play(registry: SeriesRegistry, series: DemoSeries) -> None:
    plant = await asyncio.to_thread(
        multivariate, n=ROWS, channels=len(series.channels), seed=series.seed
    )
    rows = np.concatenate([plant.train[-HISTORY:], plant.test])
    rows = _broken(rows, SERIES.index(series)).round(4)
    shown = 0
    now = float(int(clock.time()))
    if series.name not in registry.series:
        shown = HISTORY + BROKEN
        for start in range(0, shown, PUSHED_AT_ONCE):
            some = rows[start : min(start + PUSHED_AT_ONCE, shown)]
            times = [now + 1 - shown + start + place for place in range(len(some))]
            await registry.push(series.name, _batch(series, some, times), patient=True)
    while True:
        # a row for every second, also of those that scoring the history took; not of a night asleep
        now = max(now + 1, float(int(clock.time())) - LATE)
        await registry.push(series.name, _batch(series, rows[shown][None], [now]), patient=True)
        shown = HISTORY if shown + 1 == len(rows) else shown + 1
        await asyncio.sleep(max(0.0, now + 1 - clock.time()))


def _broken(rows: NDArray[np.float64], turn: int) -> NDArray[np.float64]:
    """Rows with the faults of their series."""
    after = np.arange(len(rows)) - (HISTORY + BROKEN - BROKEN_BEFORE)
    turns, since = np.divmod(after, BREAKS_EVERY)
    breaks = (after >= 0) & (since < BREAKS_FOR) & (turns % len(SERIES) == turn)
    apart = np.zeros_like(rows)
    apart[breaks, 0], apart[breaks, -1] = -DROP, DROP
    deviations: NDArray[np.float64] = rows[:HISTORY].std(axis=0)
    return rows + apart * deviations


def _batch(series: DemoSeries, rows: NDArray[np.float64], times: list[float]) -> RowBatch:
    return RowBatch(series.channels, np.array(rows), times, TimeKind.utc)
