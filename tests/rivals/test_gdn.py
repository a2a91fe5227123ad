"""GDN: its graph, what a forecast may see, and errors in units of their usual spread."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from rivals.small import assess, batch
from subadjacent.rivals.gdn import GDN, MIN_RANGE, GDNConfig

CONFIG = GDNConfig(channels=3, window=6, history=2, neighbours=1, width=4, hidden=4)


def network(config: GDNConfig = CONFIG) -> GDN:
    return GDN.seeded(config, 0)


def test_a_channel_is_joined_to_itself_and_those_with_the_most_similar_vectors() -> None:
    model = network(GDNConfig(channels=4, window=6, neighbours=1, width=2))
    # the length of a vector plays no part
    pointing = [[1.0, 0.0], [9.0, 1.0], [-1.0, 0.1], [-5.0, 0.0]]
    model.embedding.data = torch.tensor(pointing)
    assert model.graph().int().tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]


@pytest.mark.parametrize(("channels", "neighbours", "joined"), [(1, 15, 1), (3, 15, 3), (5, 2, 3)])
def test_a_channel_has_so_many_neighbours_or_all(
    channels: int, neighbours: int, joined: int
) -> None:
    model = network(GDNConfig(channels=channels, window=6, neighbours=neighbours, width=4))
    assert model.graph().sum(dim=1).tolist() == [joined] * channels


def forecast_oracle(model: GDN, history: Tensor) -> Tensor:
    """The paper's Equations 5 to 9 read aloud: one row of forecasts from history (H, C)."""
    c, graph = history.shape[1], model.graph()
    found = [model.features.weight @ history[:, i] for i in range(c)]
    known = [torch.cat([model.embedding[i], found[i]]) for i in range(c)]
    looking, looked_at = model.attend.weight
    forecasts = []
    for i in range(c):
        near = [j for j in range(c) if graph[i, j]]
        weights = torch.stack(
            [functional.leaky_relu(looking @ known[i] + looked_at @ known[j], 0.2) for j in near]
        ).softmax(dim=0)
        mixed = sum(weight * found[j] for weight, j in zip(weights, near, strict=True))
        assert isinstance(mixed, Tensor)
        forecasts.append(model.output(model.embedding[i] * torch.relu(mixed))[0])
    return torch.stack(forecasts)


def test_forecasts_are_those_of_the_definition() -> None:
    model, rows = network(), batch(CONFIG, 2)
    forecast = model(rows)
    for window, found in zip(rows, forecast, strict=True):
        for at in range(2, 6):
            torch.testing.assert_close(found[at], forecast_oracle(model, window[at - 2 : at]))
        # rows before the first are taken to equal it
        first = torch.stack([window[0], window[0]])
        torch.testing.assert_close(found[0], forecast_oracle(model, first))


def test_the_loss_leaves_out_forecasts_without_a_whole_history() -> None:
    model, rows = network(), batch(CONFIG, 2)
    (loss,) = model.losses(rows, epoch=1)
    torch.testing.assert_close(loss, (model(rows) - rows)[:, 2:].square().mean())


def test_a_short_window_leaves_a_shorter_history() -> None:
    model = network(GDNConfig(channels=2, window=4, width=4))
    assert model.context == 3
    assert model(torch.zeros(1, 4, 2)).shape == (1, 4, 2)


def test_errors_are_measured_by_their_median_and_interquartile_range() -> None:
    model, rows = network(), batch(CONFIG, 2)
    with torch.no_grad():
        model.conclude([], [rows[:1], rows[1:]])
    errors = (model(rows) - rows)[:, 2:].abs().flatten(0, 1).detach().numpy()
    low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(model.median, middle, rtol=1e-5)
    np.testing.assert_allclose(model.spread, high - low + MIN_RANGE, rtol=1e-5)


def test_a_point_scores_by_its_most_unusual_channel() -> None:
    model, rows = network(), batch(CONFIG, 2)
    model.median.copy_(torch.tensor([0.0, 1.0, 2.0]))
    model.spread.copy_(torch.tensor([1.0, 0.1, 10.0]))
    assessed, away = assess(model, rows), (model(rows) - rows).abs()
    by_hand = torch.stack([away[..., 0], (away[..., 1] - 1) / 0.1, (away[..., 2] - 2) / 10])
    torch.testing.assert_close(assessed.score, by_hand.amax(dim=0))
    torch.testing.assert_close(assessed.error, away.square())
    torch.testing.assert_close(assessed.expected, model(rows))
