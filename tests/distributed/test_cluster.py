"""Work on a cluster: found or started, spread over workers, repeated when one dies."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subadjacent import SubAdjacentDetector
from subadjacent.errors import InputError, MissingPackage, SubAdjacentError
from subadjacent.runtime import Runtime, in_turn
from subadjacent.workflow.cluster import LostWork, as_ready, connected, over_cluster

pytestmark = pytest.mark.usefixtures("cluster")


def test_a_cluster_that_is_there_is_used_and_left_running(cluster: int) -> None:
    with connected(7) as workers:
        assert workers == cluster == 2
    with connected() as workers:
        assert workers == 2


def test_results_come_in_the_order_of_the_items() -> None:
    offset = 7
    items = list(range(100))
    results = over_cluster(lambda item: (item + offset, os.getpid()), items)
    values, processes = zip(*results, strict=True)
    assert list(values) == [item + 7 for item in items]
    assert os.getpid() not in processes
    assert list(over_cluster(str, [])) == []
    # more of them than workers
    assert sorted(as_ready(lambda item: -item, range(23))) == [(item, -item) for item in range(23)]


def test_an_error_is_the_functions_own_and_comes_in_its_turn() -> None:

    def halved(number: int) -> float:
        if number % 2:
            raise InputError.of("number", "must be even", f"got {number}")
        return number / 2

    results = over_cluster(halved, [4, 2, 3, 6])
    assert next(results) == 2
    assert next(results) == 1
    with pytest.raises(InputError, match=r"^number must be even; got 3$") as caught:
        next(results)
    assert caught.value.rule == "must be even"


def test_an_item_whose_worker_is_killed_is_done_by_another(tmp_path: Path) -> None:

    def fatal_at_first(item: int) -> int:
        died = tmp_path / "died"
        if item == 3 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert list(over_cluster(fatal_at_first, range(8))) == list(range(8))
    assert (tmp_path / "died").exists()


@pytest.mark.sweep
def test_work_that_kills_every_worker_is_given_up() -> None:
    with pytest.raises(SubAdjacentError, match=r"^the cluster gave up on .* died 4 times"):
        list(over_cluster(lambda _: os.kill(os.getpid(), signal.SIGKILL), [1]))


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


def test_a_task_that_wants_a_gpu_does_without_where_there_is_none() -> None:
    assert list(as_ready(str, [5], accelerated=True)) == [(0, "5")]


def test_an_item_that_kills_every_worker_is_lost_and_the_others_are_done(
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


def test_what_is_learned_does_not_depend_on_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred entities, the fewest that are spread: every byte of the model is the same."""
    rng = np.random.default_rng(0)
    fleet = {f"pump {number}": rng.normal(size=(60, 2)).cumsum(axis=0) for number in range(100)}
    for name, spread in (("in turn", in_turn), ("cluster", over_cluster)):
        runtime = Runtime(map=spread)
        monkeypatch.setattr(SubAdjacentDetector, "_runtime", lambda *_, run=runtime: run)
        SubAdjacentDetector().fit(fleet).save(tmp_path / name)
    files = sorted(file.name for file in (tmp_path / "in turn").iterdir())
    assert files
    assert sorted(file.name for file in (tmp_path / "cluster").iterdir()) == files
    for name in files:
        assert (tmp_path / "cluster" / name).read_bytes() == (
            tmp_path / "in turn" / name
        ).read_bytes()


def test_an_address_without_an_answer_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", "somewhere"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        with (
            pytest.raises(InputError, match=f"^RAY_ADDRESS must be .*; got '{address}': start"),
            connected(),
        ):
            pass


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(
            MissingPackage,
            match=r"^work on a cluster needs ray, .*: pip install 'subadjacent\[ray\]'$",
        ),
        connected(),
    ):
        pass
