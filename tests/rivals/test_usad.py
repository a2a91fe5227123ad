"""USAD: its two weights, whose parameters each loss changes, and what the score is made of."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rivals.small import assess, batch
from subadjacent.rivals.usad import USAD, USADConfig
from tiny import WINDOW

CONFIG = USADConfig(channels=2, window=WINDOW, latent=4)


def network(config: USADConfig = CONFIG) -> USAD:
    return USAD.seeded(config, 0)


def squared(found: Tensor, rows: Tensor) -> Tensor:
    return (found - rows).square().mean()


def test_layers_halve_a_window_twice() -> None:
    widths = [tuple(one.shape) for one in network().encoder.parameters() if one.dim() == 2]
    assert widths == [(12, 24), (6, 12), (4, 6)]


@pytest.mark.parametrize("epoch", [1, 2, 5])
def test_each_error_fades_as_one_over_the_epoch_and_the_contest_grows(epoch: int) -> None:
    model, rows = network(), batch(CONFIG)
    found = model(rows)
    first, second = squared(found.first, rows), squared(found.second, rows)
    contest = squared(found.again, rows)
    share = 1 / epoch
    losses = model.losses(rows, epoch)
    torch.testing.assert_close(losses[0], share * first + (1 - share) * contest)
    torch.testing.assert_close(losses[1], share * second - (1 - share) * contest)


def test_the_second_reconstruction_is_that_of_the_first() -> None:
    model, rows = network(), batch(CONFIG)
    found = model(rows)
    again = model(found.first).second
    torch.testing.assert_close(found.again, again)


def test_the_decoders_learn_apart_and_share_the_encoder() -> None:
    model = network()
    first, second = (set(map(id, group)) for group in model.parameter_groups())
    shared = set(map(id, model.encoder.parameters()))
    assert first & second == shared
    assert first | second == set(map(id, model.parameters()))


@pytest.mark.parametrize("second", [0.0, 0.3, 1.0])
def test_the_score_weighs_the_two_errors(second: float) -> None:
    model = network(USADConfig(channels=2, window=WINDOW, latent=4, second=second))
    rows = batch(CONFIG)
    found, assessed = model(rows), assess(model, rows)
    plain, again = (found.first - rows).square(), (found.again - rows).square()
    torch.testing.assert_close(assessed.error, (1 - second) * plain + second * again)
    torch.testing.assert_close(assessed.expected, found.first)
