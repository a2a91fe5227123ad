"""Alarms are posted to a real server that fails at first."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from apart import run_apart
from live_service import live, until, with_a_jump
from subadjacent.service.hub import Hub
from subadjacent.service.schema import FILE
from subadjacent.service.settings import Settings, Webhook
from subadjacent.service.webhooks import Webhooks


class Receiver(ThreadingHTTPServer):
    """Answers with the statuses that it was told, then with 200; keeps what came."""

    daemon_threads = True
    statuses: list[int]
    came: list[tuple[int, dict[str, Any], str | None]]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.server.came.append((status, body, self.headers.get("Authorization")))
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def receiving(*statuses: int) -> Iterator[tuple[Receiver, str]]:
    server = Receiver(("127.0.0.1", 0), Handler)
    server.statuses, server.came = list(statuses), []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}/alarms"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def configure(folder: Path, *addresses: str) -> Path:
    parts = [f'[[webhooks]]\nurl = "{address}"\ntoken = "secret"\n' for address in addresses]
    path = folder / "config.toml"
    path.write_text("\n".join(parts))
    return path


def test_an_alarm_is_posted_until_it_is_taken_even_after_a_kill(tmp_path: Path) -> None:
    rows = with_a_jump()
    with receiving(503, 500) as (receiver, address):
        config = configure(tmp_path, address)
        with live(tmp_path / "data", "--config", str(config)) as service:
            service.push("pump", rows[:410])
            # it was refused once, and waits for its next try
            until(lambda: len(receiver.came) >= 1)
            service.kill()
            service.start()
            until(lambda: any(status == 200 for status, _, _ in receiver.came))
            service.push("pump", rows[410:])
            until(lambda: receiver.came[-1][1]["event"] == "closed")
            key = receiver.came[-1][1]["alarm"]["id"]
            assert service.get(f"/api/alarms/{key}")["state"] == "closed"
            service.end()
    statuses = [status for status, _, _ in receiver.came]
    assert statuses[:2] == [503, 500]
    assert set(statuses[2:]) == {200}
    assert {token for _, _, token in receiver.came} == {"Bearer secret"}
    delivered = [body for status, body, _ in receiver.came if status == 200]
    events = [(body["alarm"]["id"], body["event"]) for body in delivered]
    # once each, in order: opened before closed
    assert len(events) == len(set(events))
    assert (key, "opened") in events
    assert events.index((key, "opened")) < events.index((key, "closed"))
    assert all(body["alarm"]["sentence"] for body in delivered)


def test_what_cannot_be_forgotten_on_a_full_disk_is_not_sent_again(tmp_path: Path) -> None:
    async def deliver(address: str) -> None:
        webhook = Webhook.model_validate({"url": address})
        hub = Hub(Settings(webhooks=(webhook,)), tmp_path)
        # a lock that is held looks to the writer as a disk does that is full, but at once
        hub._tables.execute("pragma busy_timeout = 0")
        for event in ("first", "second"):
            hub._tables.execute(
                "insert into outbox (address, body) values (?, ?)",
                (str(webhook.url), json.dumps({"event": event})),
            )
        hub.writer.start()
        webhooks = Webhooks(hub, (webhook,))
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("begin immediate")
            webhooks.start()
            await asyncio.to_thread(until, lambda: webhooks.delivered == 1)
            other.execute("rollback")
        await asyncio.to_thread(until, lambda: webhooks.delivered == 2)
        await webhooks.stop()
        await hub.stop()

    with receiving() as (receiver, address):
        run_apart(deliver(address))
    assert [body["event"] for _, body, _ in receiver.came] == ["first", "second"]


def test_alarms_of_a_muted_series_are_not_posted_and_a_refusal_is_final(tmp_path: Path) -> None:
    rows = with_a_jump()
    with receiving(400) as (receiver, address):
        config = configure(tmp_path, address)
        with live(tmp_path / "data", "--config", str(config)) as service:
            service.push("quiet", rows[:5])
            service.post("/api/series/quiet/mute", {"for": "1h"})
            service.push("quiet", rows[5:])
            service.push("loud", rows)
            until(lambda: any(body["event"] == "closed" for _, body, _ in receiver.came))
            service.end()
    late = [body for _, body, _ in receiver.came if body["alarm"]["first"] > 300]
    assert {body["alarm"]["series"] for body in late} == {"loud"}
    first = receiver.came[0]
    # a request that is wrong is not made again
    assert first[0] == 400
    assert [body for _, body, _ in receiver.came].count(first[1]) == 1
