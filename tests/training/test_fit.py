"""Training to the best weights, under a time limit, across interruptions."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from subadjacent.data.windows import Windows
from subadjacent.errors import InputError, ModelFileError, SubAdjacentError
from subadjacent.networks.config import TransformerConfig
from subadjacent.networks.network import Network, WindowEvidence
from subadjacent.runtime import Progress
from subadjacent.training import checkpoint as checkpoints
from subadjacent.training.checkpoint import fingerprint
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.fit import fit_network
from subadjacent.training.history import Epoch
from subadjacent.training.loop import validate
from tiny import CPU, network, weights, windows

CONFIG = TrainingConfig(epochs=4, batch_size=16, learning_rate=3e-3)
VALIDATION = windows(60, stride=6, seed=1)


def fit(model: Network, config: TrainingConfig = CONFIG, **others: Any) -> list[Epoch]:
    return fit_network(model, windows(), VALIDATION, config, autocast(CPU), **others)


class StopHere(Exception):  # noqa: N818 — a signal, not an error
    pass


def interrupt_in_epoch(number: int) -> Any:
    def watch(progress: Progress) -> None:
        # 89 windows are six steps an epoch
        if progress.done == (number - 1) * 6 + 2:
            raise StopHere

    return watch


@pytest.fixture(scope="module")
def unbroken() -> Network:
    """Trained without an interruption; tests must not change it."""
    model = network()
    fit(model)
    return model


@pytest.fixture(scope="module")
def checkpoints_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkpoints ``finished``, and ``interrupted`` in the third epoch."""
    folder = tmp_path_factory.mktemp("checkpoints")
    fit(network(), checkpoint=folder / "finished")
    with pytest.raises(StopHere):
        fit(network(), checkpoint=folder / "interrupted", watch=interrupt_in_epoch(3))
    return folder


@pytest.fixture
def finished(checkpoints_made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(checkpoints_made / "finished", tmp_path / "state"))


@pytest.fixture
def interrupted(checkpoints_made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(checkpoints_made / "interrupted", tmp_path / "state"))


def test_the_best_weights_are_kept_and_not_the_last() -> None:
    model = network()
    # a rate that soon overshoots
    history = fit(model, TrainingConfig(epochs=4, batch_size=16, learning_rate=0.2, patience=12))
    errors = [epoch.validation_error for epoch in history]
    assert errors[-1] > min(errors)
    assert validate(model, VALIDATION, 16).error == pytest.approx(min(errors))
    assert not model.training


def test_training_stops_when_patience_runs_out() -> None:
    history = fit(
        network(), TrainingConfig(epochs=50, batch_size=16, learning_rate=0.2, patience=2)
    )
    errors = [epoch.validation_error for epoch in history]
    assert len(errors) < 50
    assert np.argmin(errors) == len(errors) - 3


def test_a_time_limit_ends_training_with_the_best_weights_so_far() -> None:
    model = network()
    # a clock that ticks once a second whenever it is looked at
    ticks = itertools.count()
    history = fit(
        model,
        TrainingConfig(epochs=100_000, batch_size=16, patience=100_000, max_training_time=50),
        clock=lambda: float(next(ticks)),
    )
    assert 1 < len(history) < 50
    best = min(epoch.validation_error for epoch in history)
    assert validate(model, VALIDATION, 16).error == pytest.approx(best)


def test_a_time_limit_too_short_for_one_epoch_still_gives_weights() -> None:
    history = fit(network(), TrainingConfig(epochs=3, batch_size=8, max_training_time=1e-9))
    assert len(history) == 1
    assert not history[0].complete


def test_diverging_training_says_so() -> None:
    with pytest.raises(SubAdjacentError, match=r"training diverged.*learning_rate=1e\+30"):
        fit(network(), TrainingConfig(epochs=1, learning_rate=1e30))


def test_an_interrupted_run_goes_on_to_the_same_weights(interrupted: Path) -> None:
    whole, resumed = network(), network()
    history = fit(whole)
    again = fit(resumed, checkpoint=interrupted)
    np.testing.assert_array_equal(weights(resumed), weights(whole))
    assert [e.validation_error for e in again] == [e.validation_error for e in history]


