"""The Anomaly Transformer: two phases in one backward pass, and the detector around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from subadjacent.core.association import discrepancy
from subadjacent.rivals.anomaly_transformer import AnomalyTransformer, AnomalyTransformerConfig
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import autocast
from subadjacent.training.fit import fit_network
from subadjacent.training.loop import validate
from tiny import CPU, windows

CONFIG = AnomalyTransformerConfig(channels=2, width=8, heads=2, layers=2, feedforward=8)
both_attentions = pytest.mark.parametrize("attention", ["vanilla", "softmax"])


def network(attention: str = "vanilla", seed: int = 0) -> AnomalyTransformer:
    return AnomalyTransformer.seeded(replace(CONFIG, attention=attention), seed)


def batch(n: int = 12) -> Tensor:
    return torch.randn(3, n, 2, generator=torch.Generator().manual_seed(5))


@both_attentions
@pytest.mark.parametrize("n", [1, 7])
def test_every_length_is_reconstructed_with_a_discrepancy_a_point(attention: str, n: int) -> None:
    found = network(attention)(batch(n))
    assert found.values.shape == (3, n, 2)
    assert found.contribution.shape == (3, n)
    assert (found.contribution >= 0).all()
    rows = network(attention).attention(batch(n)).sum(dim=-1)
    assert rows.shape == (2, 3, 2, n)
    # linear attention leaves a row without mass near zero: see core/attention.py
    whole = torch.isclose(rows, torch.ones(())) | (rows < 1e-5)
    assert whole.all()
    assert attention == "softmax" or (rows > 0.5).all()


@both_attentions
def test_one_backward_pass_gives_the_gradients_of_the_two_phases(attention: str) -> None:
    rows, weight = batch().double(), 3.0
    joint, apart = network(attention).double(), network(attention).double()
    joint.losses(rows, 1)[0].backward()

    def phase(sign: float) -> None:
        """One published phase; gradients add up over the two."""

        def measure(series: Tensor, prior: Tensor) -> Tensor:
            if sign < 0:
                return discrepancy(series, prior.detach())
            return discrepancy(series.detach(), prior)

        values, found = apart._run(rows, measure)
        (functional.mse_loss(values, rows) + sign * weight * found.mean()).backward()

    phase(-1.0)
    phase(+1.0)
    for name, parameter in joint.named_parameters():
        there = apart.get_parameter(name).grad
        assert parameter.grad is not None, name
        assert there is not None, name
        torch.testing.assert_close(parameter.grad, there, rtol=1e-9, atol=1e-12)


def test_the_evidence_is_the_squared_error_the_reconstruction_and_the_discrepancy() -> None:
    model, rows = network(), batch()
    values, found = model(rows)
    evidence = model.assess(rows)
    torch.testing.assert_close(evidence.error, (values - rows) ** 2)
    assert torch.equal(evidence.expected, values)
    assert torch.equal(evidence.traces["contribution"], found)


@both_attentions
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_lowers_the_error_and_raises_the_discrepancy(
    attention: str, precision: str
) -> None:
    model, validation = network(attention), windows(60, stride=6, seed=1)
    before = validate(model, validation, 16).error
    config = TrainingConfig(epochs=6, batch_size=16, learning_rate=3e-3)
    history = fit_network(model, windows(), validation, config, autocast(CPU, precision))
    assert validate(model, validation, 16).error < 0.6 * before
    assert history[-1].traces["contribution"] > history[0].traces["contribution"]


# ---- the detector
