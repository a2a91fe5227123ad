"""The real nginx with the configuration of `deploy/nginx`, in front of two services."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from live_service import START, LiveService, live, until

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx" / "subadjacent.conf"

NGINX = """
daemon off; pid nginx.pid; error_log stderr crit; worker_processes 1;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    include subadjacent.conf;
}
"""

# letters, a space, a percent sign, another alphabet: names as people write them
NAMES = [f"{stem}{number}" for number in range(50) for stem in ("pump-", "a b ", "50 % ", "насос ")]


class Proxy(NamedTuple):
    front: LiveService
    services: tuple[LiveService, LiveService]

    def push(self, name: str, moment: int) -> int:
        """Push one row through the proxy; return the status."""
        row = {"time": START + moment, "flow": float(moment % 7)}
        return self.front.ask("POST", path_of(name), {"rows": [row]}).status

    def push_all(self, moment: int) -> dict[str, int]:
        with ThreadPoolExecutor(8) as threads:
            return dict(
                zip(NAMES, threads.map(lambda name: self.push(name, moment), NAMES), strict=True)
            )


def path_of(name: str) -> str:
    return f"/api/series/{quote(name)}/rows"


def rows_by_name(service: LiveService) -> dict[str, int]:
    return {one["name"]: one["rows"] for one in service.get("/api/series")["series"]}


class Front(LiveService):
    """nginx in place of a service, asked in the same way."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    if (program := shutil.which("nginx")) is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    folder = tmp_path_factory.mktemp("nginx")
    with live(folder / "one") as one, live(folder / "other") as other:
        port = free_port()
        text = CONFIGURATION.read_text()
        for written, used in ((8080, port), (8081, one.port), (8082, other.port)):
            assert text.count(f"127.0.0.1:{written}") == 1
            text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{used}")
        (folder / CONFIGURATION.name).write_text(text)
        (folder / "nginx.conf").write_text(NGINX)
        process = subprocess.Popen(
            [program, "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"],
            stderr=subprocess.PIPE,
            text=True,
        )
        front = Front(process, port)
        until(lambda: process.poll() is not None or accepts(port))
        yield Proxy(front, (one, other))
        assert front.end() == ""


def accepts(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_each_of_200_series_always_goes_to_the_same_service(proxy: Proxy) -> None:
    for moment in range(3):
        assert set(proxy.push_all(moment).values()) == {200}
    found = [rows_by_name(service) for service in proxy.services]
    assert found[0].keys().isdisjoint(found[1])
    assert found[0] | found[1] == dict.fromkeys(NAMES, 3)
    # neither has nearly all
    assert min(map(len, found)) > 40


def test_one_service_killed_its_series_alone_fail_and_come_back_with_all_rows(
    proxy: Proxy,
) -> None:
    killed, alive = proxy.services
    before = [rows_by_name(service) for service in proxy.services]
    killed.kill()
    statuses = proxy.push_all(10)
    assert {name for name, status in statuses.items() if status == 503} == before[0].keys()
    assert {name for name, status in statuses.items() if status == 200} == before[1].keys()
    refused = proxy.front.ask("POST", path_of(min(before[0])), {"rows": [{"time": 0, "flow": 1}]})
    assert refused.headers["retry-after"] == "1"
    assert refused.json == {"error": "the service of this series does not answer: send this again"}
    killed.start()
    assert set(proxy.push_all(11).values()) == {200}
    assert rows_by_name(killed) == {name: rows + 1 for name, rows in before[0].items()}
    assert rows_by_name(alive) == {name: rows + 2 for name, rows in before[1].items()}


def test_events_and_alarms_of_a_series_come_from_its_service(proxy: Proxy) -> None:
    name = NAMES[0]
    connection = proxy.front.connect()
    connection.request("GET", f"/api/events?series={name}")
    answer = connection.getresponse()
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.readline() == b": listening\n"
    proxy.push(name, 20)
    found = [answer.readline() for _ in range(3)]
    connection.close()
    assert found[1] == b"event: answer\n"
    assert proxy.front.get(f"/api/alarms?series={name}") == {"alarms": []}


def test_a_request_that_names_no_series_is_refused_with_a_sentence(proxy: Proxy) -> None:
    answer = proxy.front.ask("GET", "/api/series")
    assert answer.status == 400
    assert answer.json["error"].startswith("a request must name a series, in its path or as")
