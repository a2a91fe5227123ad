"""The real service, in a process of its own, for the page to talk to."""

from __future__ import annotations

import json
import math
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from running import COMMAND, wait_until

START = datetime(2026, 1, 1)
TOLD = "listening on "

HOSTILE = '<img src=x onerror="document.title=1">'
HOSTILE_CHANNEL = "<b onclick=alert(1)>&amp;"


@dataclass
class Backend:
    """A service that runs, at its address."""

    process: subprocess.Popen[str]
    address: str

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """What it answers."""
        data = None if body is None else json.dumps(body).encode()
        said = {"Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.address + path, data, said, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def push(self, name: str, rows: list[dict[str, Any]], **others: Any) -> Any:
        """Push rows of a series."""
        return self.ask("POST", f"/api/series/{quote(name, safe='')}/rows", rows, **others)


@contextmanager
def running(folder: Path, *options: Any, listen: str = "127.0.0.1:0") -> Iterator[Backend]:
    """The service on a folder of data, for a while."""
    folder.mkdir(exist_ok=True)
    log = folder / "log.txt"
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [COMMAND, "serve", "--listen", listen, "--data", folder / "data", *options],
            stderr=said,
            text=True,
        )

    def address() -> str:
        lines = log.read_text(encoding="utf-8").splitlines()
        return next((line[len(TOLD) :] for line in lines if line.startswith(TOLD)), "")

    try:
        wait_until(lambda: bool(address()), process)
        backend = Backend(process, address())
        wait_until(lambda: _is_ready(backend), process)
        yield backend
    finally:
        process.kill()
        process.wait()


def _is_ready(backend: Backend) -> bool:
    try:
        return bool(backend.ask("GET", "/ready"))
    except OSError:
        return False


def rows(
    channels: list[str], first: int, count: int, *, jump: tuple[int, int] = (0, 0), seed: int = 0
) -> list[dict[str, Any]]:
    """A row a minute: slow waves, noise, and a jump of the first channel at some of them."""
    noise = np.random.default_rng([seed, first]).normal(0, 0.2, (count, len(channels)))
    found = []
    for at in range(first, first + count):
        row: dict[str, Any] = {"time": (START + timedelta(minutes=at)).isoformat()}
        for place, channel in enumerate(channels):
            value = 10 * (place + 1) + math.sin(at / 15 + place) + noise[at - first, place]
            row[channel] = round(value + 40 * (place == 0 and jump[0] <= at < jump[1]), 4)
        found.append(row)
    return found
