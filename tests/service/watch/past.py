"""A past hour of a plant, kept by a real server, and a watcher that looks at it with its own clock.

Seconds are counted from the hour's begin. Machines 1 and 2 run all the time, machine 3 from second
700 on, machine 4 until second 650. A site has two sensors, and a third from second 800 on. Machine
1 jumps at second 900, comes back at 950 and jumps again at 1100; machine 2 falls at second 900.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from service.watch.servers import Prometheus, Value, load, openmetrics
from subadjacent.service.watch.prometheus_api import PrometheusAPI, Table
from subadjacent.service.watch.query import QueryWatch
from subadjacent.service.watch.settings import Settings, read_settings

LENGTH = 1_200
CHANGE, BACK, AGAIN = 900, 950, 1_100
MACHINES = 'plant_load{machine!=""}'
SITE = 'plant_load{site!=""}'
PAIR = 'plant_load{site!="",sensor!="c"}'


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


def settings(server: Prometheus, expr: str, **others: Any) -> Settings:
    """Of one query with a row a second that learns from 400 of them."""
    given = {"prometheus": server.url, "step": "1s", "history": "400s", "forget_after": "60s"}
    own = {name: others.pop(name) for name in list(others) if name in OF_A_QUERY}
    found = read_settings(None, given | others, (expr,))
    queries = (found.queries[0].model_copy(update=own),)
    return found.model_copy(update={"queries": queries})


OF_A_QUERY = ("groupby", "detection_direction", "min_dev_from_expected", "max_series", "name")


class Asked(PrometheusAPI):
    """The real thing, which keeps what it was asked: first and last time of every question."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.asked: list[tuple[int, int]] = []

    async def read(self, expr: str, first: int, last: int, step: int) -> Table:
        self.asked.append((first, last))
        return await super().read(expr, first, last, step)


class Looking(NamedTuple):
    """A query that is watched, what it asked, and what it said."""

    watch: QueryWatch
    api: Asked
    said: list[str]


def look(settings: Settings) -> Looking:
    api, said = Asked(settings), list[str]()
    return Looking(QueryWatch(settings.queries[0], api, said.append), api, said)


def machines(watch: QueryWatch) -> dict[str, Any]:
    """The watched series by machine."""
    return {dict(key)["machine"]: series for key, series in watch.series.items()}
