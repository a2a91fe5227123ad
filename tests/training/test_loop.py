"""The loop yields epochs, and does nothing else."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from subadjacent.data.windows import Windows
from subadjacent.networks.subadjacent import SubAdjacentTransformer
from subadjacent.runtime import Progress
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.history import Epoch
from subadjacent.training.loop import train, validate
from subadjacent.training.step import set_learning_rate
from tiny import CPU, WINDOW, network, weights, windows


def run(model: SubAdjacentTransformer, config: TrainingConfig, **others: Any) -> list[Epoch]:
    optimizer = torch.optim.Adam(model.parameters())
    validation = windows(60, stride=6, seed=1)
    return list(train(model, windows(), validation, config, [optimizer], autocast(CPU), **others))


def test_validation_error_is_the_mean_square_over_all_points() -> None:
    model = network()
    with torch.no_grad():
        model.reconstruct.weight.zero_()
        model.reconstruct.bias.copy_(torch.tensor([1.0, 3.0]))
    two = Windows(torch.zeros(24, 2), torch.tensor([0, 12]), WINDOW)
    # every point is rebuilt as (1, 3): squares 1 and 9, mean 5
    assert validate(model, two, batch_size=1).error == pytest.approx(5.0)


def test_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    outcomes = []
    for seed in (1, 1, 2):
        model = network()
        run(model, TrainingConfig(epochs=2, batch_size=16, seed=seed))
        outcomes.append(weights(model))
    np.testing.assert_array_equal(outcomes[0], outcomes[1])
    assert not np.array_equal(outcomes[0], outcomes[2])


def test_an_epoch_depends_on_its_number_and_not_on_the_process_that_ran_the_one_before() -> None:
    whole, parts = network(), network()
    config = TrainingConfig(epochs=2, batch_size=16)
    run(whole, config)
    optimizer = torch.optim.Adam(parts.parameters())
    validation = windows(60, stride=6, seed=1)
    for first in (1, 2):
        one = train(parts, windows(), validation, config, [optimizer], autocast(CPU), first=first)
        next(one)
    np.testing.assert_array_equal(weights(whole), weights(parts))


@pytest.mark.parametrize(
    ("settings", "rates"),
    [({}, [0.08, 0.04, 0.02, 0.01]), ({"steady_epochs": 2}, [0.08, 0.08, 0.04, 0.02])],
)
def test_learning_rate_decays_after_every_epoch_but_steady_ones(
    settings: dict[str, int], rates: list[float]
) -> None:
    model = network()
    optimizer = torch.optim.Adam(model.parameters())
    config = TrainingConfig(epochs=4, learning_rate=0.08, decay=0.5, **settings)
    epochs = train(model, windows(), windows(), config, [optimizer], autocast(CPU))
    assert [optimizer.param_groups[0]["lr"] for _ in epochs] == rates


def test_a_rate_that_a_recorded_step_reads_is_changed_in_place() -> None:
    rate = torch.tensor(0.5)
    optimizer = torch.optim.Adam(network().parameters(), lr=rate)
    set_learning_rate([optimizer], 0.25)
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25


def test_every_step_and_every_epoch_can_be_watched() -> None:
    seen: list[Progress] = []
    history = run(network(), TrainingConfig(epochs=2, batch_size=40), watch=seen.append)
    # 89 windows make 3 steps, then the epoch's own report
    assert [(p.stage, p.done, p.total, p.unit) for p in seen] == [
        ("training", done, 6, "steps") for done in (1, 2, 3, 3, 4, 5, 6, 6)
    ]
    assert seen[4].note == "epoch 2 of at most 2"
    error = f"{history[1].validation_error:.4g}"
    assert seen[7].note == f"epoch 2 of at most 2, validation error {error}"


def test_a_passed_deadline_ends_the_epoch_after_one_step() -> None:
    ticks = itertools.count()
    epochs = run(
        network(),
        TrainingConfig(epochs=1, batch_size=10),
        deadline=0.0,
        clock=lambda: float(next(ticks)),
    )
    assert len(epochs) == 1
    assert not epochs[0].complete
    assert math.isfinite(epochs[0].validation_error)


def test_training_in_bfloat16_learns_too() -> None:
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    config = TrainingConfig(epochs=6, batch_size=16, learning_rate=3e-3)
    mixed = autocast(CPU, "bfloat16")
    epochs = list(train(model, windows(), windows(60, 6, 1), config, [optimizer], mixed))
    assert epochs[-1].validation_error < 0.6 * epochs[0].validation_error
    assert all(one.dtype == torch.float32 for one in model.parameters())
