"""States never seen: how far a row is from every state of all channels."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.views.combining import Floats, Rows, waves
from subadjacent.methods.views.states import (
    GUARD,
    MAX_REFERENCES,
    MIN_ROWS,
    PRIOR_ROWS,
    StateFit,
    StateView,
    fit_states,
)
from subadjacent.ridge.axes import FoldSums


def fit(*parts: Rows) -> StateFit:
    found = fit_states(parts, FoldSums(parts))
    assert found is not None
    return found


@cache
def view() -> StateView:
    return fit(waves(3000)).view


# ---- by hand


def two_channels(references: list[list[float]], usual: list[float]) -> StateView:
    """On axes that are the channels themselves."""
    axes = np.eye(2, dtype=np.float32)
    return StateView(axes, np.array(references, np.float32), np.array(usual, np.float32))


def test_two_references_in_a_plane_by_hand() -> None:
    plane = two_channels([[0, 0], [4, 0]], [0.5 - 1e-3, 2 - 1e-3])
    rows = np.array([[0, 0], [1, 2], [4, 6], [5, 0]], dtype=np.float32)
    found = plane.novelty(rows)
    # squared distances of 0, 5, 36 and 1 over two channels, by the usual one of each reference
    ratios = [0.0, 2.5 / 0.5 / 3, 18 / 2 / 3, 0.5 / 2 / 3]
    np.testing.assert_allclose(found.rows, [math.log(1 + z**2) / 2 for z in ratios], rtol=1e-4)
    # twice a row's surprise is laid on its two channels by their squares: their mean is the row's
    shares = np.array([[0, 0], [1 / 5, 4 / 5], [0, 1], [1, 0]])
    np.testing.assert_allclose(found.values, 2 * found.rows[:, None] * shares, rtol=1e-4)


def test_a_distance_that_does_not_matter_is_told_by_the_floor_by_hand() -> None:
    plane = replace(two_channels([[0, 0]], [0.0]), floor=0.5)
    found = plane.novelty(np.array([[3, 0]], dtype=np.float32))
    assert found.rows == pytest.approx(math.log(1 + (4.5 / 0.5 / 3) ** 2) / 2)


# ---- the definition read aloud


def slow_novelty(states: StateView, rows: Rows) -> tuple[list[float], NDArray[np.float64]]:
    """Loops over rows, references and channels."""
    axes = states.axes.astype(np.float64)
    scores, values = [], np.zeros(rows.shape)
    for number, row in enumerate(np.clip(rows.astype(np.float64), -10, 10)):
        point = [float(row @ axis) for axis in axes.T]
        distances = [
            sum((have - want) ** 2 for have, want in zip(point, reference, strict=True))
            for reference in states.references.tolist()
        ]
        which = distances.index(min(distances))
        ratio = distances[which] / rows.shape[1] / (float(states.usual[which]) + 1e-3) / 3
        score = math.log(1 + ratio**2) / 2
        scores.append(score)
        difference = np.array(point) - states.references[which]
        departures = [float(axes[channel] @ difference) ** 2 for channel in range(rows.shape[1])]
        for channel, departure in enumerate(departures):
            values[number, channel] = score * min(len(row), 10) * departure / sum(departures)
    return scores, values


@pytest.mark.parametrize(
    ("channels", "count", "references"), [(2, 1, 1), (5, 2, 40), (12, 23, 2), (12, 1, 40)]
)
def test_the_novelty_of_rows_is_the_definition(
    channels: int, count: int, references: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.residual_scale.CHUNK", 12)
    rng = np.random.default_rng(count)
    axes = np.linalg.qr(rng.normal(size=(channels, channels)))[0][:, :2].astype(np.float32)
    known = rng.normal(size=(references, 2)).astype(np.float32)
    states = StateView(axes, known, rng.uniform(0.1, 2, references).astype(np.float32))
    rows = (3 * rng.normal(size=(count, channels))).astype(np.float32)
    rows[0, 0] = 99.0
    scores, values = slow_novelty(states, rows)
    found = states.novelty(rows)
    np.testing.assert_allclose(found.rows, scores, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.values, values, rtol=1e-3, atol=1e-4)


def slow_fit(parts: list[Rows], axes: NDArray[np.float32]) -> tuple[Floats, Floats, Floats]:
    """References, what is usual near each, and the surprise of rows; all rows are references.

    A row is held against references at least 50 rows before the first or after the last row of
    its fold. What is usual leaves out the rows of the fold that is assessed. It is less for rows to
    come, which are held against all references.
    """
    points = np.concatenate([np.clip(part, -10, 10) @ axes for part in parts]).astype(np.float64)
    count, channels = len(points), parts[0].shape[1]
    edges = [int(edge) for edge in np.linspace(0, count, 6)]
    fold_of = [max(fold for fold in range(5) if edges[fold] <= row) for row in range(count)]
    squares, which, closer = np.zeros(count), np.zeros(count, int), np.zeros(count)
    for row in range(count):
        first, last = edges[fold_of[row]], edges[fold_of[row] + 1] - 1
        far = [other for other in range(count) if other <= first - 50 or other >= last + 50]
        distances = np.square(points[far] - points[row]).sum(axis=1) / channels
        squares[row], which[row] = distances.min(), far[int(distances.argmin())]
        closer[row] = (len(far) / count) ** (2 / axes.shape[1])

    def usual(rows: list[int]) -> Floats:
        blocks = np.array_split(squares[rows], 10)
        everywhere = math.sqrt(float(np.mean([block.mean() ** 2 for block in blocks])))
        sums, counts = np.full(count, 20 * everywhere), np.full(count, 20.0)
        for row in rows:
            sums[which[row]] += squares[row]
            counts[which[row]] += 1
        return sums / counts

    unseen = np.zeros(count)
    for fold in range(5):
        others = usual([row for row in range(count) if fold_of[row] != fold])
        for row in range(edges[fold], edges[fold + 1]):
            ratio = squares[row] / (others[which[row]] + 1e-3) / 3
            unseen[row] = math.log(1 + ratio**2) / 2
    return points, closer.mean() * usual(list(range(count))), unseen


AWKWARD: dict[str, list[Rows]] = {
    "exactly enough rows": [waves(500)],
    "several segments": [waves(300, seed=1), waves(1, seed=2), waves(283, seed=3)],
    "duplicates": [np.repeat(waves(310, seed=4), 2, axis=0)],
    "a constant channel": [np.column_stack([waves(510, seed=5), np.zeros(510, np.float32)])],
    "flags": [(waves(700, seed=6) > 0.8).astype(np.float32)],
    "far out": [np.where(np.arange(560)[:, None] == 77, np.float32(40), waves(560, seed=7))],
}


@pytest.mark.parametrize("parts", AWKWARD.values(), ids=list(AWKWARD))
def test_a_fit_is_the_definition(parts: list[Rows]) -> None:
    assert (GUARD, PRIOR_ROWS, MIN_ROWS) == (50, 20, 500)
    sums = FoldSums(parts)
    axes = sums.everything.axes()
    found = fit(*parts)
    references, usual, unseen = slow_fit(parts, axes)
    usual *= math.exp(sums.narrower() - 1)
    np.testing.assert_array_equal(found.view.axes, axes)
    np.testing.assert_allclose(found.view.references, references, atol=1e-5)
    assert [len(segment) for segment in found.unseen] == [len(part) for part in parts]
    np.testing.assert_allclose(np.concatenate(found.unseen), unseen, rtol=2e-3, atol=2e-3)
    # rounding may decide which of two references is nearer, and lend a row to the other
    close = np.isclose(found.view.usual, usual, rtol=1e-3, atol=1e-5)
    assert close.mean() > 0.99


# ---- properties


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([waves(499)], "too few rows"),
        ([waves(200), waves(299)], "too few rows in all"),
        ([waves(900)[:, :1]], "a single channel"),
        ([np.tile(waves(900)[:, :1], 3)], "channels that are all one"),
        ([np.zeros((900, 3), np.float32)], "rows that never moved"),
    ],
)
def test_some_rows_have_no_states(parts: list[Rows], why: str) -> None:
    assert fit_states(parts, FoldSums(parts)) is None, why


def test_a_row_at_a_reference_blames_no_channel() -> None:
    plane = two_channels([[0, 0], [4, 0]], [0.5, 0.5])
    found = plane.novelty(np.array([[4.0, 0.0]], dtype=np.float32))
    assert found.values.tolist() == [[0.0, 0.0]]


def test_references_are_bounded_and_two_fits_are_identical() -> None:
    rows = waves(MAX_REFERENCES + 2000, seed=8)
    first, again = fit(rows), fit(rows)
    assert 0.9 * MAX_REFERENCES < len(first.view.references) <= MAX_REFERENCES
    assert len(first.view.usual) == len(first.view.references)
    np.testing.assert_array_equal(first.view.references, again.view.references)
    np.testing.assert_array_equal(first.view.usual, again.view.usual)
    np.testing.assert_array_equal(first.unseen[0], again.unseen[0])


# ---- what it is there for
