"""What a network says of rows: by hand, then window by window against loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from subadjacent.core.band import Band
from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, stack
from subadjacent.errors import InputError
from subadjacent.methods.neural.paper_score import PaperScore
from subadjacent.methods.neural.row_scores import (
    RowEvidence,
    assess_rows,
    check_stride,
    usual_errors,
)
from subadjacent.networks.network import Network, WindowEvidence
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

WINDOW = 8
LENGTHS = [1, 2, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 2 * WINDOW + 7]

# one row's error, contribution, score and reconstruction
Point = tuple[float, float, float, list[float]]


@pytest.fixture(scope="module")
def model() -> SubAdjacentTransformer:
    config = SubAdjacentConfig(
        channels=3, width=8, heads=2, layers=1, feedforward=8, band=Band(1, 2)
    )
    return SubAdjacentTransformer.seeded(config, 0)


def walk(n: int, seed: int = 0, starts: tuple[int, ...] = (0,)) -> TrainSeries:
    steps = np.random.default_rng(seed).normal(size=(n, 3))
    return TrainSeries(np.cumsum(steps, axis=0), starts=starts)


def stacked(*series: TrainSeries) -> Stack:
    # the scale is that of one long walk, whatever is scored
    return stack(series, fit_scalers([walk(200, seed=9)]), WINDOW)


def weigh_oracle(errors: list[float], contributions: list[float], t: float) -> list[float]:
    """Eq. 6 read aloud, with weights whose mean is 1."""
    powers = [math.exp(-t * contribution) for contribution in contributions]
    n, total = len(powers), sum(powers)
    return [error * n * power / total for error, power in zip(errors, powers, strict=True)]


@torch.no_grad()
def window_oracle(model: SubAdjacentTransformer, rows: np.ndarray, t: float) -> list[Point]:
    """Every point of one window."""
    values, contribution = model(torch.tensor(rows)[None])
    expected = values[0].tolist()
    errors = [
        sum((e - x) ** 2 for e, x in zip(row, seen, strict=True)) / len(row)
        for row, seen in zip(expected, rows.tolist(), strict=True)
    ]
    contributions = contribution[0].tolist()
    scores = weigh_oracle(errors, contributions, t)
    return list(zip(errors, contributions, scores, expected, strict=True))


def segment_oracle(
    model: SubAdjacentTransformer, rows: np.ndarray, stride: int, t: float
) -> list[np.ndarray]:
    """Each row of an unbroken segment: the mean over all windows of the grid that cover it.

    What no window of the grid covers is taken from one window at the end.
    """
    n = len(rows)
    while len(rows) < WINDOW:
        rows = np.concatenate([rows, rows[::-1]])[: max(WINDOW, n)]
    starts = range(0, len(rows) - WINDOW + 1, stride)
    seen: list[list[Point]] = [[] for _ in rows]
    for start in starts:
        for place, point in enumerate(window_oracle(model, rows[start : start + WINDOW], t)):
            seen[start + place].append(point)
    for place, point in enumerate(window_oracle(model, rows[-WINDOW:], t), len(rows) - WINDOW):
        if place >= starts[-1] + WINDOW:
            seen[place].append(point)
    return [
        np.array(
            [[error, contribution, score, *values] for error, contribution, score, values in points]
        ).mean(axis=0)
        for points in seen[:n]
    ]


def series_oracle(model: SubAdjacentTransformer, found: Stack, stride: int, t: float) -> np.ndarray:
    """All rows of all series, segment by segment: error, contribution, score, reconstruction."""
    values = found.values.numpy()
    return np.array(
        [
            point
            for one in found.segments
            for point in segment_oracle(model, values[one.at : one.at + one.rows], stride, t)
        ]
    )


def rows_of(found: Stack, stacked_rows: np.ndarray) -> np.ndarray:
    return np.concatenate(found.unstack(stacked_rows))


def assessed(
    model: SubAdjacentTransformer, found: Stack, temperature: float = 50.0, stride: int = WINDOW
) -> RowEvidence:
    return assess_rows(model, found, stride, PaperScore(temperature).of_windows)


@pytest.mark.parametrize("stride", [1, 3, 5, WINDOW])
@pytest.mark.parametrize("n", LENGTHS)
def test_overlapping_windows_are_averaged(
    model: SubAdjacentTransformer, n: int, stride: int
) -> None:
    # two segments, and a second series
    found = stacked(walk(n + 11, starts=(0, n)), walk(9, seed=1))
    points = assessed(model, found, 5.0, stride)
    expected = series_oracle(model, found, stride, 5.0)
    near = {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(rows_of(found, points.score), expected[:, 2], **near)
    for column, name in enumerate(("error", "contribution")):
        trace = rows_of(found, points.traces[name])
        np.testing.assert_allclose(trace, expected[:, column], **near)
    assert points.expected is not None
    np.testing.assert_allclose(
        rows_of(found, points.expected), expected[:, 3:], rtol=1e-4, atol=1e-5
    )
    assert points.by_channel is not None
    np.testing.assert_allclose(points.by_channel.mean(axis=1), points.traces["error"], **near)


@pytest.mark.parametrize(("at_once", "batches"), [(1, [1] * 5), (16, [2, 2, 1]), (1000, [5])])
def test_so_many_points_are_judged_at_once(
    model: SubAdjacentTransformer, at_once: int, batches: list[int]
) -> None:
    run: list[int] = []
    handle = model.register_forward_hook(lambda _model, inputs, _output: run.append(len(inputs[0])))
    try:
        found = assess_rows(
            model,
            stacked(walk(40)),
            WINDOW,
            PaperScore(5.0).of_windows,
            points_at_once=at_once,
        )
    finally:
        handle.remove()
    # every window once
    assert run == batches
    np.testing.assert_allclose(
        found.score, assessed(model, stacked(walk(40)), 5.0).score, rtol=1e-4
    )


def test_what_is_known_of_channels_can_be_left_out(model: SubAdjacentTransformer) -> None:
    found = stacked(walk(30))
    plain = assess_rows(model, found, WINDOW, PaperScore(5.0).of_windows, channels=False)
    assert plain.by_channel is None
    assert plain.expected is None
    np.testing.assert_array_equal(plain.score, assessed(model, found, 5.0).score)


class Distant(Network):
    """Expects nothing: the error of a point is its distance from the first, in every channel."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # it has no settings
        self.unused = nn.Parameter(torch.zeros(()))

    def losses(self, windows: Tensor, epoch: int) -> list[Tensor]:  # noqa: ARG002
        return [self.unused * 0]

    def assess(self, windows: Tensor) -> WindowEvidence:
        distance = (windows - windows[:, :1]).square().sum(dim=-1)
        error = distance[..., None].expand_as(windows)
        return WindowEvidence(error, None, {"distance": distance.sqrt()})


