"""The one thread that writes to the tables: queued requests share a transaction.

A request is answered when its transaction is on disk. While the disk is busy with one group of
requests the next one gathers, so a thousand requests a second take some dozen commits. All rows of
a group are scored in one call of the scoring process.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from subadjacent.service.problems import Refusal, refusal_of
from subadjacent.service.scoring import ScoreCall, ScoredRows

if TYPE_CHECKING:
    from subadjacent.service.pushes import Push

log = logging.getLogger(__name__)

T = TypeVar("T")

GATHER_SECONDS = 0.01
"""From the beginning of one transaction to that of the next, while several requests come at a time:
each wakes two threads and the disk. Without it this thread took a fifth more of a core for 400 rows
a second on a busy machine. A client that sends one request after the other does not wait."""

CHORE_SECONDS = 1.0
"""From one chore, such as deleting old rows, to the next."""

MAX_TASKS = 10_000
"""Queued tasks; beyond that, clients are told to send again later."""

MAX_GROUP_TASKS, MAX_GROUP_ROWS = 200, 2_000
"""Tasks and rows of one transaction; the rest wait about a tenth of a second."""


@dataclass(slots=True, eq=False)
class Changes:
    """The table changes of one task, and the callbacks that follow.

    ``touched`` are series whose state in memory must follow the tables. Once all is on disk,
    ``then`` is called in the event loop.
    """

    tables: sqlite3.Connection
    touched: set[int] = field(default_factory=set)
    then: list[Callable[[], None]] = field(default_factory=list)

    def add(self, other: Changes) -> None:
        """Take over the changes of another task."""
        self.touched |= other.touched
        self.then += other.then


@dataclass(slots=True, eq=False)
class QueuedTask:
    """Queued work, such as to finish a push of rows, and the future of its result."""

    future: asyncio.Future[Any]
    work: Callable[[Changes], Any]
    rows: int = 0
    push: Push | None = None
    since: float = field(default_factory=clock.monotonic)


Done = list[tuple[QueuedTask, Any, Refusal | None]]
"""Tasks with their result, or the refusal of those that failed."""


class Writer:
    """The thread that runs all tasks that write to the tables.

    ``undo`` reads touched series from the tables again; ``chore`` is done now and then.
    """

    def __init__(
        self,
        tables: sqlite3.Connection,
        *,
        score: Callable[[Sequence[ScoreCall]], list[ScoredRows | Exception]],
        undo: Callable[[set[int]], None],
        chore: Callable[[Changes], None],
        max_rows: int,
        max_seconds: float,
    ) -> None:
        self._tables, self._score_calls, self._undo, self._chore = tables, score, undo, chore
        self._max_rows, self._max_seconds = max_rows, max_seconds
        self._loop = asyncio.get_running_loop()
        self._urgent: deque[QueuedTask] = deque()
        self._patient: deque[QueuedTask] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self.rows_waiting = 0
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    async def stop(self, last: Callable[[Changes], None]) -> None:
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

    async def do(self, work: Callable[[Changes], T]) -> T:
        """Run work in a transaction; return its committed result."""
        found: T = await self._add(QueuedTask(self._loop.create_future(), work), patient=False)
        return found

    async def push(self, push: Push, rows: int, *, patient: bool = False) -> dict[str, Any]:
        """Score and write a push; return its record once committed. ``patient`` ones come last."""
        task = QueuedTask(self._loop.create_future(), push.finish, rows, push)
        found: dict[str, Any] = await self._add(task, patient=patient)
        return found

    async def _add(self, task: QueuedTask, *, patient: bool) -> Any:
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
        while not self._stopping or self.tasks_waiting:
            began = clock.monotonic()
            if group := self._next_group():
                self._write(group)
                if len(group) > 1:
                    clock.sleep(max(0.0, began + GATHER_SECONDS - clock.monotonic()))
            else:
                with self._wake:
                    if not self.tasks_waiting and not self._stopping:
                        self._wake.wait(CHORE_SECONDS)
            # busy or not: chores must not wait for ever
            if clock.monotonic() >= last_chore + CHORE_SECONDS:
                nobody = self._loop.create_future()
                nobody.cancel()
                self._write([QueuedTask(nobody, self._chore)])
                last_chore = clock.monotonic()

    def _next_group(self) -> list[QueuedTask]:
        """Tasks that share the next transaction.

        Pushes are scored before anything is done, so one that follows other work, or another push
        to its series, waits for the transaction after.
        """
        group: list[QueuedTask] = []
        names: set[str | None] = set()
        rows = 0
        with self._wake:
            # of what is patient, one task at a time
            for queue, most in ((self._urgent, MAX_GROUP_TASKS), (self._patient, 1)):
                for _ in range(min(most, MAX_GROUP_TASKS - len(group), len(queue))):
                    name = None if queue[0].push is None else queue[0].push.name
                    may_join = name is None or names.isdisjoint((None, name))
                    if rows >= MAX_GROUP_ROWS or not may_join:
                        break
                    names.add(name)
                    rows += queue[0].rows
                    group.append(queue.popleft())
            self.rows_waiting -= rows
        return group

    def _write(self, group: list[QueuedTask]) -> None:
        """Run a group in one transaction, and answer it."""
        changes = Changes(self._tables)
        try:
            self._tables.execute("begin immediate")
            self._score(group, changes)
            done: Done = [(task, *self._run_task(task, changes)) for task in group]
            self._tables.execute("commit")
        except Exception as error:
            refusal = self._roll_back(error, changes)
            done, changes = [(task, None, refusal) for task in group], Changes(self._tables)
        self._loop.call_soon_threadsafe(self._deliver, done, changes)

    def _score(self, group: list[QueuedTask], changes: Changes) -> None:
        """Score the rows of all pushes in one call; each push gets its result or error."""
        calls: dict[Push, ScoreCall] = {}
        for push in (task.push for task in group if task.push is not None):
            try:
                push.prepare(self._tables)
            except Exception as error:
                push.scored = error
            if push.call is not None:
                calls[push] = push.call
        if not calls:
            return
        # whatever happens from here on, their streams may be ahead of the tables
        changes.touched |= {call.key for call in calls.values()}
        try:
            scored = self._score_calls(list(calls.values()))
        except Refusal as refusal:
            scored = [refusal] * len(calls)
        for push, found in zip(calls, scored, strict=True):
            push.scored = found

    def _run_task(self, task: QueuedTask, group: Changes) -> tuple[Any, Refusal | None]:
        """Run one task; if it fails, undo only its own changes."""
        own = Changes(self._tables)
        if task.push is not None and task.push.call is not None:
            own.touched.add(task.push.call.key)
        self._tables.execute("savepoint task")
        try:
            result = task.work(own)
        except sqlite3.Error:
            group.add(own)
            raise
        except Exception as error:
            self._tables.execute("rollback to task")
            self._tables.execute("release task")
            self._undo(own.touched)
            refusal = refusal_of(error)
            if refusal.status == 500:
                log.exception("a request failed")
            return None, refusal
        self._tables.execute("release task")
        group.add(own)
        return result, None

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
            self._undo(changes.touched)
        except Exception:
            log.exception("cannot reload series from the tables")
        return refusal

    def _deliver(self, done: Done, changes: Changes) -> None:
        for task, result, refusal in done:
            # whoever asked may have gone
            if task.future.done():
                continue
            if refusal is None:
                task.future.set_result(result)
            else:
                task.future.set_exception(refusal)
        for follow in changes.then:
            follow()
