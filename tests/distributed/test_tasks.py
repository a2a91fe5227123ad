"""Work that comes back as soon as it is done, from workers that may hold something and may die."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from subadjacent.distributed.cluster import LostWork
from subadjacent.distributed.tasks import as_ready, over_actors
from subadjacent.errors import InputError

pytestmark = pytest.mark.usefixtures("cluster")


def appears(path: Path) -> Callable[[], Any]:
    """A function that ends when a file is there."""

    def wait() -> None:
        while not path.exists():
            time.sleep(0.01)

    return wait


def test_what_is_done_first_comes_first(tmp_path: Path) -> None:
    waits = appears(tmp_path / "there")
    results = as_ready(lambda item: waits() if item == "slow" else item, ["slow", "quick"])
    assert next(results) == (1, "quick")
    (tmp_path / "there").touch()
    assert next(results) == (0, None)
    assert list(results) == []


def test_more_items_than_workers_are_all_done() -> None:
    assert sorted(as_ready(lambda item: -item, range(23))) == [(item, -item) for item in range(23)]


def test_a_task_that_wants_a_gpu_does_without_where_there_is_none() -> None:
    assert list(as_ready(str, [5], accelerated=True)) == [(0, "5")]


def test_an_item_that_kills_every_worker_is_told_and_the_others_are_done(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fatal(item: int) -> int:
        if item == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    found = dict(as_ready(fatal, [0, 1, 2]))
    assert isinstance(found.pop(1), LostWork)
    assert found == {0: 0, 2: 2}
    # standard output is for results
    assert capfd.readouterr().out == ""


def test_an_error_is_the_functions_own() -> None:
    def refuse(_item: int) -> None:
        raise InputError("no such item")

    with pytest.raises(InputError, match=r"^no such item$"):
        list(as_ready(refuse, [1, 2]))
    with pytest.raises(InputError, match=r"^no such item$"):
        list(over_actors(dict, lambda _held, item: refuse(item), [1, 2]))


def test_each_worker_makes_once_what_it_holds(tmp_path: Path) -> None:
    def make() -> list[int]:
        (tmp_path / str(os.getpid())).touch()
        return []

    def count(held: list[int], item: int) -> tuple[int, int]:
        held.append(item)
        return os.getpid(), len(held)

    found = dict(over_actors(make, count, range(20)))
    assert sorted(found) == list(range(20))
    makers = {int(file.name) for file in tmp_path.iterdir()}
    workers = {number for number, _ in found.values()}
    assert workers <= makers
    assert len(makers) == 2
    # what was held grew with every item: it was never made anew
    most = {
        number: max(held for one, held in found.values() if one == number) for number in workers
    }
    assert sum(most.values()) == 20


def test_what_cannot_be_made_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def make() -> None:
        raise InputError("no such model")

    with pytest.raises(InputError, match=r"^no such model$"):
        list(over_actors(make, lambda _held, item: item, [1]))
    assert capfd.readouterr().out == ""


def test_there_are_no_more_workers_than_items(tmp_path: Path) -> None:
    def make() -> None:
        (tmp_path / str(os.getpid())).touch()

    assert list(over_actors(make, lambda _held, item: item, ["one"])) == [(0, "one")]
    assert len(list(tmp_path.iterdir())) == 1
    assert list(over_actors(make, lambda _held, item: item, [])) == []


def test_a_worker_that_is_killed_is_replaced_and_holds_the_same(tmp_path: Path) -> None:
    def work(held: str, item: int) -> str:
        died = tmp_path / "died"
        if item == 2 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return f"{held} {item}"

    found = dict(over_actors(lambda: "held", work, range(5)))
    assert found == {item: f"held {item}" for item in range(5)}
    assert (tmp_path / "died").exists()
