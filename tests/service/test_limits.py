"""Limits, tokens and who may ask: what is past them is refused, and the service goes on."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from live_service import LiveService, as_csv, children_of, live, rows_of, until
from running import COMMAND, runner
from subadjacent.service.body_limits import OTHER_COLUMNS
from subadjacent.service.database import FILE, connect

READ, WRITE = "r" * 20, "w" * 20

CONFIG = """
[limits]
body_bytes = 20000
upload_bytes = 30000
rows = 50
series = 3
queue = 60
channels = 4
listeners = 1
jobs = 1
seconds = 1.0
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "config.toml").write_text(CONFIG)
    with live(folder / "data", "--config", str(folder / "config.toml")) as service:
        yield service


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "tokens").write_text(f"# tokens\nread {READ}\nwrite {WRITE}\n")
    with live(folder / "data", "--token-file", str(folder / "tokens")) as service:
        yield service


def test_a_request_of_too_many_rows_is_refused(small: LiveService) -> None:
    answer = small.ask("POST", "/api/series/a/rows", {"rows": rows_of(51)})
    assert answer.status == 413
    assert answer.json["error"] == ("a request may hold 50 rows; this one has 51: send it in parts")
    csv = small.ask("POST", "/api/series/a/rows", as_csv(rows_of(51)), "text/csv")
    assert csv.status == 413
    assert small.push("a", rows_of(50))["taken"] == 50


def test_a_body_that_is_too_large_is_refused(small: LiveService) -> None:
    answer = small.ask("POST", "/api/series/a/rows", b" " * 20_001)
    assert answer.status == 413
    assert "20,000 bytes" in answer.json["error"]
    upload = small.ask("POST", "/api/models?name=m", b" " * 30_001, "text/csv")
    assert upload.status == 413
    # as large as it may be, it is read, and found to hold no rows
    assert small.ask("POST", "/api/series/a/rows", b" " * 20_000).status == 422
    assert small.get("/health")


