"""Work on a cluster: found or started, spread in packs, done again when a worker dies."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from subadjacent import SubAdjacentDetector
from subadjacent.distributed import cluster as module
from subadjacent.distributed.cluster import PackSize, connected, over_cluster
from subadjacent.errors import InputError, MissingPackage, SubAdjacentError
from subadjacent.runtime import Runtime, in_turn


def test_packs_grow_until_a_task_lasts_two_seconds() -> None:
    size = PackSize(items=10_000, workers=2)
    # nothing is known yet
    assert size.of_next() == 1
    size.hand_out(1)
    size.learn(1, seconds=0.01)
    assert size.of_next() == 200
    # slower ones came: 101 items in 10.01 seconds
    size.hand_out(100)
    size.learn(100, seconds=10.0)
    assert size.of_next() == 20


def test_the_last_items_are_shared_among_all_workers() -> None:
    size = PackSize(items=17, workers=2)
    size.hand_out(1)
    size.learn(1, seconds=0.0)
    # 16 items are left for two workers, four packs each
    assert size.of_next() == 2
    size.hand_out(7)
    # nine are left, of which eight packs would be of one or two
    assert size.of_next() == 2
    size.hand_out(8)
    assert size.of_next() == 1


def test_an_item_that_takes_long_travels_alone() -> None:
    size = PackSize(items=100, workers=1)
    size.learn(1, seconds=60.0)
    assert size.of_next() == 1


def test_a_cluster_that_is_there_is_used_and_left_running(cluster: int) -> None:
    with connected(7) as workers:
        assert workers == cluster == 2
    with connected() as workers:
        assert workers == 2


def test_results_come_in_the_order_of_the_items(cluster: int) -> None:
    assert cluster
    offset = 7
    items = list(range(1_000))
    results = over_cluster(lambda item: (item + offset, os.getpid()), items)
    values, processes = zip(*results, strict=True)
    assert list(values) == [item + 7 for item in items]
    assert os.getpid() not in processes


def test_nothing_is_spread_where_there_is_nothing(cluster: int) -> None:
    assert cluster
    assert list(over_cluster(str, [])) == []


def test_an_error_is_the_functions_own_and_comes_in_its_turn(cluster: int) -> None:
    assert cluster

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


def test_an_item_whose_worker_is_killed_is_done_by_another(cluster: int, tmp_path: Path) -> None:
    assert cluster

    def fatal_at_first(item: int) -> int:
        died = tmp_path / "died"
        if item == 3 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert list(over_cluster(fatal_at_first, range(8))) == list(range(8))
    assert (tmp_path / "died").exists()


def test_work_that_kills_every_worker_is_given_up(cluster: int) -> None:
    assert cluster
    with pytest.raises(SubAdjacentError, match=r"^the cluster gave up on .* died 4 times"):
        list(over_cluster(lambda _: os.kill(os.getpid(), signal.SIGKILL), [1]))


def test_what_is_learned_does_not_depend_on_the_cluster(
    cluster: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred entities, the fewest that are spread: every byte of the model is the same."""
    assert cluster
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


def test_an_address_that_nobody_answers_at_is_refused_at_once(
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


def test_without_ray_the_way_to_get_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(
            MissingPackage,
            match=r"^work on a cluster needs ray, .*: pip install 'subadjacent\[ray\]'$",
        ),
        connected(),
    ):
        pass


def test_other_missing_packages_are_not_taken_for_ray() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"), module.needs_ray("a test"):
        raise ModuleNotFoundError("nowhere", name="nowhere")
