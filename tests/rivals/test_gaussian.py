"""Normal densities against scipy's, and draws that pass gradients on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from subadjacent.rivals.gaussian import MIN_DEVIATION, Normal, assessed, divergence, draw, surprise


@pytest.mark.parametrize(("value", "mean", "deviation"), [(0.3, -1.0, 0.5), (4.0, 1.0, 3.0)])
def test_surprise_is_the_negative_log_density(value: float, mean: float, deviation: float) -> None:
    found = surprise(*(torch.tensor(one) for one in (value, mean, deviation)))
    assert found.item() == pytest.approx(-norm(mean, deviation).logpdf(value), rel=1e-5)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (0.7, 0.4), (-1.0, 2.0)])
def test_divergence_is_the_mean_difference_of_log_densities(mean: float, deviation: float) -> None:
    own, standard = norm(mean, deviation), norm()

    def integrand(x: float) -> float:
        return own.pdf(x) * (own.logpdf(x) - standard.logpdf(x))

    expected, _ = quad(integrand, mean - 12 * deviation, mean + 12 * deviation)
    found = divergence(torch.tensor(mean), torch.tensor(deviation))
    assert found.item() == pytest.approx(expected, abs=1e-5)


def test_draws_have_the_mean_and_the_deviation_and_pass_gradients_to_both() -> None:
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(0)
        mean = torch.full((100_000,), 3.0, requires_grad=True)
        deviation = torch.full((100_000,), 2.0, requires_grad=True)
        drawn = draw(mean, deviation)
    found = drawn.detach().numpy()
    assert np.mean(found) == pytest.approx(3.0, abs=0.03)
    assert np.std(found) == pytest.approx(2.0, abs=0.03)
    drawn.sum().backward()  # type: ignore[no-untyped-call]
    assert mean.grad is not None
    assert deviation.grad is not None
    assert (mean.grad == 1).all()
    torch.testing.assert_close(deviation.grad, (drawn.detach() - 3) / 2)


def test_a_deviation_is_above_its_floor_whatever_the_features() -> None:
    layer = Normal(2, 3)
    with torch.no_grad():
        layer.map.weight.zero_()
        layer.map.bias.copy_(torch.tensor([1.0, 2.0, 3.0, -100.0, 0.0, 100.0]))
        mean, deviation = layer(torch.ones(5, 2))
    assert mean.tolist() == [[1.0, 2.0, 3.0]] * 5
    expected = torch.tensor(
        [MIN_DEVIATION, math.log(2) + MIN_DEVIATION, 100 + MIN_DEVIATION]
    ).expand(5, 3)
    torch.testing.assert_close(deviation, expected)


def test_a_point_is_assessed_by_its_mean_surprise_and_a_value_by_its_distance() -> None:
    rows = torch.tensor([[[1.0, 5.0]]])
    mean, deviation = torch.zeros(1, 1, 2), torch.tensor([[[1.0, 2.0]]])
    found: Any = assessed(rows, mean, deviation)
    assert found.score.shape == (1, 1)
    by_hand = (-norm(0, 1).logpdf(1) - norm(0, 2).logpdf(5)) / 2
    assert found.score.item() == pytest.approx(by_hand, rel=1e-5)
    assert found.error.tolist() == [[[1.0, 25.0]]]
    assert found.expected is mean
