"""OmniAnomaly: flows against their definition, and a chain that carries information over time."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from rivals.small import assess, batch
from subadjacent.rivals.gaussian import surprise
from subadjacent.rivals.omni_anomaly import Flow, OmniAnomaly, OmniAnomalyConfig
from tiny import WINDOW

CONFIG = OmniAnomalyConfig(channels=2, window=WINDOW, width=8, latent=3, flows=2)


def network() -> OmniAnomaly:
    return OmniAnomaly.seeded(CONFIG, 0).eval()


@torch.no_grad()
def test_a_flow_of_one_number_by_hand() -> None:
    flow = Flow(1)
    flow.direction.copy_(torch.tensor([2.0]))
    flow.shift.copy_(torch.tensor([0.5]))
    # w u = 1 is held above -1 by -1 + log(1 + e)
    along = math.log(1 + math.e) - 1
    found, growth = flow(torch.tensor([0.5]))
    assert found.item() == pytest.approx(0.5 + along / 2 * math.tanh(1))
    assert growth.item() == pytest.approx(math.log(1 + along * (1 - math.tanh(1) ** 2)))


@pytest.mark.parametrize("shift", [0.0, 3.0, -30.0])
def test_a_flow_is_one_to_one_and_tells_how_volume_grows(shift: float) -> None:
    flow = Flow(3)
    with torch.no_grad():
        flow.direction.copy_(torch.tensor([1.0, -0.5, 0.2]))
        flow.shift.copy_(shift * torch.tensor([1.0, 0.3, 0.1]))
        flow.offset.fill_(0.4)
    point = torch.tensor([0.3, -1.0, 0.8])
    jacobian = torch.autograd.functional.jacobian(lambda one: flow(one)[0], point)
    determinant = torch.linalg.det(jacobian)
    assert determinant > 0
    torch.testing.assert_close(flow(point)[1], determinant.log(), rtol=1e-3, atol=1e-5)


@torch.no_grad()
def test_the_prior_expects_what_the_transition_makes_of_the_point_before() -> None:
    model, latent = network(), torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(1))
    model.transition.copy_(torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    found = model.prior(latent)
    for window, row in zip(latent, found, strict=True):
        before = torch.zeros(3)
        for point, one in zip(window, row, strict=True):
            expected = model.transition @ before
            torch.testing.assert_close(one, surprise(point, expected, torch.ones(3)).sum())
            before = point


@torch.no_grad()
def test_the_loss_is_the_evidence_bound_by_draws() -> None:
    model, rows = network(), batch(CONFIG)
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(3)
        chain = model.chain(rows, drawn=True)
        torch.default_generator.manual_seed(3)
        (loss,) = model.losses(rows, epoch=1)
    latent = chain.latent
    log_density = -surprise(chain.latent, chain.mean, chain.deviation).sum(dim=-1)
    for flow in model.flows:
        latent, growth = flow(latent)
        log_density = log_density - growth
    mean, deviation = model.decode(latent)
    likelihood = -surprise(rows, mean, deviation).sum(dim=-1)
    bound = likelihood - model.prior(latent) - log_density
    torch.testing.assert_close(loss, -bound.mean())


@torch.no_grad()
def test_draws_spread_around_means_that_depend_on_the_draws_before() -> None:
    model, rows = network(), batch(CONFIG)
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(3)
        first, second = (model.chain(rows, drawn=True) for _ in range(2))
    still, again = (model.chain(rows, drawn=False) for _ in range(2))
    assert (still.latent == again.latent).all()
    assert (still.latent == still.mean).all()
    assert (first.mean[:, 0] == second.mean[:, 0]).all()
    assert (first.mean[:, 1:] != second.mean[:, 1:]).all()


def test_the_chain_alone_carries_the_first_point_to_the_last() -> None:
    """With a reader that forgets at once, latent variables remember; without the chain, nothing."""
    model = network()
    with torch.no_grad():
        # the update gate is shut: a state is its point's alone
        model.reader.weight_hh_l0.zero_()
        model.reader.bias_hh_l0[8:16] = -100.0
        model.reader.weight_ih_l0[8:16] = 0.0
    rows = batch(CONFIG).requires_grad_()

    def reach() -> Tensor:
        last = model.chain(rows, drawn=False).latent[:, -1].sum()
        (found,) = torch.autograd.grad(last, rows)
        return found.abs().amax(dim=(0, 2))

    with_chain = reach()
    assert (with_chain > 0).all()
    with torch.no_grad():
        model.from_latent.weight.zero_()
    without = reach()
    assert (without[:-1] == 0).all()
    assert without[-1] > 0


@torch.no_grad()
def test_the_score_is_the_mean_surprise_at_the_mean_of_the_chain() -> None:
    model, rows = network(), batch(CONFIG)
    latent, _ = model.bend(model.chain(rows, drawn=False).latent)
    mean, deviation = model.decode(latent)
    assessed = assess(model, rows)
    torch.testing.assert_close(assessed.score, surprise(rows, mean, deviation).mean(dim=-1))
    torch.testing.assert_close(assessed.expected, mean)
    torch.testing.assert_close(assessed.error, (rows - mean).square())
    assert model.context == WINDOW // 2
