"""Scores of points: Eq. 6 by hand, then window by window against loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.core.band import Band
from subadjacent.data.scaling import fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, stack
from subadjacent.errors import InputError
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.scoring.point import (
    PointConfig,
    channel_errors,
    expected_values,
    score_points,
    weighted,
)

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


def stretch_oracle(
    model: SubAdjacentTransformer, rows: np.ndarray, stride: int, t: float
) -> list[np.ndarray]:
    """Each row of an unbroken stretch: the mean over all windows of the grid that cover it.

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
    """All rows of all series, stretch by stretch: error, contribution, score, reconstruction."""
    values = found.values.numpy()
    return np.array(
        [
            point
            for one in found.stretches
            for point in stretch_oracle(model, values[one.at : one.at + one.rows], stride, t)
        ]
    )


def rows_of(found: Stack, stacked_rows: np.ndarray) -> np.ndarray:
    return np.concatenate(found.unstack(stacked_rows))


def test_equation_6_by_hand() -> None:
    # the weights are 1, 1/2 and 1 over their mean, 5/6
    error = torch.tensor([1.0, 1.0, 2.0])
    contribution = torch.tensor([0.0, math.log(2), 0.0])
    found = weighted(error, contribution, temperature=1.0)
    torch.testing.assert_close(found, torch.tensor([1.2, 0.6, 2.4]))


def test_no_temperature_leaves_the_plain_error() -> None:
    error = torch.rand(2, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(weighted(error, 7 * error, temperature=0.0), error)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 100))
def test_weights_have_a_mean_of_one(contributions: list[float], temperature: float) -> None:
    contribution = torch.tensor(contributions, dtype=torch.float64)
    weights = weighted(torch.ones_like(contribution), contribution, temperature)
    assert weights.mean().item() == pytest.approx(1)
    # less contribution, more weight
    assert (weights[contribution.argmin()] >= weights).all()


