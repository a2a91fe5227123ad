"""Connections that are opened and then say nothing, or too little, are closed."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class ImpatientProtocol(H11Protocol):
    """HTTP as uvicorn has it, with an end to waiting for the first request of a connection."""

    patience = 30.0
    """Seconds."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._waiting = self.loop.call_later(self.patience, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer: the timer would keep all that the connection holds until it is due."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def impatient(seconds: float) -> type[ImpatientProtocol]:
    """The protocol of a service whose clients may take so long."""
    return type("ImpatientProtocol", (ImpatientProtocol,), {"patience": seconds})
