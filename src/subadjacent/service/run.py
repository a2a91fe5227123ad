"""Listen, and serve until told to end."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from subadjacent.durable import lock, opened
from subadjacent.errors import InputError
from subadjacent.service.app import build
from subadjacent.service.connections import ImpatientProtocol
from subadjacent.service.settings import Settings

BACKLOG = 2_048


def serve(settings: Settings, *, listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; ``listening`` is told the address once there is one."""
    settings.check()
    settings.data.mkdir(parents=True, exist_ok=True)
    with opened(settings.data) as handle:
        if handle is None or not lock(handle, wait=False):
            raise InputError.of(
                "data",
                "must be a folder that no other service uses",
                f"got {settings.data}",
                "end the other one, or name another folder with --data",
            )
        bound = _bind(settings)
        host, port = bound.getsockname()[:2]
        config = uvicorn.Config(
            build(settings),
            log_config=None,
            access_log=False,
            http=ImpatientProtocol,
            ws="none",
            lifespan="on",
            limit_concurrency=settings.limits.connections,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=5,
            server_header=False,
            date_header=False,
        )
        shown = f"[{host}]" if ":" in host else host
        listening(f"http://{shown}:{port}")
        with bound:
            uvicorn.Server(config).run(sockets=[bound])


def _bind(settings: Settings) -> socket.socket:
    host, port = settings.address
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # a client that takes nothing any more is let go by the system after a minute
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        raise InputError.of(
            "listen", "must be an address that is free", f"{settings.listen}: {error.strerror}"
        ) from error
    return bound
