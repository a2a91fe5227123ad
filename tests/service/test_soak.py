"""Many clients at once, good ones and bad ones: in the end all is as it was, and none is lost."""

from __future__ import annotations

import random
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from live_service import LiveService, children_of, live, rows_of, until

ROUNDS, CLIENTS = 4, 3
ROWS, AT_ONCE = 300, 15
"""Rows of a series in each round, and of a request."""

HALF_OPEN = (b"", b"GET /hea", b"POST /api/series/x/rows HTTP/1.1\r\nHost: localhost\r\n")
SLACK = 24 << 20
"""Bytes by which memory may grow over two rounds: what allocators keep. Connections that were held
for half a minute after their end made it 41 MB."""


class Held:
    """What the processes of a service hold."""

    def __init__(self, service: LiveService) -> None:
        own = Path(f"/proc/{service.process.pid}")
        everyone = [own, *(Path(f"/proc/{key}") for key in children_of(service))]
        self.files = sum(len(list((one / "fd").iterdir())) for one in everyone)
        self.threads = sum(len(list((one / "task").iterdir())) for one in everyone)
        found = [re.search(r"VmRSS:\s+(\d+)", (one / "status").read_text()) for one in everyone]
        self.memory = sum(1024 * int(one[1]) for one in found if one is not None)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("busy")
    with live(folder / "data") as service:
        yield service


def push_and_delete(service: LiveService, client: int, turn: int) -> None:
    """One series that stays, and two that go, one of them to come again."""
    for start in range(0, ROWS, AT_ONCE):
        stays = service.push(f"stays-{client}", rows_of(AT_ONCE, first=turn * ROWS + start))
        assert (stays["taken"], stays["late"], stays["duplicates"]) == (AT_ONCE, 0, 0)
        for name in (f"goes-{client}", f"again-{client}"):
            assert service.push(name, rows_of(AT_ONCE, first=start))["taken"] == AT_ONCE
        if start == ROWS // 2:
            assert service.ask("DELETE", f"/api/series/again-{client}").status == 204
    for name in (f"goes-{client}", f"again-{client}"):
        assert service.ask("DELETE", f"/api/series/{name}").status == 204


def send_garbage(service: LiveService, turn: int) -> None:
    noise = random.Random(turn)
    for kind in ("application/json", "application/x-ndjson", "text/csv", "text/plain"):
        for _ in range(10):
            body = noise.randbytes(noise.randrange(1, 2_000))
            answer = service.ask("POST", "/api/series/garbage/rows", body, kind)
            assert answer.status in (415, 422), answer


def one_round(service: LiveService, turn: int) -> None:
    slow = socket.create_connection(("127.0.0.1", service.port))
    slow.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    half = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(30)]
    for place, connection in enumerate(half):
        connection.sendall(HALF_OPEN[place % len(HALF_OPEN)])
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        work = [pool.submit(push_and_delete, service, client, turn) for client in range(CLIENTS)]
        work.append(pool.submit(send_garbage, service, turn))
        while not all(one.done() for one in work):
            # it reads, but less than it is told
            assert slow.recv(500)
            assert service.get("/health") == {"status": "ok"}
        for one in work:
            one.result()
    for connection in (slow, *half):
        connection.close()


def quiet(service: LiveService) -> bool:
    text = service.ask("GET", "/metrics").body.decode()
    names = ("queue_rows", "queue_tasks", "listeners")
    return all(f"subadjacent_{name} 0.0" in text for name in names)


@pytest.mark.sweep
def test_after_rounds_of_all_kinds_of_clients_all_is_as_it_was_and_none_is_lost(
    busy: LiveService,
) -> None:
    held = []
    for turn in range(ROUNDS):
        one_round(busy, turn)
        until(lambda: quiet(busy))
        held.append(Held(busy))
    # what was closed goes at once or a moment later, never to stay
    until(lambda: Held(busy).files <= held[0].files)
    assert Held(busy).threads <= held[0].threads
    assert held[-1].memory - held[1].memory < SLACK
    names = [f"stays-{client}" for client in range(CLIENTS)]
    assert sorted(one["name"] for one in busy.get("/api/series")["series"]) == names
    for name in names:
        found = busy.get(f"/api/series/{name}/history?limit=5000&points=5000")
        sent = rows_of(ROUNDS * ROWS)
        assert found["rows"] == list(range(ROUNDS * ROWS))
        assert found["times"] == [row["time"] for row in sent]
        assert found["values"]["flow"] == [row["flow"] for row in sent]
    assert busy.push("stays-0", rows_of(1, first=ROUNDS * ROWS))["taken"] == 1
    assert {one["series"] for one in busy.get("/api/alarms?limit=1000")["alarms"]} <= set(names)
