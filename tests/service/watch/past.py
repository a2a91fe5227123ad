"""A past hour of a plant, kept by a real server, and a poller that looks at it with its own clock.

Seconds are counted from the hour's begin. Machines 1 and 2 run all the time, machine 3 from second
700 on, machine 4 until second 650. A site has two sensors, and a third from second 800 on. Machine
1 jumps at second 900, comes back at 950 and jumps again at 1100; machine 2 falls at second 900.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry

from service.watch.servers import Prometheus, Value, load, openmetrics
from subadjacent.service.metrics import Measures
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.series import LiveSeries
from subadjacent.service.watch.exposition import PollerHealth
from subadjacent.service.watch.poller import Poller
from subadjacent.service.watch.prometheus_api import PrometheusAPI, Table
from subadjacent.service.watch.settings import WatchSettings, read_settings

LENGTH = 1_200
CHANGE, BACK, AGAIN = 900, 950, 1_100
MACHINES = 'plant_load{machine!=""}'
SITE = 'plant_load{site!=""}'


class Past(NamedTuple):
    """A server and when its history begins."""

    server: Prometheus
    begin: int

    def at(self, second: int) -> int:
        """Milliseconds at which a second of the hour is."""
        return (self.begin + second) * 1_000


def history(begin: int) -> str:
    def between(at: Value, first: int, stop: int, moved: float = 0.0) -> Value:
        def value(second: int) -> float | None:
            found = at(second)
            assert found is not None
            now = second - begin
            calm = now < CHANGE or (moved > 0 and BACK <= now < AGAIN)
            found += 0 if calm else moved
            return found if first <= second - begin < stop else None

        return value

    series = {
        'machine="1"': between(load(1), 0, LENGTH, moved=+100),
        'machine="2"': between(load(2), 0, LENGTH, moved=-100),
        'machine="3"': between(load(3), 700, LENGTH),
        'machine="4"': between(load(4), 0, 650),
        'site="x",sensor="a"': between(load(5), 0, LENGTH, moved=100),
        'site="x",sensor="b"': between(load(6), 0, LENGTH),
        'site="x",sensor="c"': between(load(7), 800, LENGTH),
    }
    return openmetrics(series, begin, begin + LENGTH - 1)


def settings(url: str, expr: str, **of_query: Any) -> WatchSettings:
    """One query with a row a second that learns from 400 rows."""
    given = {"prometheus": url, "step": "1s", "history": "400s", "forget_after": "60s"}
    found = read_settings(None, given, (expr,))
    queries = (found.queries[0].model_copy(update=of_query),)
    return found.model_copy(update={"queries": queries})


class RecordingAPI(PrometheusAPI):
    """The real thing, which keeps the first and last time of every question."""

    def __init__(self, settings: WatchSettings) -> None:
        super().__init__(settings)
        self.asked: list[tuple[int, int]] = []

    async def read(self, expr: str, first: int, last: int, step: int) -> Table:
        self.asked.append((first, last))
        return await super().read(expr, first, last, step)


class Polled(NamedTuple):
    """A poller with a real registry, what it asked, and what it said."""

    poller: Poller
    registry: SeriesRegistry
    api: RecordingAPI
    said: list[str]
    measures: Measures

    def series(self) -> dict[str, LiveSeries]:
        """The polled series by machine."""
        return {
            dict(self.poller._keys[name]).get("machine", ""): self.registry.series[name]
            for name in self.poller.series
        }

    def alarms(self) -> list[str]:
        """Names of series with alarms, in the order in which they opened."""
        with self.registry.reader() as tables:
            found = tables.execute(
                "select name from alarms join series on series.id = series order by alarms.id"
            ).fetchall()
        return [name for (name,) in found]

    def number(self, name: str, **labels: str) -> float | None:
        return self.metrics.get_sample_value(name, {"query": self.poller.query.name} | labels)

    @property
    def metrics(self) -> CollectorRegistry:
        return self.measures.registry


@asynccontextmanager
async def polling(settings: WatchSettings, folder: Path) -> AsyncIterator[Polled]:
    """A poller of the first query, with a registry in a folder."""
    folder.mkdir(exist_ok=True)
    registry, measures = SeriesRegistry(settings.service(folder), folder), Measures()
    measures.watch(registry)
    registry.start()
    said: list[str] = []
    try:
        async with aclosing(RecordingAPI(settings)) as api:
            poller = Poller(
                settings.queries[0], api, registry, PollerHealth(measures.registry), said.append
            )
            yield Polled(poller, registry, api, said, measures)
    finally:
        await registry.stop()
