"""The weighted mean over all parts, and averages over rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from subadjacent.methods.views.combine import (
    Combined,
    PartOfStretch,
    combine,
    smoothed,
    smoothing_lengths,
    unusual,
)
from subadjacent.methods.views.view import PARTS
from subadjacent.scoring.usual import CHUNK

Floats = NDArray[np.float64]


def part(surprise: Floats, judged: NDArray[np.bool_]) -> PartOfStretch:
    # what it gives is worked on in place
    return PartOfStretch(lambda first, last: surprise[first:last].copy(), judged)


def test_two_rows_by_hand() -> None:
    # the first part says 2 and 4 of two channels, the third 6 and 0, at the first row only
    nothing = part(np.zeros((2, 2)), np.zeros(2, dtype=bool))
    parts = [nothing] * len(PARTS)
    parts[0] = part(np.tile([2.0, 4.0], (2, 1)), np.array([True, True]))
    parts[2] = part(np.tile([6.0, 0.0], (2, 1)), np.array([True, False]))
    factors = [1.0] * len(PARTS)
    factors[2] = 0.5
    found = combine(parts, factors, (2, 2))
    # both weigh 1: the mean of 2 and half of 6, of 4 and 0; then the first alone
    assert found.values.tolist() == [[2.5, 2.0], [2.0, 4.0]]
    assert found.rows.tolist() == [2.25, 3.0]
    assert found.by_part[0].tolist() == [1.5, 3.0]
    assert found.by_part[2].tolist() == [0.75, 0.0]


def drawn(rows: int, channels: int) -> tuple[list[Floats], list[NDArray[np.bool_]], list[float]]:
    """Surprise of parts, which rows they judge, and factors."""
    rng = np.random.default_rng(rows)
    surprise = [rng.exponential(size=(rows, channels)) for _ in PARTS]
    judged = [rng.random(rows) < 0.6 for _ in PARTS]
    # one judges everything, another nothing
    judged[0][:] = True
    judged[5][:] = False
    return surprise, judged, rng.uniform(0.1, 1, size=len(PARTS)).tolist()


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, CHUNK])
@pytest.mark.parametrize("rows", [1, 7, 8, 50, CHUNK + 3])
def test_the_combination_is_the_definition(
    rows: int, chunk: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.scoring.usual.CHUNK", chunk)
    monkeypatch.setattr("subadjacent.methods.views.combine.MANY", 0 if threads else 10**9)
    surprise, judged, factors = drawn(rows, 3)
    parts = [part(*both) for both in zip(surprise, judged, strict=True)]
    found = combine(parts, factors, (rows, 3))
    places = {*range(min(rows, 30)), rows // 2, CHUNK - 1, CHUNK, CHUNK + 1, rows - 1}
    for row in sorted(place for place in places if place < rows):
        there = [number for number in range(len(PARTS)) if judged[number][row]]
        weight = sum(PARTS[number].weight for number in there)
        by_part = {
            number: PARTS[number].weight * factors[number] * surprise[number][row] / weight
            for number in there
        }
        wanted = np.sum(list(by_part.values()), axis=0)
        np.testing.assert_allclose(found.values[row], wanted, rtol=1e-6)
        assert found.rows[row] == pytest.approx(wanted.mean())
        for number in range(len(PARTS)):
            mean = by_part[number].mean() if number in by_part else 0.0
            assert found.by_part[number, row] == pytest.approx(mean)


def test_what_parts_add_makes_the_whole() -> None:
    surprise, judged, factors = drawn(40, 2)
    found: Combined = combine(
        [part(*both) for both in zip(surprise, judged, strict=True)], factors, (40, 2)
    )
    np.testing.assert_allclose(found.by_part.sum(axis=0), found.rows)
    np.testing.assert_allclose(found.values.mean(axis=1), found.rows, rtol=1e-6)


# ---- averages over rows


def test_a_score_is_the_mean_of_three_averages_by_hand() -> None:
    rows = np.zeros(7)
    rows[3] = 9.0
    # the row itself 9; over 2 rows 4.5; over 6 rows 1.5, from row 1 to row 6
    assert smoothed(rows, 2, 0)[3] == pytest.approx((9 + 4.5 + 9 / 4) / 3)
    assert smoothed(rows, 2, 0)[6] == pytest.approx((0 + 0 + 1.5) / 3)
    assert smoothed(rows, 1, 0).tolist() == [0, 0, 0, 9, 0, 0, 0]


def test_scores_are_averaged_over_the_row_some_rows_and_three_times_as_many() -> None:
    assert smoothing_lengths(20) == (1, 20, 60)
    assert smoothing_lengths(1) == (1,)


def test_rows_that_are_alike_tie() -> None:
    rows = 0.1 + np.array([1e-12, 0, -1e-12, 0])
    assert len(set(smoothed(rows, 1, 0))) == 1


@pytest.mark.parametrize("lookahead", [0, 1, 5])
def test_a_score_looks_no_further_ahead_than_allowed(lookahead: int) -> None:
    rows = np.random.default_rng(0).exponential(size=200)
    other = rows.copy()
    other[101 + lookahead :] += 1
    before, after = (smoothed(one, 20, lookahead) for one in (rows, other))
    np.testing.assert_allclose(after[:101], before[:101], atol=1e-6)
    other[100 + lookahead] += 1
    assert smoothed(other, 20, lookahead)[100] > before[100]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 64, CHUNK])
@pytest.mark.parametrize("lookahead", [None, 0, 3])
@pytest.mark.parametrize("smoothing", [1, 2, 20])
@pytest.mark.parametrize("rows", [1, 15, 130])
def test_explanations_are_averages_as_squares(
    rows: int,
    smoothing: int,
    lookahead: int | None,
    chunk: int,
    threads: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The definition read aloud."""
    monkeypatch.setattr("subadjacent.scoring.usual.CHUNK", chunk)
    monkeypatch.setattr("subadjacent.methods.views.combine.MANY", 0 if threads else 10**9)
    values = np.random.default_rng(rows).exponential(size=(rows, 2)).astype(np.float32)
    found = unusual(values, smoothing, lookahead)
    ahead = (smoothing - 1) // 2
    if lookahead is not None:
        ahead = min(ahead, lookahead)
    for row in range(rows):
        near = values[max(row + ahead + 1 - smoothing, 0) : row + ahead + 1]
        for channel in range(2):
            mean = float(near[:, channel].astype(np.float64).mean())
            assert found[row, channel] == pytest.approx(100 * (math.exp(mean) - 1), rel=1e-5)