class Noisy(Network):
    """Reconstructs under dropout, with an optimiser for each of its two maps."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.narrow, self.widen = nn.Linear(config.channels, 3), nn.Linear(3, config.channels)
        self.dropout = nn.Dropout(0.5)

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:
        error = (self.widen(self.dropout(self.narrow(windows))) - windows).square().mean()
        return error, epoch * error

    def parameter_groups(self) -> Sequence[Sequence[nn.Parameter]]:
        return [list(self.narrow.parameters()), list(self.widen.parameters())]

    def assess(self, windows: Tensor) -> WindowEvidence:
        expected = self.widen(self.dropout(self.narrow(windows)))
        return WindowEvidence((expected - windows).square(), expected, {})


def test_a_network_with_two_optimisers_that_draws_at_random_goes_on_as_well(
    tmp_path: Path,
) -> None:
    settings = TransformerConfig(channels=2)
    unbroken, broken, resumed = (Noisy.seeded(settings, 0) for _ in range(3))
    state = torch.get_rng_state()
    fit(unbroken)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(7)  # what others draw makes no difference
    with pytest.raises(StopHere):
        fit(broken, checkpoint=tmp_path / "state", watch=interrupt_in_epoch(3))
    history = fit(resumed, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(weights(resumed), weights(unbroken))
    assert history[-1].validation_error < history[0].validation_error
    assert history[-1].traces == {}


def test_a_disk_that_is_full_for_checkpoints_is_one_warning_and_training_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    unbroken: Network,
) -> None:
    import safetensors
    import safetensors.torch

    def full(*_: Any, **__: Any) -> None:
        text = "I/O error: No space left on device (os error 28)"
        raise safetensors.SafetensorError(f"Error while serializing: {text}")

    other = network()
    monkeypatch.setattr(safetensors.torch, "save_file", full)
    assert len(fit(other, checkpoint=tmp_path / "state")) == 4
    np.testing.assert_array_equal(weights(other), weights(unbroken))
    assert list(tmp_path.iterdir()) == []
    (text,) = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert text.startswith(f"the checkpoint {tmp_path / 'state'} cannot be written (No space left")
    assert "training goes on" in text


def test_a_checkpoint_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda _handle: synced.append((tmp_path / "state").exists()))
    fit(network(), TrainingConfig(epochs=1), checkpoint=tmp_path / "state")
    # the last two: a probe of the disk comes first
    assert synced[-2:] == [False, True]


def test_a_checkpoint_of_other_settings_data_or_precision_is_refused(finished: Path) -> None:
    other = TrainingConfig(epochs=4, learning_rate=1e-3)
    for data, config, precision in (
        (windows(), other, "auto"),
        (windows(seed=9), CONFIG, "auto"),
        (windows(), CONFIG, "bfloat16"),
    ):
        mixed = autocast(CPU, precision)
        with pytest.raises(ModelFileError, match="made with other settings or other data"):
            fit_network(network(), data, VALIDATION, config, mixed, checkpoint=finished)


def test_a_longer_time_limit_may_go_on_from_a_shorter_one(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with pytest.raises(StopHere):
        fit(
            network(),
            TrainingConfig(epochs=4, batch_size=16, learning_rate=3e-3, max_training_time=100),
            checkpoint=path,
            watch=interrupt_in_epoch(2),
        )
    assert len(fit(network(), checkpoint=path)) == 4


def test_an_epoch_cut_short_by_the_time_limit_is_repeated_by_the_next_run(
    tmp_path: Path, unbroken: Network
) -> None:
    path = tmp_path / "state"
    short = TrainingConfig(epochs=4, batch_size=16, learning_rate=3e-3, max_training_time=1e-9)
    assert not fit(network(), short, checkpoint=path)[-1].complete
    resumed = network()
    fit(resumed, checkpoint=path)
    np.testing.assert_array_equal(weights(resumed), weights(unbroken))


def test_a_checkpoint_of_another_schema_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    with monkeypatch.context() as patch:
        patch.setattr("subadjacent.training.checkpoint.SCHEMA", 99)
        fit(network(), checkpoint=path)
    with pytest.raises(ModelFileError, match="has checkpoint schema 99; expected 2"):
        fit(network(), checkpoint=path)


Tensors = dict[str, torch.Tensor]


def rewrite(
    path: Path, alter: Callable[[dict[str, Any], Tensors], object], *, reseal: bool = True
) -> None:
    """Alter facts and tensors of a checkpoint; ``reseal`` hides it from the hash."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors, facts = load_file(path), json.loads(metadata["facts"])
    alter(facts, tensors)
    text = json.dumps(facts)
    digest = checkpoints.digest(text, tensors) if reseal else metadata["sha256"]
    save_file(tensors, path, metadata={"facts": text, "sha256": digest})


