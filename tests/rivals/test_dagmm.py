"""DAGMM: its mixture and energy against the definition, and energy that rises off the mixture."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch import Tensor

from rivals.small import assess, train_on
from subadjacent.rivals.dagmm import DAGMM, FLOOR, DAGMMConfig, Mixture, energy, fit_mixture
from tiny import WINDOW, windows

CONFIG = DAGMMConfig(channels=2, window=WINDOW, hidden=(8,), mixtures=2)


def network(config: DAGMMConfig = CONFIG) -> DAGMM:
    return DAGMM.seeded(config, 0).eval()


def draws(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_sample_counts_in_a_component_by_its_chance() -> None:
    features = torch.tensor([[0.0], [4.0]])
    found = fit_mixture(features, torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    torch.testing.assert_close(found.share, torch.tensor([0.625, 0.375]))
    torch.testing.assert_close(found.mean, torch.tensor([[0.8], [4.0]]))
    spread = (0.8**2 + 0.25 * 3.2**2) / 1.25
    torch.testing.assert_close(found.covariance.flatten(), torch.tensor([spread, 0.0]) + FLOOR)


@pytest.mark.parametrize("features", [1, 2, 3, 6])
def test_energy_is_the_negative_log_density_of_the_mixture(features: int) -> None:
    samples, chances = draws(40, features), torch.softmax(draws(40, 3, seed=6), dim=1)
    found = fit_mixture(samples, chances)
    density = np.zeros(40)
    for share, mean, covariance in zip(*(one.double().numpy() for one in found), strict=True):
        density += share * multivariate_normal(mean, covariance).pdf(samples.numpy())
    np.testing.assert_allclose(energy(samples, found), -np.log(density), rtol=1e-4)


def test_a_component_without_members_or_spread_leaves_energies_finite() -> None:
    found = fit_mixture(torch.zeros(5, 3), torch.tensor([[1.0, 0.0]]).repeat(5, 1))
    assert energy(torch.tensor([[0.0] * 3, [10.0] * 3]), found).isfinite().all()


def test_features_are_the_code_the_relative_distance_and_the_cosine() -> None:
    model, rows = network(), draws(3, WINDOW, 2)
    with torch.no_grad():
        again, features = model(rows)
    for row, one, found in zip(rows, again, features, strict=True):
        flat, back = row.flatten(), one.flatten()
        assert found[0] == pytest.approx(model.encoder(flat).item(), rel=1e-5)
        assert found[1] == pytest.approx(((flat - back).norm() / flat.norm()).item(), rel=1e-5)
        cosine = (flat @ back / flat.norm() / back.norm()).item()
        assert found[2] == pytest.approx(cosine, rel=1e-4)


def test_a_sample_near_zero_counts_as_a_tenth_of_the_usual_length() -> None:
    model, rows = network(), torch.full((1, WINDOW, 2), 1e-3)
    with torch.no_grad():
        again, features = model(rows)
    shortest = 0.1 * math.sqrt(2 * WINDOW)
    assert features[0, 1] == pytest.approx((again - rows).norm().item() / shortest, rel=1e-5)


def test_the_loss_weighs_squared_error_energy_and_inverse_variances() -> None:
    model, rows = network(), draws(6, WINDOW, 2)
    again, features = model(rows)
    found = fit_mixture(features, model.assign(features))
    inverse = sum(1 / one for part in found.covariance for one in part.diagonal())
    expected = (again - rows).square().sum() / 6 + 0.1 * energy(features, found).mean()
    (loss,) = model.losses(rows, epoch=1)
    torch.testing.assert_close(loss, expected + 0.005 * inverse)


def test_paper_widths() -> None:
    """Of the paper's settings for KDDCUP, whose samples have 120 values."""
    model = DAGMM.seeded(DAGMMConfig(channels=60, window=2), 0)
    widths = [one.out_features for one in model.modules() if isinstance(one, torch.nn.Linear)]
    assert widths == [60, 30, 10, 1, 10, 30, 60, 120, 10, 4]


@pytest.fixture(scope="module")
def trained() -> DAGMM:
    # two waves of their own phases take four numbers
    model, rows = network(replace(CONFIG, latent=4)), windows(1000)
    train_on(model, rows, epochs=6, batch_size=32)
    model.eval()
    with torch.no_grad():
        model.conclude([taken() for _ in range(2)], [])
    return model


def taken() -> Tensor:
    rows = windows(1000)
    return rows.take(torch.arange(len(rows)))


def test_the_mixture_of_all_training_samples_is_kept_and_judges(trained: DAGMM) -> None:
    with torch.no_grad():
        _, features = trained(torch.cat([taken(), taken()]))
        found = fit_mixture(features, trained.assign(features))
        assessed = assess(trained, taken())
    for kept, one in zip((trained.share, trained.mean, trained.covariance), found, strict=True):
        torch.testing.assert_close(kept, one)
    half = energy(features, Mixture(*found))[: len(taken())]
    torch.testing.assert_close(assessed.score, half[:, None].expand(-1, WINDOW))
