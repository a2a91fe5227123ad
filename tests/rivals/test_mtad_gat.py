"""MTAD-GAT: its two attentions, what is forecast from what, and the error that joins two."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from rivals.small import assess, batch
from subadjacent.rivals.mtad_gat import (
    MIN_DEVIATION,
    MTADGAT,
    GraphAttention,
    MTADGATConfig,
)

CONFIG = MTADGATConfig(channels=3, window=6, width=4, layers=1)


def network(config: MTADGATConfig = CONFIG) -> MTADGAT:
    return MTADGAT.seeded(config, 0).eval()


def attention(looking: list[float], looked_at: list[float]) -> GraphAttention:
    found = GraphAttention(len(looking))
    found.weigh.weight.data = torch.tensor([looking, looked_at])
    return found


def test_attention_is_that_of_the_definition() -> None:
    nodes = torch.randn(1, 4, 2, generator=torch.Generator().manual_seed(1))
    model = attention([0.5, -1.0], [2.0, 1.0])
    for i in range(4):
        # w · (v_i ⊕ v_j) for every j
        pair = torch.tensor([0.5, -1.0, 2.0, 1.0])
        weight = torch.stack([pair @ torch.cat([nodes[0, i], nodes[0, j]]) for j in range(4)])
        share = functional.leaky_relu(weight, 0.2).softmax(dim=0)
        mixed = sum(share[j] * nodes[0, j] for j in range(4))
        assert isinstance(mixed, Tensor)
        torch.testing.assert_close(model(nodes)[0, i], torch.sigmoid(mixed))


def test_one_attention_joins_channels_and_the_other_joins_points() -> None:
    """A value reaches its own point in every channel by one, and its channel by the other."""
    model = network()
    model.smooth = nn.Conv1d(3, 3, 1)
    nn.init.dirac_(model.smooth.weight)
    assert model.smooth.bias is not None
    nn.init.zeros_(model.smooth.bias)
    # weights that do not depend on the values: what is left is what is joined
    nn.init.zeros_(model.over_features.weigh.weight)
    nn.init.zeros_(model.over_time.weigh.weight)
    seen: list[Tensor] = []
    model.recur.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    points = batch(CONFIG, 2)[:1, :-1]
    moved = points.clone()
    moved[0, 2, 1] += 1.0
    model(points)
    model(moved)
    changed = (seen[0] != seen[1])[0].view(5, 3, 3)  # points, parts, channels
    itself, of_features, of_time = changed.unbind(dim=1)
    assert itself.nonzero().tolist() == [[2, 1]]
    assert of_features.nonzero().tolist() == [[2, 0], [2, 1], [2, 2]]
    assert of_time.nonzero().tolist() == [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]


def test_the_last_point_is_forecast_from_the_others() -> None:
    model, rows = network(), batch(CONFIG, 2)
    assessed = assess(model, rows)
    assert model.context == 5
    torch.testing.assert_close(assessed.expected[:, -1], model(rows[:, :-1]).forecast)
    moved = rows.clone()
    moved[:, -1] += 3.0
    again = assess(model, moved)
    torch.testing.assert_close(again.expected, assessed.expected)


def test_an_error_joins_forecast_and_probability() -> None:
    model, rows = network(), batch(CONFIG, 2)
    forecast = model(rows[:, :-1]).forecast
    rebuilt = model(rows[:, 1:]).reconstruction[:, -1]
    assessed = assess(model, rows).error[:, -1]
    for b, c in ((0, 0), (1, 2)):
        missed = (forecast[b, c] - rows[b, -1, c]) ** 2
        away = (rows[b, -1, c] - rebuilt[b, c]) / model.deviation[c]
        probability = torch.exp(-(away**2) / 2)
        torch.testing.assert_close(assessed[b, c], (missed + 0.8 * (1 - probability)) / 1.8)


def test_points_without_a_forecast_are_assessed_by_their_reconstruction() -> None:
    model, rows = network(MTADGATConfig(channels=3, window=6, width=4, gamma=0.0)), batch(CONFIG, 2)
    rebuilt = model(rows[:, :-1]).reconstruction
    torch.testing.assert_close(assess(model, rows).error[:, :-1], (rows[:, :-1] - rebuilt).square())


def test_the_loss_is_the_forecasts_and_the_evidence_bound() -> None:
    model, rows = network(), batch(CONFIG, 2)
    found, points = model(rows[:, :-1]), rows[:, :-1]
    missed = (found.forecast - rows[:, -1]).square().mean().sqrt()
    likely = torch.distributions.Normal(found.reconstruction, model.deviation).log_prob(points)
    unlikely = -likely.mean() - 0.5 * math.log(2 * math.pi)
    latent = torch.distributions.Normal(found.mean, (0.5 * found.log_variance).exp())
    standard = torch.distributions.Normal(torch.zeros(4), torch.ones(4))
    divergence = torch.distributions.kl_divergence(latent, standard).sum(dim=-1).mean() / 15
    torch.testing.assert_close(model.losses(rows, 1)[0], missed + unlikely + divergence)


def test_the_latent_is_drawn_in_training_alone() -> None:
    model, points = network(), batch(CONFIG, 2)[:, :-1]
    torch.testing.assert_close(model(points).reconstruction, model(points).reconstruction)
    model.train()
    assert not torch.equal(model(points).reconstruction, model(points).reconstruction)


def test_a_deviation_has_a_floor() -> None:
    model = network()
    model.spread.data.fill_(-100.0)
    torch.testing.assert_close(model.deviation, torch.full((3,), MIN_DEVIATION))