NORM = "norm.weight"
DAMAGE: dict[str, Callable[[dict[str, Any], Tensors], object]] = {
    "schema": lambda facts, _: facts.pop("schema"),
    "schema True": lambda facts, _: facts.update(schema=True),
    "fingerprint": lambda facts, _: facts.pop("fingerprint"),
    "history": lambda facts, _: facts.pop("history"),
    "train_loss": lambda facts, _: facts["history"][0].pop("train_loss"),
    "stopping": lambda facts, _: facts.pop("stopping"),
    "patience": lambda facts, _: facts["stopping"].pop("patience"),
    NORM: lambda _, tensors: tensors.pop(f"model.{NORM}"),
    f"{NORM} ": lambda _, tensors: tensors.update({f"model.{NORM}": torch.ones(3)}),
    "x": lambda _, tensors: tensors.update({"adam.0.x": torch.ones(())}),
}


def test_a_damaged_checkpoint_is_refused_by_name(interrupted: Path) -> None:
    whole = interrupted.read_bytes()
    for what, alter in DAMAGE.items():
        rewrite(interrupted, alter)
        with pytest.raises(ModelFileError, match=what.split()[0]):
            fit(network(), checkpoint=interrupted)
        interrupted.write_bytes(whole)


def test_what_is_no_checkpoint_is_refused(interrupted: Path) -> None:
    whole, tensors = interrupted.read_bytes(), load_file(interrupted)

    def refused(message: str) -> None:
        with pytest.raises(ModelFileError, match=message):
            fit(network(), checkpoint=interrupted)

    interrupted.write_bytes(whole[:-10])
    refused("is not a readable checkpoint")
    save_file({"x": torch.zeros(1)}, interrupted)
    refused("is not a readable checkpoint")
    for facts in ("[]", "3", "{", "{}"):
        save_file(tensors, interrupted, metadata={"facts": facts, "sha256": ""})
        refused("is not a readable checkpoint")
    # a byte flipped, and a fact changed
    interrupted.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    refused("is damaged: its content does not match its hash")
    interrupted.write_bytes(whole)
    rewrite(interrupted, lambda facts, _: facts["stopping"].update(waited=1), reseal=False)
    refused("is damaged: its content does not match its hash")


def test_a_checkpoint_without_a_good_epoch_yet_can_be_gone_on_with(tmp_path: Path) -> None:
    config = TrainingConfig(epochs=2, learning_rate=1e30)
    for _ in range(2):
        with pytest.raises(SubAdjacentError, match="training diverged"):
            fit(network(), config, checkpoint=tmp_path / "state")


def test_a_checkpoint_that_cannot_be_written_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    steps: list[Progress] = []
    for name in ("file/state", "folder", "pipe", "/proc/state", "x" * 300):
        with pytest.raises(InputError, match="checkpoint must be a file that can be written"):
            fit(network(), checkpoint=tmp_path / name, watch=steps.append)
    assert not steps


def test_a_finished_checkpoint_gives_its_weights_without_training_or_writing(
    finished: Path, unbroken: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, steps = network(), list[Progress]()

    def read_only(*_: Any, **__: Any) -> None:
        raise OSError("Read-only file system")

    monkeypatch.setattr(Path, "touch", read_only)
    fit(model, checkpoint=finished, watch=steps.append)
    np.testing.assert_array_equal(weights(model), weights(unbroken))
    assert not steps
    with pytest.raises(InputError, match="Read-only file system"):
        fit(network(), checkpoint=finished.with_name("new"))


def test_a_fingerprint_changes_with_one_value_one_setting_and_one_window() -> None:
    values, starts = torch.zeros(10, 2), torch.tensor([0, 3])
    changed = values.clone()
    changed[7, 1] = 1e-6
    plain = Windows(values, starts, 4)
    prints = {
        fingerprint(plain, plain, {"epochs": 1}),
        fingerprint(plain, plain, {"epochs": 2}),
        fingerprint(Windows(changed, starts, 4), plain, {"epochs": 1}),
        fingerprint(Windows(values.reshape(20, 1), starts, 4), plain, {"epochs": 1}),
        fingerprint(Windows(values, starts, 5), plain, {"epochs": 1}),
        fingerprint(Windows(values, starts + 1, 4), plain, {"epochs": 1}),
        fingerprint(plain, Windows(values, starts + 1, 4), {"epochs": 1}),
    }
    assert len(prints) == 7
