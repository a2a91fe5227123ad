"""Closes connections that are silent, too slow, or send too long a header."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 65_536
"""Bytes of a request before its body: the parser itself knows no bound."""


class TimedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with a time limit for receiving a request.

    The server itself waits without end for the first one, and for the rest of a later one.
    """

    patience = 30.0
    """Seconds."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        # bytes of a head that has not ended yet
        self._head = 0
        self._is_in_head = False
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer: the timer would keep all that the connection holds until it is due."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received bytes; answer 400 if the request's head grows too long."""
        super().data_received(data)
        self._head = self._head + len(data) if self._is_in_head else 0
        if self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of a request is too long.")
        if self._is_idle and not self.transport.is_closing():
            self._wait()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._is_in_head = False
        self._wait_no_longer()
        super().on_headers_complete()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        # what comes byte by byte has no more time
        if self._waiting is None:
            self._waiting = self.loop.call_later(self.patience, self._give_up)

    def _wait_no_longer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        if self._is_idle and not self.transport.is_closing():
            self.transport.close()


def timed_protocol(seconds: float) -> type[TimedProtocol]:
    """The protocol of a service whose clients may take so long."""
    return type("TimedProtocol", (TimedProtocol,), {"patience": seconds})
