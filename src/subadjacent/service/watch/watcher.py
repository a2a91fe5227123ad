"""All queries of a watcher, side by side, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import sqlite3
import time
from contextlib import ExitStack, suppress

from prometheus_client import CollectorRegistry

from subadjacent.service.watch.endpoint import serving
from subadjacent.service.watch.exposition import Board, Health
from subadjacent.service.watch.grid import MILLISECONDS
from subadjacent.service.watch.prometheus_api import PrometheusAPI, ReadFailure, check_secrets
from subadjacent.service.watch.query import QueryWatch, Remark
from subadjacent.service.watch.schedule import Schedule
from subadjacent.service.watch.settings import Settings
from subadjacent.service.watch.store import Store

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def watch(settings: Settings, remark: Remark) -> int:
    """Watch until a signal comes; gives its number. ``remark`` gets sentences for people.

    Raises
    ------
    InputError
        At the start: the address is taken, the folder is in use, a token cannot be read.
    """
    check_secrets(settings)
    with ExitStack() as stack:
        store = None if settings.data is None else stack.enter_context(Store(settings.data))
        registry = CollectorRegistry()
        board = Board()
        registry.register(board)
        health = Health(registry)
        host, port = settings.address
        port = stack.enter_context(serving(registry, host, port))
        remark(f"metrics on http://{host}:{port}/metrics")
        return asyncio.run(_watch_all(settings, store, board, health, remark))


async def _watch_all(
    settings: Settings, store: Store | None, board: Board, health: Health, remark: Remark
) -> int:
    ended = asyncio.Event()
    got: list[int] = []

    def end(number: int) -> None:
        got.append(number)
        ended.set()

    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        # Windows has none of it; there Ctrl-C interrupts the loop
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, end, int(number))
    async with PrometheusAPI(settings) as api:
        turns = [
            Turns(QueryWatch(query, api, remark), store, board, health, remark)
            for query in settings.queries
        ]
        tasks = [asyncio.create_task(one.run()) for one in turns]
        waiting = asyncio.create_task(ended.wait())
        try:
            # no query ends by itself: one that does has met something that nobody foresaw
            await asyncio.wait([*tasks, waiting], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            # a task stops where it waits: no series is left with half of a row
            for task in tasks:
                task.cancel()
            waiting.cancel()
            await asyncio.gather(*tasks, waiting, return_exceptions=True)
            for one in turns:
                one.save()
    return got[0]


class Turns:
    """One query, asked again and again."""

    def __init__(
        self,
        query: QueryWatch,
        store: Store | None,
        board: Board,
        health: Health,
        remark: Remark,
    ) -> None:
        self._watch = query
        self._store = store
        self._board = board
        self._health = health
        self._remark = remark
        self._schedule = Schedule(query.query)
        self._told: str | None = None
        self._told_disk = False

    async def run(self) -> None:
        """Go on from what was kept, then take rows as they come, until cancelled."""
        if self._store is not None and self._store.restore(self._watch):
            name, series = self._watch.query.name, len(self._watch.series)
            self._remark(f"{name}: goes on with {series:,} series from before")
        while True:
            await asyncio.sleep(await self.turn() / MILLISECONDS)

    async def turn(self) -> int:
        """Take what is new; milliseconds until the next turn. Nothing that goes wrong ends it."""
        began, rows = time.monotonic(), self._watch.rows
        try:
            await self._watch.catch_up(_now())
        except ReadFailure as failure:
            return self._failed(failure.kind, str(failure))
        except Exception as error:
            # a fault of ours must not end the watch over all others
            log.debug("round failed", exc_info=True)
            self._watch.forget()
            return self._failed("internal", f"{type(error).__name__}: {error}")
        now = _now()
        if self._told is not None:
            self._remark(f"{self._watch.query.name}: answered again")
            self._told = None
        self._health.answered(self._watch, now, self._watch.rows - rows, time.monotonic() - began)
        self._board.show(self._watch)
        if self._schedule.should_save(now):
            self.save()
        return self._schedule.answered(now)

    def _failed(self, kind: str, text: str) -> int:
        self._health.failed(self._watch, kind)
        # a long outage is one remark
        if self._told != kind:
            self._remark(f"{self._watch.query.name}: no rows ({text}); trying again")
            self._told = kind
        if self._schedule.too_old(_now(), self._watch.clock):
            self._board.hide(self._watch)
        return self._schedule.failed()

    def save(self) -> None:
        """Keep what was learned; a disk that is full is said once, and no reason to stop."""
        if self._store is None:
            return
        try:
            self._store.save(self._watch)
            self._told_disk = False
        except (OSError, sqlite3.Error) as error:
            if not self._told_disk:
                self._remark(f"{self._watch.query.name}: state was not saved ({error})")
            self._told_disk = True


def _now() -> int:
    return int(time.time() * MILLISECONDS)
