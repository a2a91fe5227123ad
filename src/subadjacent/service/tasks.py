"""Queued tasks of the service, their table changes, and the groups that share a transaction."""

from __future__ import annotations

import asyncio
import sqlite3
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from subadjacent.service.events import LiveEvent
from subadjacent.service.scoring import ScoreCall, ScoredRows

MAX_GROUP_TASKS, MAX_GROUP_ROWS = 200, 2_000
"""Tasks and rows of one transaction; the rest wait about a tenth of a second."""


@dataclass(slots=True, eq=False)
class Changes:
    """The table changes of one task, and the events and callbacks that follow.

    ``touched`` are series whose state in memory must follow the tables. Once all is on disk,
    ``events`` are sent to listeners and ``then`` is called in the event loop; ``undo`` is called if
    the transaction fails.
    """

    tables: sqlite3.Connection
    touched: set[int] = field(default_factory=set)
    events: list[LiveEvent] = field(default_factory=list)
    then: list[Callable[[], None]] = field(default_factory=list)
    undo: list[Callable[[], None]] = field(default_factory=list)

    def add(self, other: Changes) -> None:
        """Take over the changes of another task."""
        self.touched |= other.touched
        self.events += other.events
        self.then += other.then
        self.undo += other.undo


Work = Callable[[Changes], Any]


class Push(Protocol):
    """A batch of rows pushed to one series."""

    name: str

    def prepare(self, tables: sqlite3.Connection) -> ScoreCall | None:
        """The scoring call for the rows, or None if there are none; changes nothing."""

    def finish(
        self, changes: Changes, call: ScoreCall | None, scored: ScoredRows | Exception | None
    ) -> Any:
        """Write the scored rows and return the result, or raise the scoring error."""


@dataclass(slots=True, eq=False)
class Task:
    """A queued task, work or a push, and the future of its result."""

    future: asyncio.Future[Any]
    work: Work | None
    push: Push | None = None
    rows: int = 0
    since: float = field(default_factory=clock.monotonic)
    call: ScoreCall | None = None
    scored: ScoredRows | Exception | None = None

    def run(self, changes: Changes) -> Any:
        """Do the work, or write the scored rows."""
        if self.push is None:
            assert self.work is not None
            return self.work(changes)
        return self.push.finish(changes, self.call, self.scored)


class TaskGroup:
    """Tasks that share one transaction.

    Pushes are scored before anything is done, so one that follows other work, or another push to
    its series, waits for the next transaction. A group that is scored while the one ``before`` is
    written has only pushes, none of them to a series of that one.
    """

    def __init__(self, before: TaskGroup | None = None) -> None:
        self.tasks: list[Task] = []
        self.rows = 0
        self.began = clock.monotonic()
        self.touched: set[int] = set()
        """Series whose streams may be ahead of the tables."""
        self.results: Callable[[], list[ScoredRows | Exception]] | None = None
        self.names: set[str | None] = set()
        self._before = before

    def fits(self, task: Task) -> bool:
        """Whether a task may join this transaction."""
        if len(self.tasks) >= MAX_GROUP_TASKS or self.rows >= MAX_GROUP_ROWS:
            return False
        if task.push is None:
            return self._before is None
        taken = self.names if self._before is None else self.names | self._before.names
        return taken.isdisjoint((None, task.push.name))

    def add(self, task: Task) -> None:
        """Add a task that fits."""
        self.tasks.append(task)
        self.rows += task.rows
        self.names.add(None if task.push is None else task.push.name)
