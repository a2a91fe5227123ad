"""A request and its answer, as they travel between the ingress and a replica."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message, Scope

Headers = list[tuple[bytes, bytes]]


class Asked(NamedTuple):
    """A request, whole."""

    method: str
    path: str
    query: bytes
    headers: Headers
    body: bytes

    @classmethod
    def of(cls, scope: Scope, body: bytes = b"") -> Asked:
        """What a server has taken."""
        headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
        return cls(scope["method"], scope["path"], scope["query_string"], headers, body)

    def scope(self) -> dict[str, Any]:
        """As an application is told of it."""
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(errors="surrogatepass"),
            "root_path": "",
            "query_string": self.query,
            "headers": self.headers,
            "client": None,
            "server": None,
        }


class Told(NamedTuple):
    """An answer, or its beginning."""

    status: int
    headers: Headers
    body: bytes


class Conversation:
    """One request that an application answers bit by bit; it waits while nobody takes the bits."""

    def __init__(self, app: ASGIApp, asked: Asked) -> None:
        self._told: asyncio.Queue[Message] = asyncio.Queue(1)
        self._asked: list[Message] = [{"type": "http.request", "body": asked.body}]
        self._task = asyncio.ensure_future(app(asked.scope(), self._receive, self._told.put))

    async def _receive(self) -> Message:
        if not self._asked:
            # whoever goes ends this
            await asyncio.Event().wait()
        return self._asked.pop()

    async def _next(self) -> Message | None:
        """What was told next; None when nothing more will be."""
        while self._told.empty() and not self._task.done():
            getting = asyncio.ensure_future(self._told.get())
            await asyncio.wait({getting, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
            getting.cancel()
        return None if self._told.empty() else self._told.get_nowait()

    async def begin(self) -> Told:
        """Status and headers."""
        message = await self._next()
        if message is None:
            # it raised, or else it would have answered
            await self._task
        assert message is not None
        return Told(message["status"], list(message.get("headers", ())), b"")

    async def more(self) -> bytes | None:
        """The next bytes; None when all has been told."""
        message = await self._next()
        return None if message is None else bytes(message.get("body", b""))

    async def whole(self) -> Told:
        """All of it."""
        begun, parts = await self.begin(), []
        while (part := await self.more()) is not None:
            parts.append(part)
        await self.end()
        return begun._replace(body=b"".join(parts))

    async def end(self) -> None:
        """Stop, whatever is still to be told; an error was logged and answered within."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
