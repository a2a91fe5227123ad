"""Rows to push, and names that would do harm if they became markup."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import numpy as np

from live_service import LiveService

START = datetime(2026, 1, 1)

HOSTILE = '<img src=x onerror="document.title=1">'
HOSTILE_CHANNEL = "<b onclick=alert(1)>&amp;"


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


def push(backend: LiveService, name: str, some: list[dict[str, Any]], **headers: str) -> None:
    """Push rows of a series, whatever its name."""
    backend.post(f"/api/series/{quote(name, safe='')}/rows", some, **headers)


def push_next(backend: LiveService, name: str, count: int, **others: Any) -> None:
    """Push rows that follow those that the service has."""
    known = backend.get(f"/api/series/{quote(name, safe='')}")
    push(backend, name, rows(known["channels"], known["rows"], count, **others))
