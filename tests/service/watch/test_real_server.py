"""The watcher beside a real Prometheus server, both in processes of their own."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from running import GENEROUS
from service.watch.servers import (
    exporter,
    fetch,
    free_port,
    load,
    needs_prometheus,
    openmetrics,
    prometheus,
    wait_for,
    watcher,
)
from subadjacent.service.database import FILE

HISTORY = 600
"""Seconds of history: ten times what goes round in it."""


def last_row(port: int) -> float:
    """The time of the latest row that a watcher has scored, in seconds."""
    name = "anomaly_watch_last_row_timestamp_seconds{"
    lines = fetch(f"http://127.0.0.1:{port}/metrics").splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


@needs_prometheus
def test_an_anomaly_raises_an_alert_and_a_restart_goes_on(tmp_path: Path) -> None:
    # with the labels that a scrape would add, so that it continues the history
    one, two = (f'instance="plant",job="plant",machine="{number}"' for number in (1, 2))
    series = {one: load(1), two: load(2)}
    now = int(time.time())
    history = openmetrics(series, now - HISTORY, now - 1)
    port = free_port()
    with (
        exporter(series) as exported,
        prometheus(
            tmp_path / "server", history, {"plant": exported, "subadjacent": port}
        ) as server,
    ):
        arguments = ("--prometheus", server.url, "--query", "plant_load", "--step", "1s")
        arguments += ("--history", f"{HISTORY}s", "--listen", f"127.0.0.1:{port}")
        arguments += ("--data", "data")
        with watcher(tmp_path, *arguments) as process:
            both = (server.process, process)
            # it has learned from the history, or else it would know nothing for a while; the server
            # may ask when one of them is there and the other is not
            wait_for(lambda: set(server.value("anomaly_warm_up == 1")) == {"1", "2"}, *both)
            assert set(server.value("anomaly_score")) == {"1", "2"}
            series[one] = lambda second: load(1)(second) + 100
            wait_for(lambda: "1" in server.firing("AnomalyAlarm"), *both)
            assert server.value("anomaly_alarm") == {"1": 1, "2": 0}
            assert server.value('anomaly_score{machine="1"} > on(machine) anomaly_threshold')
            assert server.value("anomaly_value > anomaly_expected_high").keys() == {"1"}
            process.kill()
        said = (tmp_path / "said").read_text()
        assert "plant_load: learned 2 series from history" in said
        assert "alarm: plant_load {plant_load,instance=plant,job=plant,machine=1}: " in said
        with watcher(tmp_path, *arguments) as process:
            # the server still has what the first one said, so the second is asked itself
            wait_for(lambda: "anomaly_alarm{" in fetch(f"http://127.0.0.1:{port}/metrics"), process)
            wait_for(lambda: server.value("anomaly_alarm") == {"1": 1, "2": 0}, process)
            wait_for(lambda: server.firing("AnomalyAlarm") == {"1"}, process)
            first = last_row(port)
            wait_for(lambda: last_row(port) > first, process)
            latest = last_row(port)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=GENEROUS) == 128 + signal.SIGTERM
        with closing(sqlite3.connect(tmp_path / "data" / FILE)) as kept:
            (last,) = kept.execute("select max(last_time) from series").fetchone()
            (alarms,) = kept.execute("select count(*) from alarms").fetchone()
        assert last >= latest
        # the alarm that was open when it was killed is still the same one
        assert alarms == 1
        later = (tmp_path / "said").read_text().removeprefix(said)
        assert "plant_load: resumed 2 stored series" in later
        assert "learned" not in later
        assert "Traceback" not in later
