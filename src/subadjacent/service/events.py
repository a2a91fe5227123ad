"""Server-sent events for clients that listen.

A listener has a queue of its own. One that reads too slowly is disconnected when its queue is full:
it delays nobody, and can read the history when it returns.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from subadjacent.data.documents import as_json
from subadjacent.service.problems import Refusal

MAX_QUEUED_EVENTS = 2_000
"""Events that wait for one listener: two seconds of a thousand rows each."""

CLOSE_SECONDS = 0.2
"""Seconds that an ending service waits for a listener that does not read."""

KEEP_ALIVE_SECONDS = 15.0
"""Seconds of silence after which a remark is sent, so that proxies keep the connection."""


class LiveEvent(NamedTuple):
    """An event; ``make`` gives its data, and is called only if a client listens."""

    kind: str
    series: str | None
    make: Callable[[], dict[str, Any]]


class EventStream(StreamingResponse):
    """The response to a client that listens to all series, or to one."""

    def __init__(self, listeners: Listeners, series: str | None) -> None:
        super().__init__(
            self._events(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )
        self.series, self._listeners = series, listeners
        self._texts: list[bytes] = []
        self._wake = asyncio.Event()
        self._is_ending = False
        self._task: asyncio.Task[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves or falls behind, or the service ends."""
        self._task = asyncio.current_task()
        self._listeners.streams.add(self)
        try:
            with suppress(asyncio.CancelledError):
                await super().__call__(scope, receive, send)
        finally:
            self._listeners.streams.discard(self)

    def put(self, text: bytes) -> None:
        """Send a text; a client that is too far behind is disconnected."""
        if len(self._texts) < MAX_QUEUED_EVENTS:
            self._texts.append(text)
            self._wake.set()
        else:
            self._listeners.streams.discard(self)
            self._cancel()

    def end(self) -> None:
        """End the answer properly; disconnect a client that does not read."""
        self._is_ending = True
        self._wake.set()
        asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _events(self) -> AsyncIterator[bytes]:
        yield b": listening\n\n"
        while not self._is_ending:
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                yield b": still here\n\n"
                continue
            self._wake.clear()
            texts, self._texts = self._texts, []
            yield b"".join(texts)


class Listeners:
    """All clients that listen; used in the event loop only."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.streams: set[EventStream] = set()

    def __len__(self) -> int:
        return len(self.streams)

    def stream(self, series: str | None) -> EventStream:
        """Events of all series, or of one; refused where too many listen."""
        if len(self) >= self._most:
            raise Refusal(429, f"{self._most} clients listen already: try again in a moment")
        return EventStream(self, series)

    def publish(self, events: Sequence[LiveEvent]) -> None:
        """Send events to the clients that listen to their series."""
        if not self.streams:
            return
        for event in events:
            text = None
            for stream in tuple(self.streams):
                if stream.series in (None, event.series):
                    if text is None:
                        data = json.dumps(as_json(event.make()), ensure_ascii=False)
                        text = f"event: {event.kind}\ndata: {data}\n\n".encode()
                    stream.put(text)

    def close(self) -> None:
        """End all streams: the service ends."""
        for stream in self.streams:
            stream.end()
