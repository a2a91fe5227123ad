"""The address that is scraped."""

from __future__ import annotations

import socket
import urllib.error

import pytest
from prometheus_client import CollectorRegistry, Gauge

from service.watch.servers import fetch
from subadjacent.errors import InputError
from subadjacent.service.watch import endpoint
from subadjacent.service.watch.endpoint import serving


def test_it_serves_metrics_and_says_that_it_lives() -> None:
    registry = CollectorRegistry()
    Gauge("here", "It is here.", registry=registry).set(3)
    with serving(registry, "127.0.0.1", 0) as port:
        assert "here 3.0\n" in fetch(f"http://127.0.0.1:{port}/metrics")
        assert fetch(f"http://127.0.0.1:{port}/health") == "alive\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(f"http://127.0.0.1:{port}/../etc/passwd")
    with pytest.raises(urllib.error.URLError):
        fetch(f"http://127.0.0.1:{port}/health")


def test_it_listens_on_the_newer_loopback_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with serving(CollectorRegistry(), "::1", 0) as port:
        assert fetch(f"http://[::1]:{port}/health") == "alive\n"


def test_an_address_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(InputError, match=rf"listen must be a free address; 127.0.0.1:{port}: A"),
            serving(CollectorRegistry(), "127.0.0.1", port),
        ):
            pass


def test_connections_that_say_nothing_are_closed_and_others_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint._Handler, "timeout", 0.05)
    with serving(CollectorRegistry(), "127.0.0.1", 0) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for one in silent[:10]:
            one.sendall(b"GET /metr")
        assert fetch(f"http://127.0.0.1:{port}/health") == "alive\n"
        for one in silent:
            one.settimeout(60)
            assert one.recv(1) == b""
            one.close()
