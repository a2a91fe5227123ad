"""The service as a real process, and what a client needs to talk to it."""

from __future__ import annotations

import http.client
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TRIES = 6_000
"""Looks at something that is to happen, a hundredth of a second apart: never reached."""

START_WORDS = ("-m", "subadjacent.cli.start")
"""What an interpreter is told to run the command."""

CHANNELS = ("pressure", "flow")
START = 1_767_225_600
"""2026-01-01 in seconds since 1970."""


class Answered(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class LiveService:
    """One process on a free port of this machine."""

    def __init__(
        self,
        folder: Path | None,
        *options: str,
        more_env: dict[str, str] | None = None,
        **process: Any,
    ) -> None:
        self.folder, self.options, self.more = folder, options, process
        self.env = os.environ | {"OMP_NUM_THREADS": "1"} | (more_env or {})
        self.port = 0
        self.start()

    def start(self) -> None:
        data = () if self.folder is None else ("--data", str(self.folder))
        words = ("serve", *data, "--listen", f"127.0.0.1:{self.port}")
        self.process: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, *START_WORDS, *words, *self.options],
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
            **self.more,
        )
        assert self.process.stderr is not None
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", said)):
            line = self.process.stderr.readline()
            assert line, f"it ended before it listened: {said}"
            said += line
        self.port = int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self.close()

    def end(self) -> str:
        """End it as an operator does; what it said."""
        self.process.send_signal(signal.SIGTERM)
        return self.close()

    def close(self) -> str:
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        self.process.stderr.close()
        self.process.wait()
        return said

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        kind: str | None = "application/json",
        **headers: str,
    ) -> Answered:
        connection = self.connect()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None and kind is not None:
            sent["Content-Type"] = kind
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answered(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        answer = self.ask("GET", path, **headers)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.ask("POST", path, body, **headers)
        assert answer.status in (200, 202), answer
        return answer.json

    def push(self, name: str, rows: list[dict[str, Any]]) -> Any:
        return self.post(f"/api/series/{name}/rows", {"rows": rows})

    def fit(self, name: str, table: bytes) -> dict[str, Any]:
        """Fit a model on CSV, and wait for it."""
        started = self.ask("POST", f"/api/models?name={name}", table, "text/csv")
        assert started.status == 202, started
        path = f"/api/jobs/{started.json['job']}"
        until(lambda: self.get(path)["state"] != "running")
        found: dict[str, Any] = self.get(path)
        return found


@contextmanager
def live(folder: Path, *options: str, **process: Any) -> Iterator[LiveService]:
    service = LiveService(folder, *options, **process)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end()


def children_of(service: LiveService) -> list[int]:
    """Processes that the service has started: the one that scores, and a fit while there is one."""
    found = Path(f"/proc/{service.process.pid}/task").glob("*/children")
    keys = [int(key) for file in found for key in file.read_text().split()]
    # Python's own helper of spawned processes is none of them
    helper = b"resource_tracker"
    return [key for key in keys if helper not in Path(f"/proc/{key}/cmdline").read_bytes()]


def until(happened: Callable[[], bool]) -> None:
    for _ in range(TRIES):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def time_of(row: int) -> str:
    return datetime.fromtimestamp(START + row, UTC).isoformat().replace("+00:00", "Z")


def rows_of(
    count: int, *, first: int = 0, jump: float = 0.0, seed: int = 0
) -> list[dict[str, Any]]:
    """Rows of two channels that wave, a second apart; both are shifted by ``jump``."""
    noise = np.random.default_rng(seed).standard_normal((first + count, 2))[first:]
    moments = np.arange(first, first + count)
    waves = np.sin(moments[:, None] / np.array([5.0, 9.0])) + 0.1 * noise + jump
    return [
        {"time": time_of(moment), "pressure": a, "flow": b}
        for moment, (a, b) in zip(moments.tolist(), waves.round(4).tolist(), strict=True)
    ]


def with_a_jump(*, calm: int = 400, jump: int = 20, after: int = 150) -> list[dict[str, Any]]:
    """Calm rows, some far away, and calm ones: one alarm, which is closed in the end."""
    return [
        *rows_of(calm),
        *rows_of(jump, first=calm, jump=40.0),
        *rows_of(after, first=calm + jump),
    ]


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    lines = [",".join(rows[0])] + [",".join(map(str, row.values())) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def without_keys(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers without the keys of alarms, which differ from series to series."""
    return [one | {"alarm": one["alarm"] is not None} for one in answers]


def alike(one: Any, other: Any) -> bool:
    """Whether two documents say the same, up to rounding: rows were grouped in other ways."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)
