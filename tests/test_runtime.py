"""How work runs: in turn or side by side, watched or not."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from subadjacent import runtime
from subadjacent.runtime import (
    Progress,
    Runtime,
    ignore,
    in_turn,
    in_words,
    over_processes,
    share_done,
    side_by_side,
    uncounted,
)


def test_items_are_handled_in_turn() -> None:
    seen: list[int] = []

    def note(item: int) -> int:
        seen.append(item)
        return item * item

    results = in_turn(note, [3, 1, 2])
    assert next(results) == 9
    # no later item was touched
    assert seen == [3]
    assert list(results) == [1, 4]


def test_by_default_progress_is_ignored_and_all_cores_are_used() -> None:
    run = Runtime()
    assert (run.device, run.precision, run.seed) == ("auto", "auto", 0)
    assert run.watch is ignore
    assert run.map is over_processes
    run.watch(Progress("fitting", 1, 2, "entities"))


@pytest.mark.parametrize("worth_it", [False, True])
def test_the_caller_learns_how_many_items_are_done(worth_it: bool) -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int) -> None:
        told.append((done, threading.get_ident()))

    side_by_side(str, [5, 6, 7], worth_it=worth_it, tell=tell)
    # in its own thread: whoever watches need not mind others
    assert told == [(done, threading.get_ident()) for done in (1, 2, 3)]


@pytest.mark.parametrize("worth_it", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_items(count: int, worth_it: bool) -> None:
    items = list(range(count))
    assert side_by_side(lambda item: item * item, items, worth_it=worth_it) == [
        item * item for item in items
    ]


@pytest.mark.parametrize(
    ("worth_it", "available", "threads"), [(False, 4, 1), (True, 1, 1), (True, 2, 2)]
)
def test_threads_are_used_where_work_is_worth_them_and_cores_are_there(
    worth_it: bool, available: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "cores", lambda: available)
    # with two threads both must arrive before either goes on
    gate = threading.Barrier(threads, timeout=600)

    def who(_item: int) -> int:
        gate.wait()
        return threading.get_ident()

    assert len(set(side_by_side(who, [1, 2], worth_it=worth_it))) == threads


def blas_threads(_item: Any = None) -> list[int]:
    libraries = threadpool_info()
    return [library["num_threads"] for library in libraries if library["user_api"] == "blas"]


@pytest.mark.parametrize("worth_it", [False, True])
def test_linear_algebra_keeps_to_one_thread_meanwhile_and_is_let_go_again(worth_it: bool) -> None:
    def meanwhile(_item: int) -> list[int]:
        # a caller in another thread does not lift the limit
        other = threading.Thread(target=side_by_side, args=(str, [0]), kwargs={"worth_it": False})
        other.start()
        other.join(timeout=600)
        return blas_threads()

    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    for work in (blas_threads, meanwhile):
        for found in side_by_side(work, [1, 2, 3], worth_it=worth_it):
            assert found == [1] * len(before)
        assert blas_threads() == before


@pytest.mark.parametrize("worth_it", [False, True])
def test_an_error_is_passed_on(worth_it: bool) -> None:
    def fail(item: int) -> None:
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 1"):
        side_by_side(fail, [1, 2], worth_it=worth_it)


@pytest.mark.parametrize("available", [1, 2])
def test_processes_give_results_in_the_order_of_items(
    available: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "cores", lambda: available)
    # a function that other processes can import
    assert list(over_processes(math.factorial, [3, 1, 2])) == [6, 1, 2]


@pytest.mark.parametrize(
    ("progress", "share", "words"),
    [
        (Progress("scoring", 300, 1200, "rows"), 0.25, "25% of 1,200 rows"),
        (Progress("training", 1, 4, "steps", "epoch 1"), 0.25, "25% of 4 steps, epoch 1"),
        (Progress("scoring", 1300, 1200, "rows"), 1.0, "100% of 1,200 rows"),
        (Progress("drawing", 0, 0, ""), None, ""),
        (Progress("drawing", 1, 1, ""), 1.0, ""),
        (Progress("fitting", 0, 0, "rows", "axes"), None, "axes"),
    ],
)
def test_progress_is_a_share_and_words(progress: Progress, share: float | None, words: str) -> None:
    assert share_done(progress) == share
    assert in_words(progress) == words


def test_uncounted_work_reports_its_beginning_and_its_end() -> None:
    told: list[Progress] = []
    with uncounted("drawing", told.append):
        assert told == [Progress("drawing", 0, 0, "")]
    assert told[1:] == [Progress("drawing", 1, 1, "")]
