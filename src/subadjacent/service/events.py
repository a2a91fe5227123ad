"""Server-sent events for clients that listen.

A listener has a queue of its own. One that does not read fast enough is let go when its queue is
full: it never holds anybody up, and can read the history when it comes back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from subadjacent.service.problems import Refusal
from subadjacent.workflow.tables import as_json

MAX_QUEUED_EVENTS = 2_000
"""Events that wait for one listener: two seconds of a thousand rows each."""

CLOSE_SECONDS = 0.2
"""Seconds that the end of the service waits for one who does not read."""

KEEP_ALIVE_SECONDS = 15.0
"""Seconds of silence after which a remark is sent, so that proxies keep the connection."""


class LiveEvent(NamedTuple):
    """An event; ``make`` gives its data, and is called only if a client listens."""

    kind: str
    series: str | None
    make: Callable[[], dict[str, Any]]


class _Listener:
    def __init__(self, series: str | None) -> None:
        self.series = series
        self.queue: asyncio.Queue[bytes] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self.task: asyncio.Task[Any] | None = asyncio.current_task()
        self.ends_well = False
        """Whether the service ends: the response is then closed properly."""

    def put(self, text: bytes) -> bool:
        """Whether there was room."""
        try:
            self.queue.put_nowait(text)
        except asyncio.QueueFull:
            return False
        return True


class Listeners:
    """All clients that listen; used in the event loop only."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._listeners: set[_Listener] = set()

    def __len__(self) -> int:
        return len(self._listeners)

    def publish(self, events: Sequence[LiveEvent]) -> None:
        """Send events to the clients that listen to their series."""
        if not self._listeners:
            return
        for event in events:
            text = None
            for listener in tuple(self._listeners):
                if listener.series is not None and listener.series != event.series:
                    continue
                if text is None:
                    data = json.dumps(as_json(event.make()), ensure_ascii=False)
                    text = f"event: {event.kind}\ndata: {data}\n\n".encode()
                if not listener.put(text):
                    self._drop(listener)

    def _drop(self, listener: _Listener) -> None:
        self._listeners.discard(listener)
        if listener.task is not None:
            listener.task.cancel()

    def close(self) -> None:
        """Disconnect all: the service ends."""
        for listener in tuple(self._listeners):
            listener.ends_well = True
            self._drop(listener)

    def check_room(self) -> None:
        """Refuse one more where there are too many."""
        if len(self._listeners) >= self._most:
            raise Refusal(429, f"{self._most} clients listen already: try again in a moment")

    async def listen(self, series: str | None, send: Send, receive: Receive) -> None:
        """Send events until the client goes, falls behind, or the service ends."""
        listener = _Listener(series)
        self._listeners.add(listener)
        gone = asyncio.ensure_future(_until_gone(receive, listener.task))
        with suppress(asyncio.CancelledError):
            try:
                await _send(send, b": listening\n\n")
                while True:
                    await _send(send, await _next(listener.queue))
            finally:
                self._listeners.discard(listener)
                gone.cancel()
        if listener.ends_well:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})


class EventStream(Response):
    """The response: it ends when its listener is let go."""

    def __init__(self, listeners: Listeners, series: str | None) -> None:
        super().__init__(media_type="text/event-stream")
        self._listeners, self._series = listeners, series

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 — ASGI passes it
        """Answer as ASGI has it."""
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._listeners.listen(self._series, send, receive)


async def _next(queue: asyncio.Queue[bytes]) -> bytes:
    """All queued events; a comment where none comes for long."""
    try:
        async with asyncio.timeout(KEEP_ALIVE_SECONDS):
            parts = [await queue.get()]
    except TimeoutError:
        return b": still here\n\n"
    while not queue.empty():
        parts.append(queue.get_nowait())
    return b"".join(parts)


async def _send(send: Send, text: bytes) -> None:
    await send({"type": "http.response.body", "body": text, "more_body": True})


async def _until_gone(receive: Receive, task: asyncio.Task[Any] | None) -> None:
    """Wait for the client to go, then wake whoever sends to it."""
    while (await receive())["type"] != "http.disconnect":
        pass
    if task is not None:
        task.cancel()
