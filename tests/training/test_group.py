"""Several processes train to the weights that one gives; one that is killed changes nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from running import wait_until
from subadjacent.errors import InputError
from subadjacent.training.device import autocast, take_gpu
from subadjacent.training.fit import fit_network
from subadjacent.training.group import ALONE, BatchShare, Group, current, joined
from tiny import CPU, network, windows
from together import (
    CONFIG,
    OF_KEYS,
    REFUSED,
    SIZES,
    by_hand,
    networks,
    rival,
    run,
    start,
    train_all,
)

TASKS = Path(__file__).parents[1] / "together.py"


def test_three_windows_over_two_processes() -> None:
    assert Group(0, 2).part(3) == BatchShare(0, 1, 1 / 3)
    assert Group(1, 2).part(3) == BatchShare(1, 3, 2 / 3)


def test_a_process_without_a_window_takes_the_first_and_does_not_count() -> None:
    assert [Group(rank, 3).part(2) for rank in range(3)] == [
        BatchShare(0, 1, 0.0),
        BatchShare(0, 1, 0.5),
        BatchShare(1, 2, 0.5),
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_parts_are_all_windows_once_and_weigh_one(size: int) -> None:
    for count in range(1, 20):
        parts = [Group(rank, size).part(count) for rank in range(size)]
        held = [n for first, last, weight in parts if weight for n in range(first, last)]
        assert held == list(range(count))
        assert sum(one.weight for one in parts) == pytest.approx(1)
        assert all(one.weight in (0, (one.last - one.first) / count) for one in parts)


def test_a_process_that_was_started_by_itself_is_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with joined() as group:
        assert group is current() is ALONE
    assert not torch.distributed.is_initialized()
    assert group.leads
    assert group.led(lambda: 3) == 3
    assert group.gather("x") == ["x"]


def test_what_no_launcher_sets_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(InputError, match="WORLD_SIZE must be a whole number, as torchrun sets it"):
        joined().__enter__()


@pytest.mark.skipif(torch.cuda.is_available(), reason="it has GPUs to take")
def test_a_host_without_gpus_has_none_to_take() -> None:
    assert not take_gpu(0, 1)


def test_by_hand_one_process_moves_the_slope_by_a_tenth_of_its_gradient() -> None:
    found = by_hand(ALONE)
    # mean of 1, 4 and 9; twice that, times 1 - 2, is the gradient
    assert found["loss"].item() == pytest.approx(14 / 3)
    assert found["slope"].item() == pytest.approx(1 + 0.1 * 28 / 3)


@pytest.fixture(scope="module")
def alone() -> dict[str, torch.Tensor]:
    """What one process comes to."""
    return train_all(ALONE)


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.sweep)])
def ended(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Path]:
    """How many processes trained together, and the folder with what each came to."""
    folder = tmp_path_factory.mktemp("together")
    assert run(request.param, TASKS, "equal", folder)[0] == ""
    return request.param, folder


def found_by(ended: tuple[int, Path], rank: int) -> dict[str, torch.Tensor]:
    size, folder = ended
    return load_file(folder / f"{size}-{rank}.safetensors")


def reported_by(ended: tuple[int, Path]) -> list[dict[str, str]]:
    size, folder = ended
    return [json.loads((folder / f"{size}-{rank}.json").read_text()) for rank in range(size)]


def test_by_hand_processes_move_the_slope_as_one_does(ended: tuple[int, Path]) -> None:
    # the windows 1, 2 and 3, whose squared errors are 1, 4 and 9: a third of each counts
    losses = {2: [1 / 3, 13 / 3], 3: [1 / 3, 4 / 3, 9 / 3]}[ended[0]]
    for rank, loss in enumerate(losses):
        found = found_by(ended, rank)
        assert found["by hand loss"].item() == pytest.approx(loss)
        assert found["by hand slope"].item() == pytest.approx(1 + 0.1 * 28 / 3)


@pytest.mark.parametrize("name", networks())
def test_weights_and_curves_are_those_of_one_process(
    name: str, alone: dict[str, torch.Tensor], ended: tuple[int, Path]
) -> None:
    cases = [f"{name} {count} {batch} " for count, batch in SIZES]
    expected = {key: value for key, value in alone.items() if key.startswith(tuple(cases))}
    initial = networks()[name].state_dict()
    changed = [
        not torch.equal(value, initial[key.split()[-1]])
        for key, value in expected.items()
        if not key.endswith("curves")
    ]
    assert any(changed)
    for rank in range(ended[0]):
        found = found_by(ended, rank)
        for key, value in expected.items():
            if not key.endswith(OF_KEYS):
                torch.testing.assert_close(found[key], value, rtol=1e-5, atol=1e-6, msg=key)


@pytest.mark.skipif(sys.platform != "linux", reason="names of threads are read from /proc")
def test_no_thread_of_the_group_outlives_it(ended: tuple[int, Path]) -> None:
    # one that does may abort its process when Python ends
    size, folder = ended
    for rank in range(size):
        threads = json.loads((folder / f"threads-{size}-{rank}.json").read_text())
        assert threads
        assert not [name for name in threads if "gloo" in name or "store" in name]


def test_all_processes_come_to_the_same_bits(ended: tuple[int, Path]) -> None:
    first = found_by(ended, 0)
    for rank in range(1, ended[0]):
        for key, value in found_by(ended, rank).items():
            if not key.startswith("by hand loss"):
                assert torch.equal(first[key], value), key


@pytest.mark.parametrize("kind", [kind.__name__ for kind in REFUSED])
def test_a_network_whose_batch_cannot_be_shared_out_is_refused_by_all(
    kind: str, ended: tuple[int, Path]
) -> None:
    for reported in reported_by(ended):
        assert reported[kind].startswith(f"network must be one that {ended[0]} processes can train")
        assert f"got {kind}, " in reported[kind]


def test_processes_with_different_seeds_are_refused(ended: tuple[int, Path]) -> None:
    for reported in reported_by(ended):
        assert reported["seeds"].startswith(
            "every process must be given the same rows, settings and"
        )


def test_what_the_first_process_raises_for_all_is_raised_by_all(ended: tuple[int, Path]) -> None:
    for reported in reported_by(ended):
        assert reported["led"] == "disk: disk must be there; got none"


def test_a_time_limit_that_is_used_up_in_one_process_ends_all_after_the_same_step(
    ended: tuple[int, Path],
) -> None:
    for reported in reported_by(ended):
        assert reported["late"] == "[(1, False)]"


@pytest.mark.parametrize("kind", REFUSED)
def test_a_network_that_is_refused_to_many_is_trained_by_one(kind: Any) -> None:
    model = rival(kind)
    assert len(fit_network(model, windows(), windows(), CONFIG, autocast(CPU))) == CONFIG.epochs


def test_a_killed_process_is_started_again_and_the_result_is_that_of_one_that_was_not(
    tmp_path: Path,
) -> None:
    with start(2, TASKS, "killed", tmp_path, restarts=1) as started:
        wait_until((tmp_path / "ready").exists, started)
        os.kill(int((tmp_path / "pid-1-0").read_text()), signal.SIGKILL)
        _, said = started.communicate()
    assert started.returncode == 0, said
    assert (tmp_path / "pid-1-1").exists()
    ended = json.loads((tmp_path / "history.json").read_text())
    # two epochs of six steps each were in the checkpoint
    assert ended["first"] == 2 * 6 + 1

    model = network()
    history = fit_network(model, windows(), windows(60, 6, 1), CONFIG, autocast(CPU))
    assert [one["number"] for one in ended["epochs"]] == [one.number for one in history]
    for one, expected in zip(ended["epochs"], history, strict=True):
        assert one["validation_error"] == pytest.approx(expected.validation_error, rel=1e-5)
    found = load_file(tmp_path / "weights.safetensors")
    for name, value in model.state_dict().items():
        if not name.endswith(OF_KEYS):
            torch.testing.assert_close(found[name], value, rtol=1e-4, atol=1e-5, msg=name)


def test_an_error_in_one_process_ends_all(tmp_path: Path) -> None:
    _, said = run(2, TASKS, "broken", tmp_path, fails=True)
    assert "ZeroDivisionError: on purpose" in said
    assert not list(tmp_path.glob("ended-*"))
