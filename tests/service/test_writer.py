"""The writer on real tables: what fails takes only its own with it, and is undone."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apart import run_apart
from subadjacent.errors import InputError
from subadjacent.service.problems import Refusal
from subadjacent.service.scoring import ScoreCall, ScoredRows
from subadjacent.service.writer import MAX_TASKS, Changes, Writer

TRIES = 10_000
DISK_ERROR = sqlite3.OperationalError("disk I/O error")


class Desk:
    """A writer on its tables; notes what it is told. ``broken``: undoing and chores fail so."""

    def __init__(self, folder: Path, max_seconds: float = math.inf) -> None:
        self.file = folder / "tables.sqlite"
        self.tables = sqlite3.connect(
            self.file, isolation_level=None, check_same_thread=False, timeout=0
        )
        self.tables.execute("pragma journal_mode = wal")
        self.tables.execute("create table if not exists notes (text)")
        self.undone: list[set[int]] = []
        self.then: list[str] = []
        self.scored: list[list[int]] = []
        self.chores = 0
        self.broken: Exception | None = None
        self.writer = Writer(
            self.tables,
            score=self.score,
            undo=self.undo,
            chore=self.chore,
            max_rows=100,
            max_seconds=max_seconds,
        )

    def undo(self, touched: set[int]) -> None:
        self.undone.append(touched)
        if self.broken:
            raise self.broken

    def score(self, calls: Sequence[ScoreCall]) -> list[ScoredRows | Exception]:
        self.scored.append([call.key for call in calls])
        return [ScoredRows([], None) for _ in calls]

    def chore(self, _: Changes) -> None:
        self.chores += 1
        if self.broken:
            raise self.broken

    def work(self, text: str, error: Exception | None = None) -> Callable[[Changes], str]:
        """Write a line, tell of it, and fail if so wanted."""

        def write(changes: Changes) -> str:
            changes.tables.execute("insert into notes values (?)", (text,))
            changes.touched.add(len(text))
            changes.then.append(lambda: self.then.append(text))
            if error is not None:
                raise error
            return text.upper()

        return write

    def do(self, text: str, error: Exception | None = None) -> Coroutine[Any, Any, str]:
        return self.writer.do(self.work(text, error))

    def push(self, name: str, key: int, fails: str = "", rows: int = 1, **how: Any) -> Any:
        push: Any = Rows(name, key, fails)
        return self.writer.push(push, rows, **how)

    def kept(self) -> list[str]:
        with closing(sqlite3.connect(self.file)) as tables:
            return [text for (text,) in tables.execute("select text from notes")]

    async def started_with(self, *work: Awaitable[Any]) -> list[Any]:
        """Results and errors of work that waits when the writer starts."""
        tasks = [asyncio.ensure_future(one) for one in work]
        await self.waits_for(len(tasks))
        self.writer.start()
        return await asyncio.gather(*tasks, return_exceptions=True)

    async def waits_for(self, count: int) -> None:
        await until(lambda: self.writer.tasks_waiting == count)


class Rows:
    """A push that writes its name; ``fails`` says where it goes wrong."""

    def __init__(self, name: str, key: int, fails: str) -> None:
        self.name, self.key, self.fails = name, key, fails
        self.call: ScoreCall | None = None
        self.scored: ScoredRows | Exception | None = None

    def prepare(self, _: sqlite3.Connection) -> None:
        if self.fails == "prepare":
            raise InputError("no")
        self.call = ScoreCall(self.key, np.zeros((1, 1)), None)

    def finish(self, changes: Changes) -> int:
        if isinstance(self.scored, Exception):
            raise self.scored
        changes.tables.execute("insert into notes values (?)", (self.name,))
        if self.fails == "finish":
            raise InputError("no")
        return self.key


def at(folder: Path, use: Callable[[Desk], Awaitable[None]], max_seconds: float = math.inf) -> Desk:
    """Use a desk whose writer works, then end it."""

    async def all_of_it() -> Desk:
        desk = Desk(folder, max_seconds)
        await use(desk)
        if desk.writer.is_alive:
            await desk.writer.stop(lambda _: None)
        assert not desk.writer.is_alive
        desk.tables.close()
        return desk

    found: Desk = run_apart(all_of_it())
    return found


async def refused(work: Awaitable[Any]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await work
    return caught.value


async def until(happened: Callable[[], bool]) -> None:
    for _ in range(TRIES):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def test_of_a_group_only_what_fails_goes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(desk: Desk) -> None:
        # they wait together, and are one group when it starts
        wanted = {"a": None, "bb": InputError("no"), "ccc": KeyError("x"), "d": None}
        found = await desk.started_with(*(desk.do(*one) for one in wanted.items()))
        assert (found[0], found[3]) == ("A", "D")
        assert (found[1].status, str(found[1]), found[2].status) == (422, "no", 500)
        # on the disk before it is answered
        assert desk.kept() == desk.then == ["a", "d"]

    assert at(tmp_path, use).undone == [{2}, {3}]
    # a caller's mistake is no matter for the log, ours is
    assert [record.message for record in caplog.records] == ["a request failed"]


def test_tables_that_fail_in_the_middle_take_the_whole_group_and_the_next_one_is_taken(
    tmp_path: Path,
) -> None:
    async def use(desk: Desk) -> None:
        work = [desk.push("a", 7), desk.do("a"), desk.do("bb", DISK_ERROR), desk.do("ccc")]
        for refusal in await desk.started_with(*work):
            assert refusal.status == 503
            assert "the data folder cannot be used just now (disk I/O error)" in str(refusal)
        assert desk.kept() == desk.then == []
        # streams of the group may be ahead of the tables, too
        assert desk.undone == [{1, 2, 7}]
        assert await desk.do("d") == "D"

    assert at(tmp_path, use).kept() == ["d"]


@pytest.mark.parametrize("broken", [None, DISK_ERROR])
def test_tables_that_somebody_else_has_locked_refuse_until_they_are_free(
    tmp_path: Path, broken: Exception | None
) -> None:
    async def use(desk: Desk) -> None:
        desk.broken = broken
        other = sqlite3.connect(desk.file, isolation_level=None)
        other.execute("begin immediate")
        desk.writer.start()
        refusal = await refused(desk.do("a"))
        assert refusal.status == 503
        assert "locked" in str(refusal)
        # even where the tables cannot be read either, and while nothing is asked for
        await until(lambda: desk.undone != [])
        assert desk.kept() == desk.then == []
        other.execute("rollback")
        other.close()
        desk.broken = None
        assert await desk.do("b") == "B"
        await until(lambda: desk.chores > 0)

    assert at(tmp_path, use).kept() == ["b"]


def test_whatever_goes_wrong_around_it_the_writer_goes_on(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        desk.broken = KeyError("nobody thought of this")
        desk.writer.start()
        await until(lambda: desk.chores >= 1)
        # what cannot be undone alone takes its group with it
        assert (await refused(desk.do("a", InputError("no")))).status == 500
        desk.broken = None
        assert await desk.do("b") == "B"

    assert at(tmp_path, use).kept() == ["b"]


def test_pushes_are_scored_together_and_only_those_that_fail_are_undone(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        pushes = (desk.push("a", 1), desk.push("b", 2, "prepare"), desk.push("c", 3, "finish"))
        found = await desk.started_with(*pushes)
        assert found[0] == 1
        assert [type(one) for one in found[1:]] == [Refusal, Refusal]

    desk = at(tmp_path, use)
    assert (desk.kept(), desk.scored, desk.undone) == (["a"], [[1, 3]], [set(), {3}])


def test_a_push_waits_for_other_work_and_for_a_push_to_its_series(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        pushes = [desk.push(*one) for one in (("a", 1), ("b", 2), ("a", 3), ("c", 4))]
        work = [*pushes[:3], desk.do("delete"), pushes[3]]
        assert await desk.started_with(*work) == [1, 2, 3, "DELETE", 4]

    desk = at(tmp_path, use)
    assert desk.scored == [[1, 2], [3], [4]]
    assert desk.kept() == ["a", "b", "a", "delete", "c"]


def test_patient_work_has_its_turn_though_rows_pile_up(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        patient = desk.push("patient", 9, patient=True)
        await desk.started_with(patient, *(desk.push("a", n) for n in range(9)))

    assert at(tmp_path, use).kept() == ["a", "patient", *"a" * 8]


def test_patient_work_comes_last_and_rows_are_counted_while_they_wait(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        later = asyncio.ensure_future(desk.push("last", 1, rows=500, patient=True))
        first = asyncio.ensure_future(desk.do("one"))
        await desk.waits_for(2)
        assert desk.writer.rows_waiting == 500
        refusal = await refused(desk.push("none", 2))
        assert (refusal.status, refusal.headers) == (429, {"Retry-After": "1"})
        # whoever has gone is not answered, but what he asked for is done
        gone = asyncio.ensure_future(desk.do("gone"))
        await desk.waits_for(3)
        gone.cancel()
        desk.writer.start()
        assert (await first, await later) == ("ONE", 1)
        assert (desk.writer.rows_waiting, desk.writer.tasks_waiting) == (0, 0)
        # a request that is larger than the queue is taken by an empty one
        assert await desk.push("large", 3, rows=101) == 3

    assert at(tmp_path, use).kept() == ["one", "gone", "last", "large"]


def test_more_tasks_than_may_wait_are_refused_even_without_rows(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        waiting = [asyncio.ensure_future(desk.writer.do(dict)) for _ in range(MAX_TASKS)]
        await desk.waits_for(MAX_TASKS)
        assert (await refused(desk.writer.do(dict))).status == 429
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    at(tmp_path, use)


def test_rows_are_refused_while_others_wait_for_too_long_and_people_are_not(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        first = asyncio.ensure_future(desk.push("rows", 1))
        await desk.waits_for(1)
        refusal = await refused(desk.push("none", 2))
        assert (refusal.status, refusal.headers) == (429, {"Retry-After": "1"})
        assert str(refusal).startswith("the machine is too busy: rows have waited 0 s to be scored")
        click = asyncio.ensure_future(desk.do("click"))
        file = asyncio.ensure_future(desk.push("file", 2, rows=9, patient=True))
        await desk.waits_for(3)
        desk.writer.start()
        assert [await first, await click, await file] == [1, "CLICK", 2]
        assert await desk.push("more", 3) == 3

    # any time is too long
    at(tmp_path, use, max_seconds=0)


def test_chores_are_done_while_it_is_busy_too(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        desk.writer.start()
        # there never is a second without work
        for _ in range(1_000):
            if desk.chores:
                return
            await desk.do("a")
            await asyncio.sleep(0.05)
        raise AssertionError("it did not happen")

    at(tmp_path, use)


def test_what_waits_when_it_is_stopped_is_done(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        waiting = [asyncio.ensure_future(desk.do(str(n))) for n in range(450)]
        await desk.waits_for(450)
        desk.writer.start()
        await desk.writer.stop(desk.work("end"))
        assert all(one.done() for one in waiting)

    assert at(tmp_path, use).kept() == [*map(str, range(450)), "end"]


def test_it_ends_though_its_last_piece_of_work_cannot_be_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(desk: Desk) -> None:
        desk.writer.start()
        await desk.writer.stop(desk.work("end", Refusal(507, "no room")))

    assert at(tmp_path, use).kept() == []
    assert "the final task failed: no room" in caplog.text
