"""Values over time from a Prometheus server, through its HTTP interface.

Shapes: T times.
"""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.errors import InputError
from subadjacent.service.watch.settings import MILLISECONDS, WatchSettings

Array = NDArray[np.float64]
Labels = tuple[tuple[str, str], ...]
"""Names and values of the labels of one series, sorted by name."""

Table = dict[Labels, Array]
"""Values of every label set, (T,) each; NaN where there is none."""

LARGEST_ANSWER = 256 * 2**20
"""Bytes of an answer that are read, more than any should have."""

LONGEST_REASON = 300
"""Characters that are shown of what a server says is wrong."""


class ReadFailure(Exception):  # noqa: N818 — reads as a fact
    """The server gave no usable answer. ``kind`` is one of few words, to be counted by.

    ``unreachable``: no connection, or it broke. ``timeout``: none in time. ``refused``: the server
    says that the query is wrong, or not allowed. ``server``: it says that it failed itself.
    ``answer``: the answer is not of the form that the interface promises.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(" ".join(text.split())[:LONGEST_REASON])
        self.kind = kind


class PrometheusAPI:
    """A client of one Prometheus server."""

    def __init__(self, settings: WatchSettings) -> None:
        self._url = f"{settings.prometheus}/api/v1/query_range"
        self._settings = settings
        self._seconds = settings.timeout / MILLISECONDS
        # one request at a time for every query, none of which waits for ever
        self._client = httpx2.AsyncClient(timeout=self._seconds)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def read(self, expr: str, first: int, last: int, step: int) -> Table:
        """Values of ``expr`` at every time from ``first`` to ``last``, in milliseconds."""
        question = {
            "query": expr,
            "start": _seconds(first),
            "end": _seconds(last),
            "step": _seconds(step),
        }
        try:
            async with asyncio.timeout(self._seconds):
                status, body = await self._ask(question)
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise ReadFailure("timeout", f"no answer within {self._seconds:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ReadFailure("unreachable", str(error) or type(error).__name__) from error
        return parse_table(_data(status, body), first, last, step)

    async def _ask(self, question: dict[str, str]) -> tuple[int, bytes]:
        headers, auth = self._login()
        body = bytearray()
        async with self._client.stream(
            "POST", self._url, data=question, headers=headers, auth=auth
        ) as answer:
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > LARGEST_ANSWER:
                    raise ReadFailure("answer", f"it is longer than {LARGEST_ANSWER:,} bytes")
        return answer.status_code, bytes(body)

    def _login(self) -> tuple[dict[str, str], httpx2.BasicAuth | None]:
        # read for every request: tokens of clusters are replaced every hour
        settings = self._settings
        if settings.token_file is not None:
            return {"Authorization": f"Bearer {read_secret(settings.token_file)}"}, None
        if settings.username is not None and settings.password_file is not None:
            return {}, httpx2.BasicAuth(settings.username, read_secret(settings.password_file))
        return {}, None


def read_secret(path: Path) -> str:
    """Read the token or password in the only line of a file."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ReadFailure("refused", f"{path} cannot be read: {reason}") from error
    if not text.isprintable() or not text.isascii() or not text:
        raise ReadFailure("refused", f"{path} must hold one line of ASCII characters")
    return text


def check_secrets(settings: WatchSettings) -> None:
    """Refuse an unusable token or password file before any work begins."""
    for path in (settings.token_file, settings.password_file):
        if path is not None:
            try:
                read_secret(path)
            except ReadFailure as failure:
                raise InputError(str(failure)) from failure


def parse_table(data: Any, first: int, last: int, step: int) -> Table:
    """The values of an answer at the times queried; infinite ones are missing, as in files."""
    size = len(range(first, last + 1, step))
    try:
        if data["resultType"] != "matrix":
            raise ValueError(f"values over time were requested; it has a {data['resultType']}")
        table: Table = {}
        for series in data["result"]:
            labels = tuple(sorted((str(k), str(v)) for k, v in series["metric"].items()))
            column = np.full(size, math.nan)
            # histograms in their native form have no values
            for time, text in series.get("values", ()):
                tick, off = divmod(round(time * MILLISECONDS) - first, step)
                if off or not 0 <= tick < size:
                    raise ValueError(f"it has a value at {time}, which was not requested")
                value = float(text)
                column[tick] = value if abs(value) <= LARGEST else math.nan
            table[labels] = column
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        text = str(error) if type(error) is ValueError else f"it is malformed ({error!r})"
        raise ReadFailure("answer", text) from error
    return table


def _data(status: int, body: bytes) -> Any:
    """What an answer is about; the server's own words where it refuses."""
    try:
        document = json.loads(body)
        fine = document["status"] == "success"
        data = document["data"] if fine else document["error"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        kind = "server" if status >= 500 else "refused" if status >= 300 else "answer"
        text = f"HTTP status {status}" if status >= 300 else "it is not JSON of the interface"
        raise ReadFailure(kind, text) from error
    if not fine:
        raise ReadFailure("server" if status >= 500 else "refused", str(data))
    return data


def _seconds(milliseconds: int) -> str:
    whole, rest = divmod(milliseconds, MILLISECONDS)
    return f"{whole}.{rest:03d}"
