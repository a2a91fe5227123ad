"""Checks of every request: token, host, origin, size and time."""

from __future__ import annotations

import asyncio
import logging
import time as clock

from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from subadjacent.service.answers import respond_to
from subadjacent.service.problems import Refusal
from subadjacent.service.settings import Settings
from subadjacent.service.tokens import TokenFile

PUBLIC = ("/", "/health", "/ready", "/openapi.json")
"""Paths that need no token: they reveal nothing of the data."""
PAGE = "/page/"

UPLOADS = ("/api/models", "/api/score")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    # browsers keep it, but ask each time whether it has changed
    (b"cache-control", b"no-cache"),
]
"""Headers of every response."""

log = logging.getLogger(__name__)


class Guard:
    """Refuses requests that must not reach the routes."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self.app, self._tokens = app, TokenFile(settings.token_file)
        self._limits, self._is_loopback = settings.limits, settings.is_loopback
        self._read_only = settings.read_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = clock.perf_counter()
        status = 500

        async def guarded_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            headers = dict(scope["headers"])
            self._check(scope, headers)
            await self.app(scope, self._limited(scope, headers, receive), guarded_send)
        except Refusal as refusal:
            await respond_to(refusal)(scope, receive, guarded_send)
        except Exception:
            # already logged and answered: the server would log it again
            log.debug("a request failed", exc_info=True)
        finally:
            route = str(getattr(scope.get("route"), "path", "other"))
            seconds = clock.perf_counter() - started
            self.app.state.measures.request(scope["method"], route, status, seconds)

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self._is_loopback and name.lower() not in LOCAL_NAMES:
            # a page on the web may give its own name our address
            raise Refusal(421, f"Host must be one of {', '.join(LOCAL_NAMES)}; got {host[:100]!r}")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2].lower() != host.lower():
            raise Refusal(403, "requests of pages from elsewhere are not answered")
        if not _is_public(scope["path"]):
            writes = scope["method"] not in SAFE_METHODS
            if writes and self._read_only:
                raise Refusal(
                    403, "this address is for reading: name a file of tokens with access_file"
                )
            self._tokens.check(headers.get(b"authorization"), writes=writes)

    def _limited(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """A ``receive`` that bounds the size of the body and the time that it takes."""
        limits = self._limits
        most = limits.upload_bytes if scope["path"] in UPLOADS else limits.body_bytes
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        deadline = asyncio.get_running_loop().time() + limits.seconds
        size, complete = 0, False

        async def limited() -> Message:
            nonlocal size, complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise Refusal(
                    408, f"a request must come within {limits.seconds:g} seconds; this one did not"
                ) from error
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if size > most:
                raise _too_large(most)
            return message

        return limited


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(PAGE)


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"a body may have {most:,} bytes here; this one has more: send it in parts")
