"""Alarms are posted to a real server that fails at first."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest

from apart import run_apart
from live_plant import looked_new
from live_service import live, until, with_a_jump
from service.watch.servers import Question, Reply, answering
from subadjacent import SubAdjacentDetector
from subadjacent.decision.machine import CLOSED, OPENED, UPDATED
from subadjacent.service import webhooks
from subadjacent.service.database import FILE
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.series import LiveSeries
from subadjacent.service.settings import Settings, Webhook
from subadjacent.service.webhooks import MAX_WAITING, Webhooks
from subadjacent.service.writer import Changes

Came = list[tuple[int, dict[str, Any], str | None]]


@contextmanager
def receiving(*statuses: int) -> Iterator[tuple[Came, str]]:
    """An address that answers with these statuses, then with 200; what came to it."""
    left, came = list(statuses), []

    def reply(question: Question) -> Reply:
        status = left.pop(0) if left else 200
        came.append((status, json.loads(question.body), question.headers["Authorization"]))
        return status, b""

    with answering(reply) as port:
        yield came, f"http://127.0.0.1:{port}/alarms"


def configure(folder: Path, *addresses: str) -> Path:
    parts = [f'[[webhooks]]\nurl = "{address}"\ntoken = "secret"\n' for address in addresses]
    path = folder / "config.toml"
    path.write_text("\n".join(parts))
    return path


def test_an_alarm_is_posted_until_it_is_taken_even_after_a_kill(tmp_path: Path) -> None:
    rows = with_a_jump()
    with receiving(503, 429) as (came, address):
        config = configure(tmp_path, address)
        with live(tmp_path / "data", "--config", str(config)) as service:
            service.push("pump", rows[:410])
            # it was refused once, and waits for its next try
            until(lambda: len(came) >= 1)
            service.kill()
            service.start()
            until(lambda: any(status == 200 for status, _, _ in came))
            service.push("pump", rows[410:])
            until(lambda: came[-1][1]["event"] == "closed")
            key = came[-1][1]["alarm"]["id"]
            assert service.get(f"/api/alarms/{key}")["state"] == "closed"
            service.end()
    statuses = [status for status, _, _ in came]
    assert statuses[:2] == [503, 429]
    assert set(statuses[2:]) == {200}
    assert {token for _, _, token in came} == {"Bearer secret"}
    delivered = [body for status, body, _ in came if status == 200]
    events = [(body["alarm"]["id"], body["event"]) for body in delivered]
    # once each, in order: opened before closed
    assert len(events) == len(set(events))
    assert (key, "opened") in events
    assert events.index((key, "opened")) < events.index((key, "closed"))
    assert all(body["alarm"]["sentence"] for body in delivered)


def test_alarms_that_are_confirmed_or_withdrawn_are_posted(tmp_path: Path) -> None:
    train, test = looked_new()
    SubAdjacentDetector(views=["level"]).fit(train).save(tmp_path / "model")
    times = pd.date_range("2026-01-01", periods=len(test), freq="1min", tz="UTC")
    values = zip(times, test[:, 0].tolist(), strict=True)
    rows = [{"time": time.isoformat(), "channel_0": value} for time, value in values]
    with receiving() as (came, address):
        config = configure(tmp_path, address)
        options = ("-m", str(tmp_path / "model"), "--config", str(config))
        with live(tmp_path / "data", *options) as service:
            for first in range(0, len(rows), 200):
                service.push("wave", rows[first : first + 200])
            until(lambda: any(body["event"] == "confirmed" for _, body, _ in came))
            kept = service.get("/api/alarms?series=wave")["alarms"]
            service.end()
    told = [(body["alarm"]["number"], body["event"]) for _, body, _ in came]
    assert [event for number, event in told if number == 1] == ["opened", "closed", "withdrawn"]
    assert [event for number, event in told if number == 2] == ["opened", "closed", "confirmed"]
    for _, body, _ in came:
        assert body["alarm"]["status"] == (
            body["event"] if body["event"] in ("confirmed", "withdrawn") else "provisional"
        )
    assert {one["number"]: one["status"] for one in kept} == {1: "withdrawn", 2: "confirmed"}


def deliver(
    folder: Path,
    address: str,
    *events: str,
    during: Callable[[SeriesRegistry, Webhooks], Awaitable[None]],
) -> None:
    """Send events that wait in the tables; ``during`` starts it, and waits."""

    async def all_of_it() -> None:
        webhook = Webhook.model_validate({"url": address})
        registry = SeriesRegistry(Settings(webhooks=(webhook,)), folder)
        for event in events:
            registry._tables.execute(
                "insert into outbox (address, body) values (?, ?)",
                (str(webhook.url), json.dumps({"event": event})),
            )
        registry.writer.start()
        webhooks = Webhooks(registry, (webhook,))
        await during(registry, webhooks)
        await webhooks.stop()
        await registry.stop()

    run_apart(all_of_it())


def test_what_cannot_be_forgotten_on_a_full_disk_is_not_sent_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def during(registry: SeriesRegistry, webhooks: Webhooks) -> None:
        # a lock that is held looks to the writer as a disk does that is full, but at once
        registry._tables.execute("pragma busy_timeout = 0")
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("begin immediate")
            webhooks.start()
            await asyncio.to_thread(until, lambda: "a transaction failed" in caplog.text)
            other.execute("rollback")
        left = "select count(*) from outbox"
        with registry.reader() as tables:
            await asyncio.to_thread(until, lambda: tables.execute(left).fetchone()[0] == 0)

    with receiving() as (came, address):
        deliver(tmp_path, address, "first", "second", during=during)
    assert [body["event"] for _, body, _ in came] == ["first", "second"]


def test_what_goes_wrong_once_does_not_end_webhooks_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def during(_: SeriesRegistry, webhooks: Webhooks) -> None:
        look, looks = webhooks._oldest, []

        def fail_at_first(url: str) -> tuple[int, str] | None:
            looks.append(url)
            if len(looks) == 1:
                raise sqlite3.OperationalError("disk I/O error")
            return look(url)

        monkeypatch.setattr(webhooks, "_oldest", fail_at_first)
        monkeypatch.setattr("subadjacent.service.webhooks.LONGEST_PAUSE", 0.01)
        webhooks.start()
        await asyncio.to_thread(until, lambda: len(came) == 1)

    with receiving() as (came, address):
        deliver(tmp_path, address, "first", during=during)
    assert "webhooks stand still for a while" in caplog.text


def drip(connection: socket.socket, ended: threading.Event) -> None:
    """A head that comes byte by byte and never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not ended.wait(0.05):
        connection.sendall(b"a")


