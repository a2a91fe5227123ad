"""A real Prometheus server with a history of our making, a small exporter, and the watcher."""

from __future__ import annotations

import json
import math
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from running import COMMAND

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
TRIES = 12_000
"""Looks at something that takes a second or two; there is a twentieth of a second between two."""

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="needs the Prometheus server (Debian package prometheus)",
)

Value = Callable[[int], float | None]
"""The value of a series at a second; None where it has none."""


def load(machine: int) -> Value:
    """A load that goes up and down once a minute, a little different every time."""

    def at(second: int) -> float:
        # a number from 0 to 1 that depends on the second alone
        noise = math.sin(second * 12.9898 + machine * 78.233) * 43758.5453 % 1
        return 10 * machine + 2 * math.sin(second * math.tau / 60) + noise

    return at


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def wait_for(found: Callable[[], Any], *processes: subprocess.Popen[Any]) -> Any:
    """What ``found`` gives once it is true; a server that does not answer yet gives nothing."""
    for _ in range(TRIES):
        for process in processes:
            assert process.poll() is None, f"{process.args!r} ended"
        try:
            if result := found():
                return result
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.05)
    raise AssertionError("it did not happen")


class Prometheus:
    """A running server."""

    def __init__(self, url: str, process: subprocess.Popen[Any]) -> None:
        self.url = url
        self.process = process

    def get(self, path: str, **arguments: Any) -> Any:
        """The data of an answer of the server's HTTP interface."""
        query = urllib.parse.urlencode(arguments)
        return json.loads(fetch(f"{self.url}/api/v1/{path}?{query}"))["data"]

    def value(self, expr: str) -> dict[str, float]:
        """Values now, by the label ``machine``."""
        result = self.get("query", query=expr)["result"]
        return {one["metric"].get("machine", ""): float(one["value"][1]) for one in result}

    def firing(self, name: str) -> set[str]:
        """The machines for which an alert fires."""
        return {
            alert["labels"].get("machine", "")
            for alert in self.get("alerts")["alerts"]
            if alert["labels"]["alertname"] == name and alert["state"] == "firing"
        }


def dashboard_questions(**variables: str) -> list[str]:
    """What the dashboard asks the server for; its variables are those of "All" at first."""
    panels = [
        target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())
    ]
    notes = [note["target"]["expr"] for note in DASHBOARD["annotations"]["list"]]
    # a variable takes the values of a label of a metric
    values = [
        re.sub(r"label_values\((.*), \w+\)", r"\1", one["query"]["query"])
        for one in DASHBOARD["templating"]["list"]
        if one["type"] == "query"
    ]
    given = {"query": ".*", "channel": ".*", "__rate_interval": "5s"} | variables
    words = {f"${name}": value for name, value in given.items()}
    known = re.compile("|".join(map(re.escape, words)))
    return [known.sub(lambda word: words[word[0]], one) for one in (*panels, *notes, *values)]


def openmetrics(series: dict[str, Value], first: int, last: int) -> str:
    """Values of every second, as promtool reads them back into a server's store."""
    lines = ["# TYPE plant_load gauge"]
    for labels, at in series.items():
        lines += [
            f"plant_load{{{labels}}} {value!r} {second}"
            for second in range(first, last + 1)
            if (value := at(second)) is not None
        ]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def prometheus(
    folder: Path, history: str, targets: dict[str, int] | None = None
) -> Iterator[Prometheus]:
    """A server that has a history and scrapes ``targets`` (jobs and ports) every second."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "history.txt").write_text(history)
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "history.txt", "data"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    jobs = [
        f"  - {{job_name: {job}, honor_labels: true, "
        f"static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}"
        for job, port in (targets or {}).items()
    ]
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{RULES}']\n" + ("scrape_configs:\n" + "\n".join(jobs) if jobs else "")
    )
    port = free_port()
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [
                "prometheus",
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{port}",
                # what has no value for this long has none: the history has no marks of an end
                "--query.lookback-delta=5s",
            ],
            cwd=folder,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            server = Prometheus(f"http://127.0.0.1:{port}", process)
            wait_for(lambda: "Ready" in fetch(f"{server.url}/-/ready"), process)
            yield server
        finally:
            process.kill()


class Question(NamedTuple):
    """What somebody asked."""

    path: str
    headers: Message
    body: str


Reply = tuple[int, bytes]
"""Status and body of an answer."""


@contextmanager
def answering(reply: Callable[[Question], Reply | None], port: int = 0) -> Iterator[int]:
    """A server that says what ``reply`` gives; for None it drops the connection."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            question = Question(self.path, self.headers, self.rfile.read(length).decode())
            if (found := reply(question)) is None:
                return
            status, body = found
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 — the parent's name

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def exporter(series: dict[str, Value]) -> Iterator[int]:
    """Serves the values of this second; what ``series`` holds may be changed meanwhile."""

    def values(_: Question) -> Reply:
        now = int(time.time())
        lines = [f"plant_load{{{labels}}} {at(now)!r}" for labels, at in series.items()]
        return 200, "\n".join([*lines, ""]).encode()

    with answering(values) as port:
        yield port


@contextmanager
def watcher(folder: Path, *arguments: Any) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own; what it says goes to ``folder/said``."""
    with (
        (folder / "said").open("a") as said,
        subprocess.Popen(
            [COMMAND, "watch", *map(str, arguments)], cwd=folder, stderr=said, text=True
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
