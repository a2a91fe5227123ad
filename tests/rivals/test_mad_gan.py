"""MAD-GAN: whose parameters each loss changes, the search, and a discriminator that separates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional

from rivals.small import assess, batch
from subadjacent.rivals.mad_gan import MADGAN, STEP, MADGANConfig
from tiny import WINDOW

CONFIG = MADGANConfig(channels=2, window=WINDOW, width=8, depth=1, latent=3, search=4)


def network(**settings: Any) -> MADGAN:
    return MADGAN.seeded(replace(CONFIG, **settings), 0).eval()


@torch.no_grad()
def test_losses_are_cross_entropies_of_real_and_generated_windows() -> None:
    model, rows = network(), batch(CONFIG)
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(3)
        made = model.realness(model.generate(torch.randn(3, WINDOW, 3)))
        torch.default_generator.manual_seed(3)
        told_apart, passed_off = model.losses(rows, epoch=1)
    real = model.realness(rows)
    entropy = functional.binary_cross_entropy_with_logits
    ones, zeros = torch.ones_like(real), torch.zeros_like(real)
    torch.testing.assert_close(told_apart, entropy(real, ones) + entropy(made, zeros))
    torch.testing.assert_close(passed_off, entropy(made, ones))


def test_each_loss_has_parameters_of_its_own() -> None:
    model = network()
    assess, maker = (set(map(id, group)) for group in model.parameter_groups())
    assert not assess & maker
    assert assess | maker == set(map(id, model.parameters()))
    made = model.generate(torch.ones(1, WINDOW, 3)).sum()
    used = torch.autograd.grad(made, model.parameter_groups()[1])
    assert all(one.abs().sum() > 0 for one in used)


def test_the_search_is_adam_from_zero_on_the_squared_error() -> None:
    model, rows = network(), batch(CONFIG)
    found = model.nearest(rows)
    latent = torch.zeros(3, WINDOW, 3, requires_grad=True)
    mean, square = torch.zeros_like(latent), torch.zeros_like(latent)
    for number in range(1, 5):
        error = (model.generate(latent) - rows).square().sum()
        (gradient,) = torch.autograd.grad(error, [latent])
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient.square()
        scaled = (square / (1 - 0.999**number)).sqrt() + 1e-8
        move = STEP * mean / (1 - 0.9**number) / scaled
        latent = (latent - move).detach().requires_grad_()
    torch.testing.assert_close(found, model.generate(latent).detach(), rtol=1e-3, atol=1e-5)


def test_the_search_comes_nearer_and_no_window_bears_on_another() -> None:
    model, rows = network(search=20), batch(CONFIG)
    with torch.inference_mode():
        both, alone = assess(model, rows), assess(model, rows[1:2])
        start = network(search=0).assess(rows)
        again = assess(model, rows)
    assert (both.error.mean(dim=(1, 2)) < start.error.mean(dim=(1, 2))).all()
    torch.testing.assert_close(both.error[1:2], alone.error, rtol=1e-3, atol=1e-4)
    assert (both.error == again.error).all()
    assert all(one.grad is None for one in model.parameters())


@torch.no_grad()
@pytest.mark.parametrize("residual", [0.0, 0.3, 1.0])
def test_the_score_weighs_what_is_left_and_what_looks_unreal(residual: float) -> None:
    model, rows = network(residual=residual), batch(CONFIG)
    assessed, expected = assess(model, rows), model.nearest(rows)
    left = (rows - expected).abs().mean(dim=-1)
    unreal = -torch.sigmoid(model.realness(rows)).log()
    torch.testing.assert_close(assessed.score, residual * left + (1 - residual) * unreal)
    torch.testing.assert_close(assessed.error, (rows - expected).square())
    torch.testing.assert_close(assessed.expected, expected)
    torch.testing.assert_close(assessed.traces["unreal"], unreal)


def test_paper_widths() -> None:
    """Three layers of 100 units in the generator, one in the discriminator, four gates each."""
    model = MADGAN.seeded(MADGANConfig(channels=5, window=30), 0)
    generator = 400 * (15 + 100 + 2) + 2 * 400 * (100 + 100 + 2)
    discriminator = 400 * (5 + 100 + 2)
    ends = 5 * 101 + 101
    assert sum(one.numel() for one in model.parameters()) == generator + discriminator + ends
