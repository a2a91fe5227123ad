"""The address that Prometheus scrapes: /metrics, and /health for those who start us."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from subadjacent.errors import InputError

PATIENCE = 10
"""Seconds that a connection may be silent before it is closed."""


class _Server(ThreadingMixIn, WSGIServer):
    # many may come at once; those that hang must not keep the process from ending
    request_queue_size = 100
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — the parent's name
        """Say nothing of every scrape."""


@contextmanager
def serving(registry: CollectorRegistry, host: str, port: int) -> Iterator[int]:
    """Answer scrapes from a thread of its own; gives the port, which 0 leaves to the system."""
    kind = _Server6 if ":" in host else _Server
    try:
        server = make_server(host, port, _application(registry), kind, _Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"listen must be a free address; {host}:{port}: {reason}") from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _application(registry: CollectorRegistry) -> Callable[..., Iterable[bytes]]:
    metrics = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO")
        if path == "/metrics":
            found: Iterable[bytes] = metrics(environ, start_response)
            return found
        status, text = ("200 OK", b"alive\n") if path == "/health" else ("404 Not Found", b"")
        start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(text)))])
        return [text]

    return answer
