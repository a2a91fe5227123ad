"""NPSR: nominality, how scores spread, and what each of its models may see."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from rivals.small import assess, batch
from subadjacent.rivals.npsr import NPSR, NPSRConfig, induced, nominality

CONFIG = NPSRConfig(channels=3, window=10, width=8, heads=2, layers=1, reach=2)


def network(config: NPSRConfig = CONFIG) -> NPSR:
    return NPSR.seeded(config, 0).eval()


def test_nominality_is_the_share_of_a_departure_that_points_are_known_to_make() -> None:
    nominal = torch.ones(1, 4, 2)
    point = nominal + torch.tensor([[[3.0, 4.0], [3.0, 4.0], [3.0, 4.0], [0.0, 0.0]]])
    # given back, taken for the nominal point, half way in between, and no departure at all
    by_point = nominal + torch.tensor([[[3.0, 4.0], [0.0, 0.0], [1.5, 2.0], [0.0, 0.0]]])
    found = nominality(point, by_point, nominal)
    torch.testing.assert_close(found, torch.tensor([[1.0, 0.0, 0.25, 1.0]]), atol=1e-5, rtol=0)


def test_a_score_spreads_through_open_gates() -> None:
    score = torch.tensor([[0.0, 0.0, 8.0, 0.0, 0.0, 0.0]])
    gate = torch.tensor([[0.5, 0.5, 0.5, 0.5, 0.25, 1.0]])
    # to the left 8·0.5 and 8·0.5·0.5; to the right 8·0.5 and 8·0.5·0.25; a third is too far
    assert induced(score, gate, reach=2).tolist() == [[2.0, 4.0, 8.0, 4.0, 1.0, 0.0]]
    shut = torch.tensor([[0.5, 0.0, 0.5, 0.5, 0.0, 1.0]])
    assert induced(score, shut, reach=5).tolist() == [[0.0, 0.0, 8.0, 4.0, 0.0, 0.0]]


def moved(model: NPSR, at: int) -> tuple[Tensor, Tensor]:
    """Points of both reconstructions that change with a point."""
    rows = batch(CONFIG, 2)[:1]
    other = rows.clone()
    other[0, at] += 2.0
    pairs = zip(model(rows), model(other), strict=True)
    by_point, by_sequence = ((a != b)[0].any(dim=-1) for a, b in pairs)
    return by_point, by_sequence


def test_one_model_sees_the_point_alone_and_the_other_all_but_its_part() -> None:
    by_point, by_sequence = moved(network(), at=4)
    assert by_point.nonzero().flatten().tolist() == [4]
    assert by_sequence.nonzero().flatten().tolist() == [0, 1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize("window", [2, 4, 7, 23])
def test_every_point_is_hidden_once(window: int) -> None:
    model = network(NPSRConfig(channels=1, window=window, width=4, heads=1))
    assert model.hidden.shape == (min(window, 5), window, 1)
    assert model.hidden.sum(dim=0).flatten().tolist() == [1] * window
    assert model.hidden.any(dim=1).all()


@pytest.mark.parametrize(("channels", "width"), [(1, 1), (3, 1), (12, 6), (38, 10)])
def test_a_point_goes_through_at_most_half_as_many_numbers(channels: int, width: int) -> None:
    assert NPSRConfig(channels=channels, window=10).bottleneck == width


def test_the_loss_adds_both_errors() -> None:
    model, rows = network(), batch(CONFIG, 2)
    found = model(rows)
    both = (found.by_point - rows).square().mean() + (found.by_sequence - rows).square().mean()
    torch.testing.assert_close(model.losses(rows, 1)[0], both)


def test_the_gate_closes_at_a_quantile_of_the_nominality() -> None:
    model, rows = network(), batch(CONFIG, 2)
    with torch.no_grad():
        nominal = nominality(rows, *model(rows))
        model.conclude([], [rows[:1], rows[1:]])
        assessed = assess(model, rows)
    closed_at = float(model.closed_at)
    assert closed_at == pytest.approx(np.quantile(nominal, 0.985), rel=1e-5)
    error = (model(rows).by_point - rows).square()
    gate = (1 - nominal / closed_at).clamp(min=0)
    torch.testing.assert_close(assessed.score, induced(error.mean(dim=-1), gate, 2))
    torch.testing.assert_close(assessed.traces["nominality"], nominal)
    torch.testing.assert_close(assessed.error, error)
    torch.testing.assert_close(assessed.expected, model(rows).by_sequence)
