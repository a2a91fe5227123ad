"""What goes wrong around the service: slow and silent clients, garbage, a full disk."""

from __future__ import annotations

import random
import resource
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_service import LiveService, alike, live, rows_of, until

CONFIG = """
[limits]
seconds = 0.2
listeners = 1
"""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("impatient")
    (folder / "config.toml").write_text(CONFIG)
    with live(folder / "data", "--config", str(folder / "config.toml")) as service:
        yield service


def connect(service: LiveService, text: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", service.port))
    connection.sendall(text)
    return connection


def listening(service: LiveService, count: int) -> bool:
    return f"subadjacent_listeners {count}.0".encode() in service.ask("GET", "/metrics").body


def test_a_listener_that_does_not_read_is_let_go_and_holds_nobody_up(
    impatient: LiveService,
) -> None:
    request = b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    slow = connect(impatient, request)
    until(lambda: listening(impatient, 1))
    crowd = impatient.ask("GET", "/api/events")
    assert crowd.status == 429
    assert "1 clients listen already" in crowd.json["error"]
    rows = 0
    # as many as the buffers of the system and the queue of a listener hold, and no more
    while not listening(impatient, 0):
        wide = [{f"channel {n}": 0.5 for n in range(100)} for _ in range(200)]
        assert impatient.push("wide", wide)["taken"] == 200
        rows += 200
        assert rows < 100_000
    assert impatient.get("/api/series/wide")["rows"] == rows
    slow.close()


def test_those_who_listen_when_it_ends_are_told_so_and_nothing_is_logged(tmp_path: Path) -> None:
    with live(tmp_path / "data") as service:
        listener = connect(service, b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: listening(service, 1))
        said = service.end()
        heard = listener.makefile("rb").read()
        listener.close()
    # the end of a chunked answer, not just of the connection
    assert heard.endswith(b"\r\n0\r\n\r\n")
    assert said == ""


def test_a_body_that_does_not_come_is_given_up(impatient: LiveService) -> None:
    head = b"POST /api/series/a/rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n["
    with connect(impatient, head) as silent, silent.makefile("rb") as answer:
        assert answer.readline().startswith(b"HTTP/1.1 408 ")
        assert b"within 0.2 seconds" in answer.read()


def test_a_body_that_comes_byte_by_byte_has_no_more_time(impatient: LiveService) -> None:
    head = b"POST /api/series/a/rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
    with connect(impatient, head) as slow:
        # it is given up while it still comes
        for _ in range(1_000):
            slow.sendall(b" ")
            if select.select([slow], [], [], 0.01)[0]:
                assert slow.recv(20).startswith(b"HTTP/1.1 408 ")
                return
    raise AssertionError("it did not happen")


def test_connections_that_say_nothing_or_garbage_keep_nobody_from_asking(
    impatient: LiveService,
) -> None:
    silent = [connect(impatient, text) for text in (b"", b"GET /hea") for _ in range(50)]
    noise = random.Random(1)
    for size in (1, 10, 1_000, 100_000):
        with connect(impatient) as garbage:
            try:
                garbage.sendall(noise.randbytes(size) + b"\r\n\r\n")
                garbage.shutdown(socket.SHUT_WR)
                garbage.recv(100)
            except OSError:
                # it may close the connection before all has come
                pass
    assert impatient.get("/health") == {"status": "ok"}
    assert impatient.push("b", rows_of(1))["taken"] == 1
    for connection in silent:
        connection.close()


def test_garbage_in_bodies_is_refused(impatient: LiveService) -> None:
    noise = random.Random(1)
    kinds = (
        "application/json", "application/x-ndjson", "text/csv", "application/vnd.apache.parquet",
    )  # fmt: skip
    for kind in kinds:
        for start in (b"", b"PAR1", b'{"rows": [', b"time,a\n", b"\x1f\x8b"):
            body = start + noise.randbytes(noise.randrange(300))
            answer = impatient.ask("POST", "/api/series/garbage/rows", body, kind)
            assert answer.status in (200, 415, 422), answer
            assert "body-" not in answer.body.decode()


def test_on_a_full_disk_writing_is_refused_reading_goes_on_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    def bounded() -> None:
        # files of this process cannot grow beyond: what a full disk looks like to it
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))

    with live(tmp_path, preexec_fn=bounded) as service:
        first = 0
        while (
            answer := service.ask(
                "POST", "/api/series/pump/rows", {"rows": rows_of(500, first=first)}
            )
        ).status == 200:
            first += 500
            assert first < 50_000
        assert first > 0
        assert answer.status == 507
        assert "make room, then send it again" in answer.json["error"]
        # again and again, and in between all that was taken can be read
        again = service.ask("POST", "/api/series/pump/rows", {"rows": rows_of(500, first=first)})
        assert again.status == 507
        assert service.get("/api/series/pump")["rows"] == first
        assert service.get("/api/series/pump/history?limit=10")["rows"][-1] == first - 1
        assert service.get("/ready") == {"status": "ok"}
        # files are put on the disk while they are read
        table = b"time,a\n" + b"1,2\n" * (LIMIT // 4)
        for path in ("/api/series/pump/rows", "/api/models?name=large"):
            refused = service.ask("POST", path, table, "text/csv")
            assert (refused.status, "make room" in refused.json["error"]) == (507, True)
        left = [file.name for file in tmp_path.rglob("*") if file.name.startswith(("body", "file"))]
        assert left == []
        pid = service.process.pid
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        rows = rows_of(500, first=first)
        recovered = service.push("pump", rows)
        assert (recovered["taken"], recovered["answers"][-1]["row"]) == (500, first + 499)
    with live(tmp_path / "other") as undisturbed:
        for start in range(0, first, 500):
            undisturbed.push("pump", rows_of(500, first=start))
        expected = undisturbed.push("pump", rows)["answers"]
        assert alike(recovered["answers"], expected)


LIMIT = 2_000_000
"""Bytes of a file: some thousand rows."""