def talk_on(connection: socket.socket, ended: threading.Event) -> None:
    """A head, and a body without an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not ended.wait(0.05):
        connection.sendall(b"1\r\na\r\n")


@contextmanager
def hanging(how: Callable[[socket.socket, threading.Event], None]) -> Iterator[tuple[str, Any]]:
    """A server that takes requests and never ends an answer; how many it took."""
    ended, taken = threading.Event(), []

    def serve_one(connection: socket.socket) -> None:
        # a client that gives up ends the connection
        with connection, suppress(OSError):
            connection.recv(65_536)
            how(connection, ended)

    def serve_all() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                taken.append(threading.Thread(target=serve_one, args=(connection,)))
                taken[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_all)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/secret", taken
        finally:
            ended.set()
            server.shutdown(socket.SHUT_RDWR)
            for one in (thread, *taken):
                one.join()


@pytest.mark.parametrize(("how", "is_delivered"), [(drip, False), (talk_on, True)])
def test_an_address_that_never_ends_its_answer_holds_nothing_up(
    how: Callable[[socket.socket, threading.Event], None],
    is_delivered: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhooks, "TIMEOUT", 0.5)

    async def post(address: str) -> list[Any]:
        async with httpx2.AsyncClient(timeout=webhooks.TIMEOUT) as client:
            return [await webhooks._post(client, address, "{}") for _ in range(2)]

    with hanging(how) as (address, taken):
        problem = None if is_delivered else "no answer within 0.5 seconds"
        assert [one and one.reason for one in run_apart(post(address))] == [problem] * 2
        assert len(taken) == 2


def test_only_severe_alarms_wait_for_an_address_and_the_oldest_go_when_too_many_do(
    tmp_path: Path,
) -> None:
    addresses = [
        Webhook.model_validate({"url": f"http://{name}.example/", "severity": severity})
        for name, severity in (("all", 1.0), ("severe", 2.0))
    ]
    columns = (1, "pump", '["a"]', "none", None, 0, 0, 0, None, 0.0, 1.0, None, None)

    async def note() -> None:
        registry = SeriesRegistry(Settings(), tmp_path)
        registry.writer.start()
        webhooks = Webhooks(registry, tuple(addresses))

        async def waiting(alarms: list[tuple[float, str]]) -> list[list[float]]:
            """Severities of what waits for each address once these alarms have changed."""

            def work(changes: Changes) -> None:
                for severity, change in alarms:
                    webhooks.follow(changes, LiveSeries(columns), {"severity": severity}, change)

            await registry.writer.do(work)
            with registry.reader() as tables:
                found = [
                    tables.execute(
                        "select body from outbox where address = ? order by id", (str(one.url),)
                    ).fetchall()
                    for one in addresses
                ]
            return [[json.loads(row["body"])["alarm"]["severity"] for row in one] for one in found]

        few = await waiting([(1.9, OPENED), (2.0, OPENED), (3.0, UPDATED), (1.5, CLOSED)])
        assert few == [[1.9, 2.0, 1.5], [2.0]]
        many = await waiting([(4.0 + number, OPENED) for number in range(MAX_WAITING)])
        newest = [4.0 + number for number in range(MAX_WAITING)]
        assert many == [newest, newest]
        await registry.stop()

    run_apart(note())


def test_alarms_of_a_muted_series_are_not_posted_and_a_refusal_is_final(tmp_path: Path) -> None:
    rows = with_a_jump()
    with receiving(400) as (came, address):
        config = configure(tmp_path, address)
        with live(tmp_path / "data", "--config", str(config)) as service:
            service.push("quiet", rows[:5])
            service.post("/api/series/quiet/mute", {"for": "1h"})
            service.push("quiet", rows[5:])
            service.push("loud", rows)
            until(lambda: any(body["event"] == "closed" for _, body, _ in came))
            service.end()
    late = [body for _, body, _ in came if body["alarm"]["first"] > 300]
    assert {body["alarm"]["series"] for body in late} == {"loud"}
    first = came[0]
    # a request that is wrong is not made again
    assert first[0] == 400
    assert [body for _, body, _ in came].count(first[1]) == 1
