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
from subadjacent.service.events import LiveEvent
from subadjacent.service.problems import Refusal
from subadjacent.service.scoring import ScoreCall, ScoredRows
from subadjacent.service.writer import MAX_TASKS, Changes, Writer

TRIES = 10_000


class Notes:
    """An owner that writes down what it is told."""

    def __init__(self) -> None:
        self.undone: list[set[int]] = []
        self.told: list[str] = []
        self.scored: list[list[int]] = []
        self.rested = 0
        self.broken = False

    def undo(self, touched: set[int], tables: sqlite3.Connection) -> None:
        self.undone.append(touched)
        if self.broken:
            tables.execute("select * from nothing")

    def publish(self, events: list[LiveEvent]) -> None:
        self.told += [event.kind for event in events]

    def score(self, calls: Sequence[ScoreCall]) -> list[ScoredRows | Exception]:
        self.scored.append([call.key for call in calls])
        return [ScoredRows([], None) for _ in calls]

    def do_chores(self, changes: Changes) -> None:
        self.rested += 1
        changes.events.append(LiveEvent("rested", None, dict))
        if self.broken:
            changes.tables.execute("select * from nothing")


class Desk:
    """A writer, its tables and its owner."""

    def __init__(self, folder: Path, max_seconds: float = math.inf) -> None:
        self.file = folder / "tables.sqlite"
        self.tables = sqlite3.connect(
            self.file, isolation_level=None, check_same_thread=False, timeout=0
        )
        self.tables.execute("pragma journal_mode = wal")
        self.tables.execute("create table if not exists notes (text)")
        self.notes = Notes()
        self.writer = Writer(self.tables, self.notes, max_rows=100, max_seconds=max_seconds)
        self.then: list[str] = []

    def work(self, text: str, error: Exception | None = None) -> Callable[[Changes], str]:
        """Write a line, tell of it, and fail if so wanted."""

        def write(changes: Changes) -> str:
            changes.tables.execute("insert into notes values (?)", (text,))
            changes.touched.add(len(text))
            changes.events.append(LiveEvent(text, None, dict))
            changes.then.append(lambda: self.then.append(text))
            changes.undo.append(lambda: self.then.append(f"not {text}"))
            if error is not None:
                raise error
            return text.upper()

        return write

    def kept(self) -> list[str]:
        with closing(sqlite3.connect(self.file)) as tables:
            return [text for (text,) in tables.execute("select text from notes")]


def at(folder: Path, use: Callable[[Desk], Awaitable[None]]) -> Desk:
    """Use a desk whose writer works, then end it."""

    async def all_of_it() -> Desk:
        desk = Desk(folder)
        await use(desk)
        await desk.writer.stop(lambda _: None)
        assert not desk.writer.is_alive
        desk.tables.close()
        return desk

    found: Desk = run_apart(all_of_it())
    return found


