"""The one thread that changes anything: what has queued is done in one transaction.

A request is answered when its transaction is on disk. While the disk is busy with one group of
requests the next one gathers, so that a thousand requests a second cost some dozen commits.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from subadjacent.service.events import LiveEvent
from subadjacent.service.problems import Refusal, refusal_of

log = logging.getLogger(__name__)

GROUP_TASKS, GROUP_ROWS = 200, 2_000
"""Most tasks and rows of one transaction; those behind them wait for a tenth of a second or so."""

EARLY = 16
"""Tasks that are begun before they are done: as many as may be asked of streams ahead."""

GATHER = 0.01
"""Seconds from the beginning of one transaction to that of the next, while several requests come at
a time: each wakes two threads and the disk. Without it this thread took a fifth more of a core for
400 rows a second on a busy machine. A client that sends one request after the other does not
wait."""

CHORES_EVERY = 1.0
"""Seconds from one piece of work that can wait to the next."""

MOST_TASKS = 10_000
"""That wait, whatever they are; beyond, clients are told to come again."""


@dataclass(slots=True, eq=False)
class Changes:
    """What one task does: it writes to the tables, and notes what must be known of it.

    ``touched`` are series whose state in memory follows the tables; ``events`` are told to
    listeners, and ``then`` is called in the event loop, once all is on disk; ``undo`` is called if
    it does not come there.
    """

    tables: sqlite3.Connection
    touched: set[int] = field(default_factory=set)
    events: list[LiveEvent] = field(default_factory=list)
    then: list[Callable[[], None]] = field(default_factory=list)
    undo: list[Callable[[], None]] = field(default_factory=list)

    def add(self, other: Changes) -> None:
        """Take over what another one noted."""
        self.touched |= other.touched
        self.events += other.events
        self.then += other.then
        self.undo += other.undo


Work = Callable[[Changes], Any]


class Owner(Protocol):
    """Whoever keeps in memory what the tables say."""

    def undo(self, touched: set[int], tables: sqlite3.Connection) -> None:
        """Read anew what tables say of these series: what was done to them is not there."""

    def publish(self, events: list[LiveEvent]) -> None:
        """Tell listeners; called in the event loop."""

    def settle(self, tables: sqlite3.Connection) -> None:
        """Put away what was begun early for work that then was not done."""

    def idle(self, changes: Changes) -> None:
        """Do a piece of work that can wait. Called about every second."""


@dataclass(slots=True, eq=False)
class _Task:
    work: Work
    future: asyncio.Future[Any]
    rows: int
    early: Callable[[], None] | None
    since: float = field(default_factory=clock.monotonic)


def _begun_early(group: list[_Task]) -> Iterator[_Task]:
    """The tasks in order; before one is done, those behind it that can are begun."""
    begun = 0
    for place, task in enumerate(group):
        begun = max(begun, place)
        while begun < min(place + EARLY, len(group)) and (early := group[begun].early):
            try:
                early()
            except Exception:
                # whoever asked is told when the task itself fails
                log.debug("a task could not be begun early", exc_info=True)
            begun += 1
        yield task


class Writer:
    """Takes work from the event loop, does it in its own thread, and gives the results back."""

    def __init__(
        self,
        tables: sqlite3.Connection,
        owner: Owner,
        *,
        most_rows: int,
        most_seconds: float = math.inf,
    ) -> None:
        self._tables, self._owner = tables, owner
        self._most_rows, self._most_seconds = most_rows, most_seconds
        self._loop = asyncio.get_running_loop()
        self._urgent: deque[_Task] = deque()
        self._patient: deque[_Task] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self.rows_waiting = 0
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    async def stop(self, last: Work) -> None:
        """Do what has queued, then a last piece of work, then end."""
        try:
            await self.do(last)
        except Refusal as refusal:
            # as after a kill: the next start makes anew what is not there
            log.warning("the last piece of work was not done: %s", refusal)
        with self._wake:
            self._stopping = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join)

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    @property
    def tasks_waiting(self) -> int:
        """How many pieces of work have queued."""
        return len(self._urgent) + len(self._patient)

    async def do(
        self,
        work: Work,
        *,
        rows: int = 0,
        patient: bool = False,
        early: Callable[[], None] | None = None,
    ) -> Any:
        """Have a piece of work done; its result, once it is on disk.

        ``rows`` is how much it weighs in the queue. ``patient`` work comes after all other.
        ``early`` begins what goes on elsewhere while work before it is done; only work that can
        begin early stands between the two.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        with self._wake:
            if not patient:
                self._check_room(rows)
            (self._patient if patient else self._urgent).append(_Task(work, future, rows, early))
            self.rows_waiting += rows
            self._wake.notify()
        return await future

    def _check_room(self, rows: int) -> None:
        """Refuse work that would wait for too long."""
        why = ""
        # a request that fits in by itself is taken by an empty queue, however large it is
        if rows and self.rows_waiting and self.rows_waiting + rows > self._most_rows:
            why = f"{self.rows_waiting:,} rows wait to be scored, and {self._most_rows:,} may"
        elif self.tasks_waiting >= MOST_TASKS:
            why = f"{self.tasks_waiting:,} requests wait, and no more may"
        elif rows and self._urgent:
            # on a machine that is busy few rows wait long; what people click is done all the same
            waited = clock.monotonic() - self._urgent[0].since
            if waited >= self._most_seconds:
                why = f"rows wait for {waited:.0f} s to be scored, the machine is too busy"
        if why:
            raise Refusal(429, f"{why}: send this again in a moment")

    def _run(self) -> None:
        rested = clock.monotonic()
        while (group := self._next()) is not None:
            began = clock.monotonic()
            if group:
                self._do(group)
            if len(group) > 1:
                clock.sleep(max(0.0, began + GATHER - clock.monotonic()))
            # busy or not: what can wait must not wait for ever
            if clock.monotonic() >= rested + CHORES_EVERY:
                self._rest()
                rested = clock.monotonic()

    def _next(self) -> list[_Task] | None:
        """What is done together; nothing after a second without work; None in the end."""
        with self._wake:
            if not self._urgent and not self._patient:
                if self._stopping:
                    return None
                self._wake.wait(CHORES_EVERY)
            group: list[_Task] = []
            rows = 0
            while self._urgent and len(group) < GROUP_TASKS and rows < GROUP_ROWS:
                group.append(self._urgent.popleft())
                rows += group[-1].rows
            if self._patient and rows < GROUP_ROWS:
                group.append(self._patient.popleft())
            self.rows_waiting -= sum(task.rows for task in group)
            return group

    def _do(self, group: list[_Task]) -> None:
        changes = Changes(self._tables)
        try:
            self._tables.execute("begin immediate")
            done = [(task, *self._one(task, changes)) for task in _begun_early(group)]
            self._tables.execute("commit")
        except Exception as error:
            refusal = self._give_up(error, changes)
            self._settle()
            self._deliver([(task, None, refusal) for task in group], Changes(self._tables))
            return
        self._settle()
        self._deliver(done, changes)

    def _settle(self) -> None:
        try:
            self._owner.settle(self._tables)
        except Exception:
            log.exception("what the tables say cannot be read")

    def _one(self, task: _Task, group: Changes) -> tuple[Any, Refusal | None]:
        """Do one task; where it fails, only its own changes go."""
        own = Changes(self._tables)
        self._tables.execute("savepoint task")
        try:
            result = task.work(own)
        except sqlite3.Error:
            group.add(own)
            raise
        except Exception as error:
            self._tables.execute("rollback to task")
            self._tables.execute("release task")
            self._undo(own)
            refusal = refusal_of(error)
            if refusal.status == 500:
                log.exception("a request failed")
            return None, refusal
        self._tables.execute("release task")
        group.add(own)
        return result, None

    def _rest(self) -> None:
        """Nothing has queued: do what can wait."""
        changes = Changes(self._tables)
        try:
            self._tables.execute("begin immediate")
            self._owner.idle(changes)
            self._tables.execute("commit")
        except Exception as error:
            self._give_up(error, changes)
        else:
            self._deliver([], changes)

    def _give_up(self, error: Exception, changes: Changes) -> Refusal:
        """Take back a transaction. Whatever happened, this thread goes on: there is no other."""
        refusal = refusal_of(error)
        if refusal.status == 500:
            log.error("a transaction failed", exc_info=error)
        else:
            log.warning("a transaction failed: %s", error)
        try:
            if self._tables.in_transaction:
                self._tables.execute("rollback")
            self._undo(changes)
        except Exception:
            log.exception("what the tables say cannot be read")
        return refusal

    def _undo(self, changes: Changes) -> None:
        for undo in changes.undo:
            undo()
        self._owner.undo(changes.touched, self._tables)

    def _deliver(
        self,
        done: list[tuple[_Task, Any, Refusal | None]],
        changes: Changes,
    ) -> None:
        def deliver() -> None:
            for task, result, refusal in done:
                # whoever asked may have gone
                if task.future.done():
                    continue
                if refusal is None:
                    task.future.set_result(result)
                else:
                    task.future.set_exception(refusal)
            self._owner.publish(changes.events)
            for follow in changes.then:
                follow()

        self._loop.call_soon_threadsafe(deliver)