@pytest.mark.parametrize(
    ("path", "most"), [("/api/series/a/rows", 20_000), ("/api/models?name=m", 30_000)]
)
def test_a_body_without_a_length_is_counted_and_nothing_of_it_stays(
    small: LiveService, path: str, most: int
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    # in one go: it answers once it has all of this, and would not hear what comes after
    body = b"3e8\r\n" + b" " * 1_000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", small.port)) as connection:
        connection.sendall(
            f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + body * (most // 1_000 + 1)
        )
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 413 ")
    assert small.folder is not None
    assert list((small.folder / "uploads").iterdir()) == []


def test_fits_beyond_the_bound_are_refused_while_others_run(small: LiveService) -> None:
    before = len(small.get("/api/models")["jobs"])
    # it fails, but not before a process has been started for it
    first, second = (
        small.ask("POST", f"/api/models?name={name}", b"a\nx\n", "text/csv") for name in "mn"
    )
    assert (first.status, second.status) == (202, 429)
    assert second.json["error"] == "1 fits are already waiting or running: send this one later"
    until(lambda: small.get(f"/api/jobs/{first.json['job']}")["state"] == "failed")
    assert len(small.get("/api/models")["jobs"]) == before + 1


def test_a_file_that_comes_too_late_for_the_last_place_is_refused_and_goes(
    small: LiveService,
) -> None:
    assert small.folder is not None
    uploads = small.folder / "uploads"
    head = b"POST /api/models?name=m HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    with socket.create_connection(("127.0.0.1", small.port)) as connection:
        connection.sendall(head + b"Content-Length: 4\r\n\r\na\n")
        until(lambda: len(list(uploads.iterdir())) == 1)
        other = small.ask("POST", "/api/models?name=n", b"a\nx\n", "text/csv")
        assert other.status == 202
        connection.sendall(b"x\n")
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 429 ")
    until(lambda: small.get(f"/api/jobs/{other.json['job']}")["state"] == "failed")
    until(lambda: list(uploads.iterdir()) == [])


def test_too_many_series_and_channels_are_refused(small: LiveService) -> None:
    for name in ("a", "b", "c"):
        small.push(name, [{"x": 1.0}] if name != "a" else rows_of(1))
    answer = small.ask("POST", "/api/series/d/rows", [{"x": 1.0}])
    assert answer.status == 429
    assert answer.headers["retry-after"] == "1"
    assert "3 series already" in answer.json["error"]
    assert {one["name"] for one in small.get("/api/series")["series"]} == {"a", "b", "c"}
    small.ask("DELETE", "/api/series/b")
    wide = small.ask("POST", "/api/series/d/rows", [{str(n): 1.0 for n in range(5)}])
    assert wide.status == 413
    assert "4 channels" in wide.json["error"]


def test_rows_that_are_too_wide_are_refused_in_a_fit_too(small: LiveService) -> None:
    row = {f"c{n}": 1.0 for n in range(4 + OTHER_COLUMNS + 1)}
    sentence = "rows may have 104 columns; these have 105: send those that you need"
    answer = small.ask("POST", "/api/series/a/rows", [row])
    assert (answer.status, answer.json) == (413, {"error": sentence})
    job = small.fit("wide", as_csv([row]))
    assert (job["state"], job["error"]) == ("failed", sentence)


def waiting(service: LiveService, rows: int) -> bool:
    return f"subadjacent_queue_rows {rows}.0\n".encode() in service.ask("GET", "/metrics").body


def is_in_transaction(service: LiveService) -> bool:
    """Whether the service is writing, or waits for scores to write."""
    assert service.folder is not None
    with closing(sqlite3.connect(service.folder / FILE, timeout=0)) as tables:
        try:
            tables.execute("begin immediate")
        except sqlite3.OperationalError:
            return True
    return False


def test_rows_beyond_the_queue_are_refused_whole_and_the_service_goes_on_answering(
    small: LiveService,
) -> None:
    small.ask("DELETE", "/api/series/a")
    assert small.push("a", rows_of(1))["taken"] == 1
    (scores,) = children_of(small)
    os.kill(scores, signal.SIGSTOP)
    with ThreadPoolExecutor(3) as pool:
        try:
            # the first is being scored, the second waits; a third is refused, but a small one fits
            taken = [pool.submit(small.push, "a", rows_of(50, first=1))]
            until(lambda: all(is_in_transaction(small) for _ in range(20)))
            assert small.get("/health") == {"status": "ok"}
            taken.append(pool.submit(small.push, "a", rows_of(49, first=51)))
            until(lambda: waiting(small, 49))
            refused = small.ask("POST", "/api/series/a/rows", {"rows": rows_of(12, first=111)})
            assert (refused.status, refused.headers["retry-after"]) == (429, "1")
            assert refused.json["error"] == (
                "no room in the scoring queue, which holds 49 of at most 60 rows; "
                "send this again in a moment"
            )
            taken.append(pool.submit(small.push, "a", rows_of(11, first=100)))
            until(lambda: waiting(small, 60))
            assert small.get("/ready") == {"status": "ok"}
            assert small.get("/api/series/a/history")["rows"] == [0]
        finally:
            # the pool waits for all answers
            os.kill(scores, signal.SIGCONT)
        assert [one.result()["taken"] for one in taken] == [50, 49, 11]
    # nothing of what was refused was kept
    assert small.get("/api/series/a")["rows"] == 111
    again = small.push("a", rows_of(12, first=111))
    assert (again["taken"], again["late"], again["duplicates"]) == (12, 0, 0)


def test_a_token_is_needed_and_reading_is_not_writing(guarded: LiveService) -> None:
    row = {"rows": rows_of(1)}
    for path in ("/health", "/openapi.json"):
        assert guarded.ask("GET", path).status == 200
    for path in ("/api/series", "/metrics", "/api/events", "/nothing"):
        answer = guarded.ask("GET", path)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    for token, status in ((READ, 403), (WRITE, 200)):
        pushed = guarded.ask("POST", "/api/series/a/rows", row, Authorization=f"Bearer {token}")
        assert pushed.status == status
        assert guarded.ask("GET", "/api/series", Authorization=f"Bearer {token}").status == 200


def test_names_of_other_hosts_and_pages_from_elsewhere_are_refused(guarded: LiveService) -> None:
    for host in ("evil.example", "evil.example:80", f"127.0.0.1.evil.example:{guarded.port}"):
        assert guarded.ask("GET", "/health", Host=host).status == 421
    for host in ("localhost", f"localhost:{guarded.port}", "127.0.0.1", "[::1]:80"):
        assert guarded.ask("GET", "/health", Host=host).status == 200
    own = f"127.0.0.1:{guarded.port}"
    for origin in ("evil.example", f"{own}.evil.example", f"{own}0", own[:-1], "localhost"):
        refused = guarded.ask("GET", "/health", Host=own, Origin=f"http://{origin}")
        assert refused.status == 403
    assert guarded.ask("GET", "/health", Host=own, Origin=f"http://{own}").status == 200


def test_what_would_be_unsafe_or_cannot_work_is_refused_at_the_start(tmp_path: Path) -> None:
    for options, sentence in (
        (("--listen", "0.0.0.0:0"), "where there are no tokens"),
        (("--listen", "example.invalid:0"), "where there are no tokens"),
        (("--config", "none.toml"), "is not a file"),
        (("--token-file", "none"), "is not there"),
        (("--model", "none"), "is not a model folder"),
    ):
        done = runner(tmp_path)("serve", "--data", "d", *options, code=1)
        assert sentence in done.stderr


def no_folder(path: Path) -> str:
    path.write_text("")
    return "data must be a folder to write to; d: it is a file"


def no_tables(path: Path) -> str:
    path.mkdir()
    (path / FILE).write_bytes(b"this is no database" * 100)
    return "must have tables of ours in service.sqlite, or none; d: file is not a database"


def not_to_write(path: Path) -> str:
    path.mkdir(mode=0o555)
    return "data must be a folder to write to; d: Permission denied"


def no_part_to_write(path: Path) -> str:
    (path / "uploads").mkdir(parents=True, mode=0o555)
    return "data must be a folder to write to; d: Permission denied"


def tables_not_to_write(path: Path) -> str:
    path.mkdir()
    connect(path).close()
    (path / FILE).chmod(0o444)
    return "d: attempt to write a readonly database"


@pytest.mark.parametrize(
    "prepare", [no_folder, no_tables, not_to_write, no_part_to_write, tables_not_to_write]
)
def test_a_folder_that_cannot_be_used_is_refused_in_one_sentence(
    tmp_path: Path, prepare: Callable[[Path], str]
) -> None:
    sentence = prepare(tmp_path / "d")
    # who may do everything is kept from it
    rights = "-dac_override,-dac_read_search"
    limited = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]
    done = subprocess.run(
        [*(limited if os.geteuid() == 0 else ()), COMMAND, "serve", "--data", "d"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert sentence in line
    assert line.endswith(": name another folder with --data")


def test_an_address_that_is_taken_is_refused(guarded: LiveService, tmp_path: Path) -> None:
    taken = f"127.0.0.1:{guarded.port}"
    done = runner(tmp_path)("serve", "--data", "d", "--listen", taken, code=1)
    assert f"listen must be an address that is free; {taken}" in done.stderr
