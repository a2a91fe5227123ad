"""The one thread that writes to the tables: queued requests share a transaction.

A request is answered when its transaction is on disk. While the disk is busy with one group of
requests the next one gathers, so a thousand requests a second take some dozen commits. All rows of
a group are scored in one call of the scoring process. On a busy machine the next group is scored
while one is written: two processes that wait for each other get half the share of the cores.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from subadjacent.service.events import LiveEvent
from subadjacent.service.problems import Refusal, refusal_of
from subadjacent.service.scoring import ScoreCall, ScoredRows
from subadjacent.service.tasks import Changes, Push, Task, TaskGroup, Work

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.01
"""From the beginning of one transaction to that of the next, while several requests come at a time:
each wakes two threads and the disk. Without it this thread took a fifth more of a core for 400 rows
a second on a busy machine. A client that sends one request after the other does not wait."""

CHORE_SECONDS = 1.0
"""From one chore, such as deleting old rows, to the next."""

MAX_TASKS = 10_000
"""Queued tasks; beyond that, clients are told to send again later."""


class Owner(Protocol):
    """The in-memory state that mirrors the tables."""

    def undo(self, touched: set[int], tables: sqlite3.Connection) -> None:
        """Reload these series from the tables after a rollback."""

    def publish(self, events: list[LiveEvent]) -> None:
        """Send events to listeners; called in the event loop."""

    def score(self, calls: Sequence[ScoreCall]) -> Callable[[], list[ScoredRows | Exception]]:
        """Begin to score rows of several series; return a function that waits for the results."""

    def learn(self) -> bool:
        """Learn while idle; return whether there is more to learn."""

    def do_chores(self, changes: Changes) -> None:
        """Run periodic maintenance; called about every second."""


class Writer:
    """The thread that runs all tasks that write to the tables."""

    def __init__(
        self,
        tables: sqlite3.Connection,
        owner: Owner,
        *,
        max_rows: int,
        max_seconds: float = math.inf,
    ) -> None:
        self._tables, self._owner = tables, owner
        self._max_rows, self._max_seconds = max_rows, max_seconds
        self._loop = asyncio.get_running_loop()
        self._urgent: deque[Task] = deque()
        self._patient: deque[Task] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self.rows_waiting = 0
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def stop(self, last: Work) -> None:
        """Finish all queued tasks, run ``last``, then end the thread."""
        try:
            await self.do(last)
        except Refusal as refusal:
            # as after a kill: the next start rebuilds what is missing
            log.warning("the final task failed: %s", refusal)
        with self._wake:
            self._stopping = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join)

    @property
    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    @property
    def tasks_waiting(self) -> int:
        """The number of queued tasks."""
        return len(self._urgent) + len(self._patient)

    async def do(self, work: Work, *, patient: bool = False) -> Any:
        """Run work in a transaction; return its committed result. ``patient`` work runs last."""
        return await self._add(Task(self._loop.create_future(), work), patient=patient)

    async def push(self, push: Push, rows: int, *, patient: bool = False) -> Any:
        """Score and write a push; return its result once committed."""
        task = Task(self._loop.create_future(), None, push, rows)
        return await self._add(task, patient=patient)

    async def _add(self, task: Task, *, patient: bool) -> Any:
        with self._wake:
            if not patient:
                self._check_room(task.rows)
            (self._patient if patient else self._urgent).append(task)
            self.rows_waiting += task.rows
            self._wake.notify()
        return await task.future

    def _check_room(self, rows: int) -> None:
        """Refuse a task if the queue is full or too slow."""
        why = ""
        # a request that fits in by itself is taken by an empty queue, however large it is
        if rows and self.rows_waiting and self.rows_waiting + rows > self._max_rows:
            queued = f"{self.rows_waiting:,} of at most {self._max_rows:,} rows"
            why = f"no room in the scoring queue, which holds {queued}"
        elif self.tasks_waiting >= MAX_TASKS:
            why = f"{self.tasks_waiting:,} requests are waiting, the most allowed"
        elif rows and self._urgent:
            # on a machine that is busy few rows wait long; what people click is done all the same
            waited = clock.monotonic() - self._urgent[0].since
            if waited >= self._max_seconds:
                why = f"the machine is too busy: rows have waited {waited:.0f} s to be scored"
        if why:
            raise Refusal(429, f"{why}; send this again in a moment")

    def _run(self) -> None:
        last_chore = clock.monotonic()
        ahead: TaskGroup | None = None
        while (group := ahead or self._next_group()) is not None:
            ahead = self._do(group) if group.tasks else None
            if ahead is None and len(group.tasks) > 1:
                clock.sleep(max(0.0, group.began + GATHER_SECONDS - clock.monotonic()))
            # busy or not: chores must not wait for ever
            if clock.monotonic() >= last_chore + CHORE_SECONDS:
                self._do_chores()
                last_chore = clock.monotonic()

    def _next_group(self) -> TaskGroup | None:
        """The next group of tasks; empty if none is queued; None once stopped."""
        with self._wake:
            if not self._urgent and not self._patient and self._stopping:
                return None
            idle = not self._urgent and not self._patient
        if idle and not self._learn():
            with self._wake:
                if not self._urgent and not self._patient and not self._stopping:
                    self._wake.wait(CHORE_SECONDS)
        with self._wake:
            return self._fill(TaskGroup())

    def _fill(self, group: TaskGroup) -> TaskGroup:
        while self._urgent and group.fits(self._urgent[0]):
            group.add(self._urgent.popleft())
        if self._patient and group.fits(self._patient[0]):
            group.add(self._patient.popleft())
        self.rows_waiting -= group.rows
        return group

    def _score_ahead(self, group: TaskGroup) -> TaskGroup | None:
        """Begin to score the next group before this one is written, where requests pile up."""
        if clock.monotonic() < group.began + GATHER_SECONDS:
            return None
        with self._wake:
            # work that is patient would wait for as long as rows pile up
            if self._patient and self._patient[0].push is None:
                return None
            ahead = self._fill(TaskGroup(before=group))
        if not ahead.tasks:
            return None
        self._begin_scoring(ahead)
        return ahead

    def _learn(self) -> bool:
        try:
            return self._owner.learn()
        except Exception:
            log.exception("streams could not learn")
            return False

    def _do(self, group: TaskGroup) -> TaskGroup | None:
        """Run a group in one transaction; return the next group if it is being scored."""
        changes, ahead = Changes(self._tables, touched=group.touched), None
        try:
            self._tables.execute("begin immediate")
            if group.results is None:
                self._begin_scoring(group)
            self._finish_scoring(group)
            ahead = self._score_ahead(group)
            done = [(task, *self._run_task(task, changes)) for task in group.tasks]
            self._tables.execute("commit")
        except Exception as error:
            refusal = self._roll_back(error, changes)
            self._deliver([(task, None, refusal) for task in group.tasks], Changes(self._tables))
        else:
            self._deliver(done, changes)
        return ahead

    def _begin_scoring(self, group: TaskGroup) -> None:
        """Score all pushes in one call; store an error of preparing one in its task."""
        calls = []
        for task in group.tasks:
            try:
                task.call = None if task.push is None else task.push.prepare(self._tables)
            except Exception as error:
                task.scored = error
            if task.call is not None:
                calls.append(task.call)
        # whatever happens from here on, their streams may be ahead of the tables
        group.touched |= {call.key for call in calls}
        group.results = self._owner.score(calls) if calls else list

    def _finish_scoring(self, group: TaskGroup) -> None:
        """Wait for the scores; store each result or error in its task."""
        assert group.results is not None
        called = [task for task in group.tasks if task.call is not None]
        try:
            found = group.results()
        except Refusal as refusal:
            found = [refusal] * len(called)
        for task, scored in zip(called, found, strict=True):
            task.scored = scored

    def _run_task(self, task: Task, group: Changes) -> tuple[Any, Refusal | None]:
        """Run one task; if it fails, undo only its own changes."""
        own = Changes(self._tables)
        if task.call is not None:
            own.touched.add(task.call.key)
        self._tables.execute("savepoint task")
        try:
            result = task.run(own)
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

    def _do_chores(self) -> None:
        changes = Changes(self._tables)
        try:
            self._tables.execute("begin immediate")
            self._owner.do_chores(changes)
            self._tables.execute("commit")
        except Exception as error:
            self._roll_back(error, changes)
        else:
            self._deliver([], changes)

    def _roll_back(self, error: Exception, changes: Changes) -> Refusal:
        """Roll a transaction back. This thread must never die: there is no other."""
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
            log.exception("cannot reload series from the tables")
        return refusal

    def _undo(self, changes: Changes) -> None:
        for undo in changes.undo:
            undo()
        self._owner.undo(changes.touched, self._tables)

    def _deliver(
        self,
        done: list[tuple[Task, Any, Refusal | None]],
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