def test_a_network_without_expectations_or_contributions_scores_by_its_error() -> None:
    rows = TrainSeries(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0], [0.0, 0.0]]))
    found = stack([rows], PerEntity(Scaler(np.zeros(2), np.ones(2)), {}), 2)
    points = assess_rows(Distant(), found, 2, PaperScore(temperature=0.0).of_windows)
    # the windows are rows 0 and 1, rows 2 and 3
    assert points.score.tolist() == [0, 25, 0, 1]
    assert points.traces["distance"].tolist() == [0, 5, 0, 1]
    assert points.expected is None
    assert points.by_channel is not None
    assert points.by_channel[1].tolist() == [25, 25]


def test_scoring_neither_trains_nor_needs_a_network_in_evaluation_mode() -> None:
    config = SubAdjacentConfig(
        channels=3, width=8, heads=2, layers=1, feedforward=8, band=Band(1, 2)
    )
    model = SubAdjacentTransformer.seeded(config, 0).train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    points = assessed(model, stacked(walk(20)))
    assert type(points.score) is np.ndarray
    assert points.score.dtype == np.float32
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())


class Last(Network):
    """Forecasts a point by the one before; of the first of a window it says nothing but 9."""

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # it has no settings
        self.unused = nn.Parameter(torch.zeros(()))

    @property
    def context(self) -> int:
        return 1

    def losses(self, windows: Tensor, epoch: int) -> list[Tensor]:  # noqa: ARG002
        return [self.unused * 0]

    def assess(self, windows: Tensor) -> WindowEvidence:
        expected = torch.cat([torch.full_like(windows[:, :1], 9.0), windows[:, :-1]], dim=1)
        return WindowEvidence((windows - expected).square(), expected, {})


def test_what_a_forecast_starts_from_counts_at_the_beginning_of_a_segment_alone() -> None:
    values = np.array([0.0, 1, 3, 6, 10, 15, 21, 28])[:, None]
    one = PerEntity(Scaler(np.zeros(1), np.ones(1), clip=100.0), {})
    found = stack([TrainSeries(values, starts=(0, 5))], one, 3)
    assert check_stride(None, 3, context=1) == 2
    points = assess_rows(Last(), found, 2, PaperScore(temperature=0.0).of_windows)
    assert points.expected is not None
    assert points.expected[:, 0].tolist() == [9, 0, 1, 3, 6, 9, 15, 21]
    windows = found.windows_within([(0, 8)], stride=1)
    # of each window the two points that are forecast: by 1 and 2, 2 and 3, 3 and 4, 6 and 7
    assert usual_errors(Last(), windows).tolist() == [(1 + 4 + 4 + 9 + 9 + 16 + 36 + 49) / 8]


def test_a_window_that_is_all_context_is_refused() -> None:
    with pytest.raises(InputError, match="window must be longer than the 3 points that a forecast"):
        check_stride(None, 3, context=3)
    with pytest.raises(InputError, match="at most the window less the 3 points"):
        check_stride(6, 8, context=3)


@pytest.mark.parametrize("at_once", [1, 2 * WINDOW, 1000])
def test_usual_errors_are_means_over_all_windows(
    model: SubAdjacentTransformer, at_once: int
) -> None:
    found = stacked(walk(30))
    windows = found.windows_within([(4, 30)], stride=5)
    expected = np.zeros(3)
    for start in (4, 9, 14, 19):
        rows = found.values[start : start + WINDOW].numpy()
        reconstructed = [point[3] for point in window_oracle(model, rows, 0.0)]
        expected += ((np.array(reconstructed) - rows) ** 2).mean(axis=0) / 4
    errors = usual_errors(model, windows, points_at_once=at_once)
    assert errors.dtype == np.float64
    np.testing.assert_allclose(errors, expected, rtol=1e-5)


def test_a_stride_that_leaves_rows_out_is_refused() -> None:
    cases: list[Any] = [
        (0, "scoring_stride must be a whole number of at least 1; got 0"),
        (1.5, "scoring_stride must be a whole number of at least 1; got 1.5"),
        (
            9,
            (
                "scoring_stride must be at most the window, or rows go unscored; "
                "got scoring_stride=9, window=8"
            ),
        ),
    ]
    for stride, message in cases:
        with pytest.raises(InputError) as caught:
            check_stride(stride, 8)
        assert str(caught.value) == message


def test_the_stride_is_the_window_unless_told_otherwise() -> None:
    assert [check_stride(stride, 8) for stride in (None, 3, 8)] == [8, 3, 8]
