"""Every question of the dashboard is answered by a real Prometheus server."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from live_service import live, rows_of
from service.watch.servers import (
    dashboard_questions,
    exporter,
    free_port,
    load,
    needs_prometheus,
    openmetrics,
    prometheus,
    wait_for,
    watcher,
)


@needs_prometheus
def test_every_question_of_the_dashboard_has_an_answer(tmp_path: Path) -> None:
    label = 'instance="plant",job="plant",machine="1"'
    series = {label: load(1)}
    now = int(time.time())
    watched = free_port()
    with (
        live(tmp_path / "service") as service,
        exporter(series) as exported,
        prometheus(
            tmp_path / "server",
            openmetrics(series, now - 300, now - 1),
            {"plant": exported, "subadjacent": watched, "subadjacent-serve": service.port},
        ) as server,
        watcher(
            tmp_path,
            *("--prometheus", server.url, "--query", "plant_load", "--step", "1s"),
            *("--history", "300s", "--listen", f"127.0.0.1:{watched}"),
        ) as process,
    ):
        both = (server.process, process)
        wait_for(lambda: server.value("anomaly_score"), *both)
        # something to mark, and rows for the service until the server has seen their number rise
        series[label] = lambda second: load(1)(second) + 100
        service.push("pump", rows_of(100))
        wait_for(lambda: server.value("subadjacent_rows_total"), *both)
        service.push("pump", rows_of(200)[100:])
        chosen = dashboard_questions(query="plant_load", channel="plant_load")
        for question in (*dashboard_questions(), *chosen):
            asked = partial(server.get, "query", query=question)
            wait_for(lambda asked=asked: asked()["result"], *both)
            # as a chart asks, too
            moment = time.time()
            span = server.get("query_range", query=question, start=moment - 5, end=moment, step=1)
            assert span["result"], question
        assert server.value('up{job="subadjacent-serve"}') == {"": 1}
        # a series of the service stands beside those that are watched
        names = {
            one["metric"].get("series")
            for one in server.get("query", query="anomaly_score")["result"]
        }
        assert names == {None, "pump"}
