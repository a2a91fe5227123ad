"""THOC: layers that skip points, and centres at every scale, against the definitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from rivals.small import assess, batch
from subadjacent.rivals.thoc import SHARPNESS, THOC, Scale, THOCConfig
from tiny import WINDOW

CONFIG = THOCConfig(channels=2, window=WINDOW, width=6, skips=(1, 2, 4), centres=(4, 3, 2))


def network(**settings: Any) -> THOC:
    return THOC.seeded(replace(CONFIG, **settings), 0).eval()


def scales(model: THOC) -> list[Scale]:
    return [one for one in model.scales if isinstance(one, Scale)]


@torch.no_grad()
@pytest.mark.parametrize("skip", [1, 2, 5, 12, 20, 10**12])
def test_a_layers_state_is_that_of_as_many_points_before_as_it_skips(skip: int) -> None:
    scale, rows = Scale(2, 3, skip, 2, channels=2), batch(CONFIG)
    cell = nn.GRUCell(2, 3)
    for name, value in cell.named_parameters():
        value.copy_(dict(scale.recurrent.named_parameters())[f"{name}_l0"])
    states: list[Tensor] = []
    for at in range(WINDOW):
        before = states[at - skip] if at >= skip else torch.zeros(3, 3)
        states.append(cell(rows[:, at], before))
    found = scale.features(rows)
    torch.testing.assert_close(found, torch.stack(states, dim=1))
    forecasts = scale.forecasts(found)
    for at in range(WINDOW):
        before = states[at - skip] if at >= skip else torch.zeros(3, 3)
        torch.testing.assert_close(forecasts[:, at], scale.forecast(before))


def slow_distances(model: THOC, window: Tensor) -> Tensor:
    """Point after point, scale after scale, group after group; (scales, N)."""
    layers, points = [], window[None]
    for scale in scales(model):
        points = scale.features(points)
        layers.append(points[0])
    found = torch.zeros(len(layers), len(window))
    for at in range(len(window)):
        groups, chances = [layers[0][at]], [1.0]
        for number, scale in enumerate(scales(model)):
            if number:
                both = [torch.cat([one, layers[number][at]]) for one in groups]
                groups = [model.merge[number - 1](one) for one in both]
            count = len(scale.centres)
            arriving, coming = [torch.zeros(6) for _ in range(count)], [0.0] * count
            for one, chance in zip(groups, chances, strict=True):
                cosines = [functional.cosine_similarity(one, c, dim=0) for c in scale.centres]
                weights = [(SHARPNESS * cosine).exp().item() for cosine in cosines]
                for k in range(count):
                    assigned = weights[k] / sum(weights)
                    arriving[k] += assigned * one
                    coming[k] += assigned * chance
                    found[number, at] += chance * assigned * (1 - cosines[k])
            groups, chances = arriving, coming
    return found


@torch.no_grad()
@pytest.mark.parametrize(("skips", "centres"), [((1,), (3,)), ((1, 2, 4), (4, 3, 2))])
def test_the_distance_is_that_of_the_definition(
    skips: tuple[int, ...], centres: tuple[int, ...]
) -> None:
    model, rows = network(skips=skips, centres=centres), batch(CONFIG)
    assessed = assess(model, rows)
    for window, found in zip(rows, assessed.score, strict=True):
        expected = slow_distances(model, window).mean(dim=0)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_orthogonal_centres_of_any_length_are_not_crowded() -> None:
    scale = Scale(2, 3, 1, 2, channels=2)
    scale.centres.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.2, 0.0]]))
    assert scale.crowding() == 0
    scale.centres.copy_(torch.tensor([[1.0, 0.0, 0.0], [4.0, 0.0, 0.0]]))
    assert scale.crowding() == 2
    scale.centres.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]))
    assert scale.crowding() == pytest.approx(2 * 0.36)


@torch.no_grad()
def test_the_loss_adds_distance_crowding_and_errors_of_forecasts() -> None:
    model, rows = network(orthogonal_weight=0.3, forecast_weight=0.7), batch(CONFIG)
    distances, forecasts = model(rows)
    distance = torch.stack(distances)
    crowding = sum(one.crowding() for one in scales(model)) / 3
    errors = [
        (rows[:, skip:] - one[:, skip:]).square().mean()
        for skip, one in zip((1, 2, 4), forecasts, strict=True)
    ]
    (loss,) = model.losses(rows, epoch=1)
    torch.testing.assert_close(loss, distance.mean() + 0.3 * crowding + 0.7 * sum(errors) / 3)


@torch.no_grad()
def test_what_is_expected_is_the_mean_of_the_scales_forecasts() -> None:
    model, rows = network(), batch(CONFIG)
    _, forecasts = model(rows)
    assessed = assess(model, rows)
    torch.testing.assert_close(assessed.expected, sum(forecasts) / 3)
    torch.testing.assert_close(assessed.error, (rows - assessed.expected).square())
    assert model.context == WINDOW // 2