async def together(desk: Desk, *work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Results and errors of work that waits when the writer starts."""
    tasks = [asyncio.ensure_future(one) for one in work]
    await until(lambda: desk.writer.tasks_waiting == len(tasks))
    desk.writer.start()
    return await asyncio.gather(*tasks, return_exceptions=True)


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


def test_a_task_is_answered_told_of_and_followed_once_it_is_kept(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        desk.writer.start()
        assert await desk.writer.do(desk.work("a")) == "A"
        assert desk.kept() == desk.then == ["a"]
        assert desk.notes.told[:1] == ["a"]

    desk = at(tmp_path, use)
    assert desk.notes.undone == []


def test_of_a_group_only_what_fails_goes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(desk: Desk) -> None:
        # they wait together, and are one group when it starts
        wanted = {"a": None, "bb": InputError("no"), "ccc": KeyError("x"), "d": None}
        work = [desk.writer.do(desk.work(text, error)) for text, error in wanted.items()]
        found = await together(desk, *work)
        assert (found[0], found[3]) == ("A", "D")
        assert isinstance(found[1], Refusal)
        assert isinstance(found[2], Refusal)
        assert (found[1].status, str(found[1]), found[2].status) == (422, "no", 500)

    desk = at(tmp_path, use)
    assert desk.kept() == ["a", "d"]
    assert [kind for kind in desk.notes.told if kind != "rested"] == ["a", "d"]
    # in the thread of the writer first, then what follows what was kept
    assert desk.then == ["not bb", "not ccc", "a", "d"]
    assert desk.notes.undone == [{2}, {3}]
    # a caller's mistake is no matter for the log, ours is
    assert [record.message for record in caplog.records] == ["a request failed"]


def test_tables_that_fail_in_the_middle_take_the_whole_group_and_the_next_one_is_taken(
    tmp_path: Path,
) -> None:
    async def use(desk: Desk) -> None:
        wanted = {"a": None, "bb": sqlite3.OperationalError("disk I/O error"), "ccc": None}
        work = [desk.writer.do(desk.work(text, error)) for text, error in wanted.items()]
        for refusal in await together(desk, *work):
            assert refusal.status == 503
            assert "the data folder cannot be used just now (disk I/O error)" in str(refusal)
        assert desk.kept() == []
        assert desk.then == ["not a", "not bb"]
        assert desk.notes.undone == [{1, 2}]
        assert await desk.writer.do(desk.work("d")) == "D"

    assert at(tmp_path, use).kept() == ["d"]


@pytest.mark.parametrize("broken", [False, True])
def test_tables_that_somebody_else_has_locked_refuse_until_they_are_free(
    tmp_path: Path, broken: bool
) -> None:
    async def use(desk: Desk) -> None:
        desk.notes.broken = broken
        other = sqlite3.connect(desk.file, isolation_level=None)
        other.execute("begin immediate")
        desk.writer.start()
        refusal = await refused(desk.writer.do(desk.work("a")))
        assert refusal.status == 503
        assert "locked" in str(refusal)
        # even where the tables cannot be read either, and while nothing is asked for
        await until(lambda: desk.notes.undone != [])
        assert desk.kept() == desk.then == []
        other.execute("rollback")
        other.close()
        desk.notes.broken = False
        assert await desk.writer.do(desk.work("b")) == "B"
        await until(lambda: "rested" in desk.notes.told)

    assert at(tmp_path, use).kept() == ["b"]


def test_chores_that_fail_keep_nothing_and_nobody_from_work(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        desk.notes.broken = True
        desk.writer.start()
        await until(lambda: desk.notes.rested >= 1)
        desk.notes.broken = False
        assert await desk.writer.do(desk.work("a")) == "A"

    desk = at(tmp_path, use)
    assert desk.kept() == ["a"]


class Rows:
    """A push that writes its key; ``fails`` says where it goes wrong."""

    def __init__(self, desk: Desk, name: str, key: int, fails: str = "") -> None:
        self.desk, self.name, self.key, self.fails = desk, name, key, fails

    def prepare(self, _: sqlite3.Connection) -> ScoreCall | None:
        if self.fails == "prepare":
            raise InputError("no")
        if self.fails == "read":
            raise sqlite3.OperationalError("disk I/O error")
        return ScoreCall(self.key, np.zeros((1, 1)), None)

    def finish(
        self, changes: Changes, call: ScoreCall | None, scored: ScoredRows | Exception | None
    ) -> int:
        if isinstance(scored, Exception):
            raise scored
        assert call is not None
        changes.tables.execute("insert into notes values (?)", (self.name,))
        if self.fails == "finish":
            raise InputError("no")
        if self.fails == "write":
            raise sqlite3.OperationalError("disk I/O error")
        return call.key


def test_pushes_are_scored_together_and_only_those_that_fail_are_undone(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        pushes = [Rows(desk, "a", 1), Rows(desk, "b", 2, "prepare"), Rows(desk, "c", 3, "finish")]
        found = await together(desk, *(desk.writer.push(push, 1) for push in pushes))
        assert found[0] == 1
        assert [type(one) for one in found[1:]] == [Refusal, Refusal]

    desk = at(tmp_path, use)
    assert desk.kept() == ["a"]
    assert desk.notes.scored == [[1, 3]]
    assert desk.notes.undone == [set(), {3}]


def test_a_push_waits_for_other_work_and_for_a_push_to_its_series(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        work = [
            desk.writer.push(Rows(desk, "a", 1), 1),
            desk.writer.push(Rows(desk, "b", 2), 1),
            desk.writer.push(Rows(desk, "a", 3), 1),
            desk.writer.do(desk.work("delete")),
            desk.writer.push(Rows(desk, "c", 4), 1),
        ]
        assert await together(desk, *work) == [1, 2, 3, "DELETE", 4]

    desk = at(tmp_path, use)
    assert desk.notes.scored == [[1, 2], [3], [4]]
    assert desk.kept() == ["a", "b", "a", "delete", "c"]


def test_patient_work_has_its_turn_though_rows_pile_up(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        work = [desk.writer.push(Rows(desk, "a", n), 1) for n in range(9)]
        await together(desk, desk.writer.do(desk.work("patient"), patient=True), *work)

    assert at(tmp_path, use).kept() == ["a", "patient", *"a" * 8]


def test_streams_of_a_transaction_that_fails_are_all_undone(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        broken = desk.work("x", sqlite3.OperationalError("disk I/O error"))
        work = [desk.writer.push(Rows(desk, "a", 7), 1), desk.writer.do(broken)]
        assert [one.status for one in await together(desk, *work)] == [503, 503]

    desk = at(tmp_path, use)
    assert desk.kept() == []
    assert desk.notes.undone == [{1, 7}]


@pytest.mark.parametrize("part", ["undo", "do_chores"])
def test_whatever_goes_wrong_with_the_owner_the_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("nobody thought of this")

    async def use(desk: Desk) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(desk.notes, part, fail)
            desk.writer.start()
            # what cannot be undone alone takes its group with it
            refusal = await refused(desk.writer.do(desk.work("a", InputError("no"))))
            assert refusal.status == (500 if part == "undo" else 422)
            await until(lambda: part == "undo" or len(caplog.records) > 0)
        assert await desk.writer.do(desk.work("b")) == "B"

    assert at(tmp_path, use).kept() == ["b"]


def test_patient_work_comes_last_and_rows_are_counted_while_they_wait(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        later = asyncio.ensure_future(desk.writer.push(Rows(desk, "last", 1), 500, patient=True))
        first = asyncio.ensure_future(desk.writer.do(desk.work("one")))
        await until(lambda: desk.writer.tasks_waiting == 2)
        assert desk.writer.rows_waiting == 500
        refusal = await refused(desk.writer.push(Rows(desk, "none", 2), 1))
        assert (refusal.status, refusal.headers) == (429, {"Retry-After": "1"})
        # whoever has gone is not answered, but what he asked for is done
        gone = asyncio.ensure_future(desk.writer.do(desk.work("gone")))
        await until(lambda: desk.writer.tasks_waiting == 3)
        gone.cancel()
        desk.writer.start()
        assert (await first, await later) == ("ONE", 1)
        assert (desk.writer.rows_waiting, desk.writer.tasks_waiting) == (0, 0)
        # a request that is larger than the queue is taken by an empty one
        assert await desk.writer.push(Rows(desk, "large", 3), 101) == 3

    assert at(tmp_path, use).kept() == ["one", "gone", "last", "large"]


def test_more_tasks_than_may_wait_are_refused_even_without_rows(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        desk = Desk(tmp_path)
        waiting = [asyncio.ensure_future(desk.writer.do(dict)) for _ in range(MAX_TASKS)]
        await until(lambda: desk.writer.tasks_waiting == MAX_TASKS)
        one_more = asyncio.ensure_future(desk.writer.do(dict))
        await asyncio.sleep(0)
        assert one_more.done()
        assert (await refused(one_more)).status == 429
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        desk.tables.close()

    run_apart(all_of_it())


def test_rows_are_refused_while_others_wait_for_too_long_and_people_are_not(tmp_path: Path) -> None:
    async def all_of_it() -> None:
        # any time is too long
        desk = Desk(tmp_path, max_seconds=0)
        first = asyncio.ensure_future(desk.writer.push(Rows(desk, "rows", 1), 1))
        await until(lambda: desk.writer.tasks_waiting == 1)
        refusal = await refused(desk.writer.push(Rows(desk, "none", 2), 1))
        assert (refusal.status, refusal.headers) == (429, {"Retry-After": "1"})
        assert str(refusal).startswith("the machine is too busy: rows have waited 0 s to be scored")
        click = asyncio.ensure_future(desk.writer.do(desk.work("click")))
        file = asyncio.ensure_future(desk.writer.push(Rows(desk, "file", 2), 9, patient=True))
        await until(lambda: desk.writer.tasks_waiting == 3)
        desk.writer.start()
        assert [await first, await click, await file] == [1, "CLICK", 2]
        assert await desk.writer.push(Rows(desk, "more", 3), 1) == 3
        await desk.writer.stop(dict)
        desk.tables.close()

    run_apart(all_of_it())


def test_chores_are_done_while_it_is_busy_too(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        desk.writer.start()
        # there never is a second without work
        for _ in range(1_000):
            if desk.notes.rested:
                return
            await desk.writer.do(desk.work("a"))
            await asyncio.sleep(0.05)
        raise AssertionError("it did not happen")

    at(tmp_path, use)


def test_what_waits_when_it_is_stopped_is_done(tmp_path: Path) -> None:
    async def use(desk: Desk) -> None:
        waiting = [asyncio.ensure_future(desk.writer.do(desk.work(str(n)))) for n in range(450)]
        await until(lambda: desk.writer.tasks_waiting == 450)
        desk.writer.start()
        await desk.writer.stop(desk.work("end"))
        assert all(one.done() for one in waiting)

    async def all_of_it() -> Desk:
        desk = Desk(tmp_path)
        await use(desk)
        desk.tables.close()
        return desk

    assert run_apart(all_of_it()).kept() == [*map(str, range(450)), "end"]


def test_it_ends_though_its_last_piece_of_work_cannot_be_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: Changes) -> None:
        raise Refusal(507, "no room")

    async def use() -> bool:
        desk = Desk(tmp_path)
        desk.writer.start()
        await desk.writer.stop(full)
        desk.tables.close()
        return desk.writer.is_alive

    assert run_apart(use()) is False
    assert "the final task failed: no room" in caplog.text
