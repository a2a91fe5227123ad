"""The small parts of training: settings, stopping, devices."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from subadjacent.errors import InputError
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast, resolve_device
from subadjacent.training.stopping import EarlyStopping


def test_stopping_waits_for_patience_and_begins_anew_after_a_better_epoch() -> None:
    stopping = EarlyStopping(patience=2)
    improved = [stopping.update(error) for error in (3.0, 3.5, 2.0, 2.0)]
    assert improved == [True, False, True, False]
    assert not stopping.should_stop
    stopping.update(2.5)
    assert stopping.should_stop
    assert stopping.best == 2.0


def test_an_error_that_is_not_a_number_is_no_improvement() -> None:
    stopping = EarlyStopping(patience=1)
    assert not stopping.update(math.nan)
    assert stopping.should_stop


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"epochs": -1}, "epochs must be a whole number of at least 0; got -1"),
        ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1; got 2.5"),
        ({"patience": True}, "patience must be a whole number"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number above 0; got 0.0"),
        ({"decay": -1}, "decay must be a finite number above 0; got -1"),
        ({"max_training_time": 0}, "max_training_time must be a finite number above 0; got 0"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainingConfig(**setting)


def test_auto_takes_a_device_that_is_there() -> None:
    device = resolve_device("auto")
    assert torch.zeros(1, device=device).device.type == device.type


def test_a_device_may_be_named() -> None:
    assert resolve_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "", "cuda:99", "meta:x"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"device must be .*, and present; got {name!r}"):
        resolve_device(name)


def test_precision_is_full_on_a_cpu_unless_requested() -> None:
    cpu = torch.device("cpu")
    product = torch.ones(2, 2)
    for precision, expected in (
        ("auto", torch.float32),
        ("float32", torch.float32),
        ("bfloat16", torch.bfloat16),
    ):
        with autocast(cpu, precision):
            assert (product @ product).dtype == expected


def test_unknown_precision_is_refused() -> None:
    with pytest.raises(InputError, match="precision must be one of auto, float32, bfloat16"):
        autocast(torch.device("cpu"), "half")
