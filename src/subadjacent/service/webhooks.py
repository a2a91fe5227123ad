"""Webhooks: alarms are kept until their addresses have received them.

An alarm to send is written in the transaction that opens or closes it, so that a kill loses none.
An address that does not answer is tried again after longer and longer pauses; when too many alarms
wait for it, the oldest is dropped.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, NamedTuple

import httpx2

from subadjacent.decision.alarms import CONFIRMED, WITHDRAWN
from subadjacent.decision.machine import CLOSED, OPENED
from subadjacent.service.problems import Refusal
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.series import LiveSeries
from subadjacent.service.settings import Webhook
from subadjacent.service.writer import Changes

log = logging.getLogger(__name__)

MAX_WAITING = 1_000
"""Alarms that wait for one address."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before the second try, and at most between two; each pause is twice the one before."""

MAX_TRIES = 12
"""About three quarters of an hour, then the alarm is dropped and the next one tried."""

TIMEOUT = 10.0
"""Seconds that an address may take to answer."""

RETRIED_STATUSES = (408, 425, 429)
"""Of the answers that blame the request, those that may change."""


class Webhooks:
    """Posts alarms; used in the event loop, but for ``follow``."""

    def __init__(self, registry: SeriesRegistry, addresses: tuple[Webhook, ...]) -> None:
        self._registry, self._addresses = registry, addresses
        self._wake = [asyncio.Event() for _ in addresses]
        self._tasks: list[asyncio.Task[None]] = []
        if addresses:
            registry.on_alarm.append(self.follow)

    def start(self) -> None:
        """Start sending, first the deliveries that the last run left."""
        self._tasks = [
            asyncio.create_task(self._send_all(address, wake))
            for address, wake in zip(self._addresses, self._wake, strict=True)
        ]

    async def stop(self) -> None:
        """End; what was not delivered stays in the table."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    def follow(
        self, changes: Changes, series: LiveSeries, alarm: dict[str, Any], change: str
    ) -> None:
        """Note an alarm that was opened or closed; called by the writer."""
        if change not in (OPENED, CLOSED, CONFIRMED, WITHDRAWN) or series.is_muted:
            return
        body = json.dumps({"event": change, "alarm": alarm})
        for address, wake in zip(self._addresses, self._wake, strict=True):
            if alarm["severity"] >= address.severity:
                changes.tables.execute(
                    "insert into outbox (address, body) values (?, ?)", (str(address.url), body)
                )
                changes.tables.execute(
                    "delete from outbox where address = ? and id <= (select id from outbox "
                    "where address = ? order by id desc limit 1 offset ?)",
                    (str(address.url), str(address.url), MAX_WAITING),
                )
                changes.then.append(wake.set)

    async def _send_all(self, address: Webhook, wake: asyncio.Event) -> None:
        headers = {"Content-Type": "application/json"}
        if address.token is not None:
            headers["Authorization"] = f"Bearer {address.token}"
        async with httpx2.AsyncClient(timeout=TIMEOUT, headers=headers) as client:
            while True:
                wake.clear()
                try:
                    await self._send_waiting(client, str(address.url))
                except Exception:
                    # later alarms must not be lost with it
                    log.exception("webhooks stand still for a while")
                    await asyncio.sleep(LONGEST_PAUSE)
                else:
                    await wake.wait()

    async def _send_waiting(self, client: httpx2.AsyncClient, url: str) -> None:
        while (found := await asyncio.to_thread(self._oldest, url)) is not None:
            await self._deliver(client, url, *found)

    def _oldest(self, url: str) -> tuple[int, str] | None:
        with self._registry.reader() as tables:
            found = tables.execute(
                "select id, body from outbox where address = ? order by id limit 1", (url,)
            ).fetchone()
        return None if found is None else (found["id"], found["body"])

    async def _deliver(self, client: httpx2.AsyncClient, url: str, key: int, body: str) -> None:
        pause = FIRST_PAUSE
        for _ in range(MAX_TRIES):
            problem = await _post(client, url, body)
            if problem is None:
                break
            # the rest of an address may hold a secret
            log.warning(
                "a webhook to %s was not delivered: %s", httpx2.URL(url).host, problem.reason
            )
            if problem.is_final:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        await self._forget(key)

    async def _forget(self, key: int) -> None:
        def work(changes: Changes) -> None:
            changes.tables.execute("delete from outbox where id = ?", (key,))

        while True:
            try:
                await self._registry.writer.do(work)
            except Refusal:
                # on a full disk: an alarm that stays in the table would be sent again
                await asyncio.sleep(FIRST_PAUSE)
            else:
                return


class _Problem(NamedTuple):
    """Why an alarm was not delivered, and whether another try would be in vain."""

    reason: str
    is_final: bool = False


async def _post(client: httpx2.AsyncClient, url: str, body: str) -> _Problem | None:
    try:
        # a limit for all of it: the client's own is for each piece. Only the head of the answer is
        # read, so that an address that hangs or never ends delays no later alarm
        async with asyncio.timeout(TIMEOUT), client.stream("POST", url, content=body) as response:
            status = response.status_code
    except TimeoutError:
        return _Problem(f"no answer within {TIMEOUT:g} seconds")
    except httpx2.HTTPError as error:
        return _Problem(type(error).__name__)
    if response.is_success:
        return None
    return _Problem(f"status {status}", 400 <= status < 500 and status not in RETRIED_STATUSES)
