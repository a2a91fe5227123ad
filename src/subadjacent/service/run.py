"""Listen, and serve until a signal comes."""

from __future__ import annotations

import gc
import resource
import socket
import sys
from collections.abc import Callable

import uvicorn

from subadjacent.detectors.registry import load
from subadjacent.errors import InputError
from subadjacent.service.app import Background, build
from subadjacent.service.database import lock_folder
from subadjacent.service.demo import play
from subadjacent.service.guard import Guard
from subadjacent.service.settings import Settings

BACKLOG = 2_048
"""Connections that may wait to be accepted."""

OTHER_FILES = 200
"""Open files beside connections: tables, models, uploads."""

SWITCH_INTERVAL = 0.001
"""Seconds that one thread may keep the interpreter while another wants it; Python's default is five
times as long."""


def serve(
    settings: Settings, *, listening: Callable[[str], None], background: Background | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; call ``listening`` with the address once it is bound."""
    settings.check()
    with lock_folder(settings.data):
        # a bad model is refused before anything is served
        if settings.model is not None:
            load(settings.model)
        beside = play if settings.demo else background
        _serve(settings, build(settings, beside), listening)


def _serve(settings: Settings, app: Guard, listening: Callable[[str], None]) -> None:
    bound = _bind(settings)
    host, port = bound.getsockname()[:2]
    _allow_files(settings.limits.connections)
    # the writer's thread and the event loop must not wait long for each other
    sys.setswitchinterval(SWITCH_INTERVAL)
    # imported modules stay: looking through them for garbage would delay requests
    gc.freeze()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        http="httptools",
        ws="none",
        lifespan="on",
        limit_concurrency=settings.limits.connections,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
        loop="uvloop",
        proxy_headers=False,
        server_header=False,
        date_header=False,
    )
    shown = f"[{host}]" if ":" in host else host
    listening(f"http://{shown}:{port}")
    with bound:
        _Server(config, app).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that ends event streams, which never end by themselves, before it waits."""

    def __init__(self, config: uvicorn.Config, app: Guard) -> None:
        super().__init__(config)
        self._guard = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End event streams, then the server."""
        self._guard.app.state.registry.listeners.close()
        await super().shutdown(sockets)


def _allow_files(connections: int) -> None:
    """Open as many files at a time as connections may need, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + OTHER_FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _bind(settings: Settings) -> socket.socket:
    host, port = settings.address
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        bound = socket.create_server(
            (host, port), family=family, backlog=BACKLOG, dualstack_ipv6=family == socket.AF_INET6
        )
    except OSError as error:
        # Python adds the address, which the message has already
        why = str(error.strerror).partition(" (")[0]
        raise InputError.of(
            "listen", "must be an address that is free", f"{settings.listen}: {why}"
        ) from error
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # the system drops a client that accepts no data for a minute
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000)
    return bound