@pytest.mark.parametrize("temperature", [0.0, 5.0, 50.0])
@pytest.mark.parametrize("n", LENGTHS)
def test_every_row_is_scored_as_by_hand(
    model: SubAdjacentTransformer, n: int, temperature: float
) -> None:
    found = stacked(walk(n))
    points = score_points(model, found, PointConfig(temperature))
    expected = series_oracle(model, found, WINDOW, temperature)
    for column, name in enumerate(("error", "contribution", "score")):
        scores = rows_of(found, getattr(points, name))
        assert scores.shape == (n,)
        assert np.isfinite(scores).all()
        np.testing.assert_allclose(scores, expected[:, column], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("stride", [1, 3, 5, WINDOW])
@pytest.mark.parametrize("n", LENGTHS)
def test_overlapping_windows_are_averaged(
    model: SubAdjacentTransformer, n: int, stride: int
) -> None:
    # two stretches, and a second series
    found = stacked(walk(n + 11, starts=(0, n)), walk(9, seed=1))
    points = score_points(model, found, PointConfig(5.0, stride=stride))
    expected = series_oracle(model, found, stride, 5.0)
    np.testing.assert_allclose(rows_of(found, points.score), expected[:, 2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(rows_of(found, points.error), expected[:, 0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("block", [1, 2, 7, WINDOW, 20, 1000])
def test_blocks_begin_anew_with_every_stretch_and_leave_the_padding_out(
    model: SubAdjacentTransformer, block: int
) -> None:
    found = stacked(walk(21, starts=(0, 3)), walk(5, seed=1), walk(1, seed=2))
    points = score_points(model, found, PointConfig(5.0, block=block))
    errors = rows_of(found, points.error).tolist()
    contributions = rows_of(found, points.contribution).tolist()
    expected: list[float] = []
    for first, last in ((0, 3), (3, 21), (21, 26), (26, 27)):
        for start in range(first, last, block):
            rows = slice(start, min(start + block, last))
            expected += weigh_oracle(errors[rows], contributions[rows], 5.0)
    np.testing.assert_allclose(rows_of(found, points.score), expected, rtol=1e-5)


def test_a_block_of_the_window_is_the_default_where_windows_tile(
    model: SubAdjacentTransformer,
) -> None:
    found = stacked(walk(4 * WINDOW))
    default = score_points(model, found, PointConfig(5.0))
    same = score_points(model, found, PointConfig(5.0, block=WINDOW))
    np.testing.assert_allclose(same.score, default.score, rtol=1e-6)


@given(st.integers(WINDOW, 40), st.integers(1, 20), st.sampled_from([2, 5, WINDOW]))
def test_scores_in_complete_windows_stay_when_rows_come(
    model: SubAdjacentTransformer, n: int, more: int, stride: int
) -> None:
    series = walk(n + more)
    config = PointConfig(5.0, stride=stride)

    def scores(rows: int) -> np.ndarray:
        return score_points(model, stacked(TrainSeries(series.values[:rows])), config).score

    # rows that no window to come will cover
    settled = (n - WINDOW) // stride * stride + stride
    np.testing.assert_allclose(scores(n + more)[:settled], scores(n)[:settled], rtol=1e-4)


def test_windows_at_once_by_hand() -> None:
    assert PointConfig(at_once=1000).windows_at_once(100) == 10
    assert PointConfig(at_once=1000).windows_at_once(300) == 3
    assert PointConfig(at_once=1000).windows_at_once(1001) == 1


def test_how_many_are_scored_at_once_does_not_matter(model: SubAdjacentTransformer) -> None:
    found = stacked(walk(50), walk(33, seed=1))
    one = score_points(model, found, PointConfig(5.0, stride=3, at_once=1))
    many = score_points(model, found, PointConfig(5.0, stride=3, at_once=10_000))
    np.testing.assert_allclose(one.score, many.score, rtol=1e-4)


def test_scoring_neither_trains_nor_needs_a_network_in_evaluation_mode() -> None:
    config = SubAdjacentConfig(
        channels=3, width=8, heads=2, layers=1, feedforward=8, band=Band(1, 2)
    )
    model = SubAdjacentTransformer.seeded(config, 0).train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    points = score_points(model, stacked(walk(20)), PointConfig())
    assert type(points.score) is np.ndarray
    assert points.score.dtype == np.float32
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())


@pytest.mark.parametrize("stride", [3, WINDOW])
def test_expected_values_are_the_mean_reconstruction(
    model: SubAdjacentTransformer, stride: int
) -> None:
    found = stacked(walk(27, starts=(0, 3)), walk(9, seed=1))
    wanted = found.restack([np.ones(27, dtype=bool), np.ones(9, dtype=bool)])
    values = expected_values(model, found, PointConfig(stride=stride), wanted)
    expected = series_oracle(model, found, stride, 0.0)[:, 3:]
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)


@given(st.sets(st.integers(0, 35)), st.sampled_from([3, WINDOW]))
def test_wanted_rows_are_rows_of_the_whole_reconstruction(
    model: SubAdjacentTransformer, rows: set[int], stride: int
) -> None:
    found = stacked(walk(27, starts=(0, 3)), walk(9, seed=1))
    config = PointConfig(stride=stride)
    everything = np.ones(len(found.values), dtype=bool)
    wanted = np.isin(np.arange(len(everything)), list(rows))
    some = expected_values(model, found, config, wanted)
    assert some.shape == (len(rows), 3)
    np.testing.assert_allclose(
        some, expected_values(model, found, config, everything)[wanted], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(("wanted", "windows"), [([], 0), ([0], 1), ([15, 16], 2), ([79], 1)])
def test_only_windows_that_cover_a_wanted_row_are_run(
    model: SubAdjacentTransformer, wanted: list[int], windows: int
) -> None:
    run = []
    handle = model.register_forward_hook(lambda _model, inputs, _output: run.append(len(inputs[0])))
    try:
        rows = np.isin(np.arange(80), wanted)
        found = expected_values(model, stacked(walk(80)), PointConfig(), rows)
    finally:
        handle.remove()
    assert sum(run) == windows
    assert found.shape == (len(wanted), 3)


@pytest.mark.parametrize("at_once", [1, 2 * WINDOW, 1000])
def test_channel_errors_are_means_over_all_windows(
    model: SubAdjacentTransformer, at_once: int
) -> None:
    found = stacked(walk(30))
    windows = found.windows_within([(4, 30)], stride=5)
    expected = np.zeros(3)
    for start in (4, 9, 14, 19):
        rows = found.values[start : start + WINDOW].numpy()
        reconstructed = [point[3] for point in window_oracle(model, rows, 0.0)]
        expected += ((np.array(reconstructed) - rows) ** 2).mean(axis=0) / 4
    errors = channel_errors(model, windows, PointConfig(at_once=at_once))
    assert errors.dtype == np.float64
    np.testing.assert_allclose(errors, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: PointConfig(temperature=-1),
            "temperature must be a finite number of at least 0; got -1",
        ),
        (lambda: PointConfig(block=0), "block must be a whole number of at least 1; got 0"),
        (lambda: PointConfig(stride=1.5), "stride must be a whole number of at least 1; got 1.5"),
        (
            lambda: PointConfig(at_once=0),
            "at_once must be a whole number of at least 1; got 0",
        ),
        (
            lambda: PointConfig(stride=9).stride_within(8),
            (
                "scoring_stride must be at most the window, or rows go unscored; "
                "got scoring_stride=9, window=8"
            ),
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == message


def test_the_stride_is_the_window_unless_told_otherwise() -> None:
    assert PointConfig().stride_within(8) == 8
    assert PointConfig(stride=3).stride_within(8) == 3
    assert PointConfig(stride=8).stride_within(8) == 8
