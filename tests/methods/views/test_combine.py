"""The weighted mean over all parts, and averages over rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.methods.views.combine import (
    AddedPart,
    PartOfSegment,
    RowsOfPart,
    combine,
    combine_rows,
    smoothed,
    smoothing_lengths,
    unusual,
    unusual_rows,
)

from subadjacent.methods.views.novelty import Novelty
from subadjacent.methods.views.view import PARTS
from subadjacent.scoring.usual import CHUNK

Floats = NDArray[np.float64]


def part(
    surprise: Floats, judged: NDArray[np.bool_], weight: float = 1.0, factor: float = 1.0
) -> PartOfSegment:
    # what it gives is worked on in place
    return PartOfSegment(lambda first, last: surprise[first:last].copy(), judged, weight, factor)


def test_two_rows_by_hand() -> None:
    # the first part says 2 and 4 of two channels, the third 6 and 0, at the first row only
    everywhere, first_row = np.array([True, True]), np.array([True, False])
    parts = [
        part(np.tile([2.0, 4.0], (2, 1)), everywhere),
        part(np.zeros((2, 2)), np.zeros(2, dtype=bool)),
        part(np.tile([6.0, 0.0], (2, 1)), first_row, factor=0.5),
    ]
    found = combine(parts, (), (2, 2))
    # both weigh 1: the mean of 2 and half of 6, of 4 and 0; then the first alone
    assert found.values.tolist() == [[2.5, 2.0], [2.0, 4.0]]
    assert found.rows.tolist() == [2.25, 3.0]
    assert found.by_part[0].tolist() == [1.5, 3.0]
    assert found.by_part[2].tolist() == [0.75, 0.0]


def test_what_was_never_seen_is_added_to_the_mean_by_hand() -> None:
    both = np.array([True, True])
    parts = [part(np.full((2, 2), 2.0), both), part(np.full((2, 2), 4.0), both, weight=3.0)]
    novelty = Novelty(np.array([0.0, 8.0]), np.array([[0, 0], [8, 2]], dtype=np.float32))
    found = combine(parts, [AddedPart(novelty, 0.5)], (2, 2))
    # (2 + 3 * 4) / 4, whatever is added; then half of what the view says
    assert found.rows.tolist() == [3.5, 7.5]
    assert found.values.tolist() == [[3.5, 3.5], [7.5, 4.5]]
    assert found.by_part.tolist() == [[0.5, 0.5], [3.0, 3.0], [0.0, 4.0]]


def test_what_was_never_seen_may_be_all_there_is() -> None:
    novelty = Novelty(np.array([1.0, 8.0]), np.array([[1, 0], [8, 2]], dtype=np.float32))
    found = combine([], [AddedPart(novelty, 1.0)], (2, 2))
    assert found.rows.tolist() == [1.0, 8.0]
    assert found.values.tolist() == [[1.0, 0.0], [8.0, 2.0]]
    assert found.by_part.tolist() == [[1.0, 8.0]]


def drawn(rows: int, channels: int) -> tuple[list[Floats], list[NDArray[np.bool_]], list[float]]:
    """Surprise of parts, which rows they judge, and factors."""
    rng = np.random.default_rng(rows)
    surprise = [rng.exponential(size=(rows, channels)) for _ in PARTS]
    judged = [rng.random(rows) < 0.6 for _ in PARTS]
    # one judges everything, another nothing
    judged[0][:] = True
    judged[5][:] = False
    return surprise, judged, rng.uniform(0.1, 1, size=len(PARTS)).tolist()


def drawn_novelties(rows: int, channels: int) -> list[AddedPart]:
    rng = np.random.default_rng(rows + 1)
    return [
        AddedPart(
            Novelty(
                rng.exponential(size=rows),
                rng.exponential(size=(rows, channels)).astype(np.float32),
            ),
            weight,
        )
        for weight in (0.5, 0.07)
    ]


def parts_of(
    surprise: list[Floats], judged: list[NDArray[np.bool_]], factors: list[float]
) -> list[PartOfSegment]:
    return [
        part(own, rows, kind.weight, factor)
        for own, rows, kind, factor in zip(surprise, judged, PARTS, factors, strict=True)
    ]


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, CHUNK])
@pytest.mark.parametrize("rows", [1, 7, 8, 50, CHUNK + 3])
def test_the_combination_is_the_definition(
    rows: int, chunk: int, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.scoring.usual.CHUNK", chunk)
    monkeypatch.setattr("subadjacent.methods.views.combine.MANY", 0 if threads else 10**9)
    surprise, judged, factors = drawn(rows, 3)
    added = drawn_novelties(rows, 3)
    found = combine(parts_of(surprise, judged, factors), added, (rows, 3))
    places = {*range(min(rows, 30)), rows // 2, CHUNK - 1, CHUNK, CHUNK + 1, rows - 1}
    for row in sorted(place for place in places if place < rows):
        there = [number for number in range(len(PARTS)) if judged[number][row]]
        weight = sum(PARTS[number].weight for number in there)
        by_part = {
            number: PARTS[number].weight * factors[number] * surprise[number][row] / weight
            for number in there
        }
        values = np.sum(list(by_part.values()), axis=0)
        score = values.mean()
        for number, (novelty, weight) in enumerate(added, start=len(PARTS)):
            values = values + weight * novelty.values[row]
            score += weight * novelty.rows[row]
            assert found.by_part[number, row] == pytest.approx(weight * novelty.rows[row])
        np.testing.assert_allclose(found.values[row], values, rtol=1e-6)
        assert found.rows[row] == pytest.approx(score)
        for number in range(len(PARTS)):
            mean = by_part[number].mean() if number in by_part else 0.0
            assert found.by_part[number, row] == pytest.approx(mean)


def test_what_parts_add_makes_the_whole() -> None:
    surprise, judged, factors = drawn(40, 2)
    parts, added = parts_of(surprise, judged, factors), drawn_novelties(40, 2)
    plain, found = (combine(parts, novelties, (40, 2)) for novelties in ((), added))
    np.testing.assert_allclose(plain.by_part.sum(axis=0), plain.rows)
    np.testing.assert_allclose(plain.values.mean(axis=1), plain.rows, rtol=1e-6)
    np.testing.assert_allclose(found.by_part.sum(axis=0), found.rows)
    # those that are averaged take no notice of what is added
    np.testing.assert_array_equal(found.by_part[: len(PARTS)], plain.by_part)


def test_two_rows_of_known_parts_by_hand() -> None:
    everywhere, first_row = np.array([True, True]), np.array([True, False])
    parts = [
        RowsOfPart(np.array([3.0, 3.0]), everywhere, 1.0, 1.0),
        # what it says of a row that it does not judge does not count
        RowsOfPart(np.array([6.0, 99.0]), first_row, 3.0, 0.5),
    ]
    assert combine_rows(parts, 2).tolist() == [(3 + 3 * 0.5 * 6) / 4, 3.0]


@pytest.mark.parametrize("rows", [1, 8, 50])
def test_rows_of_known_parts_are_those_of_the_combination(rows: int) -> None:
    surprise, judged, factors = drawn(rows, 3)
    known = [
        RowsOfPart(own.mean(axis=1), there, kind.weight, factor)
        for own, there, kind, factor in zip(surprise, judged, PARTS, factors, strict=True)
    ]
    whole = combine(parts_of(surprise, judged, factors), (), (rows, 3)).rows
    np.testing.assert_allclose(combine_rows(known, rows), whole, rtol=1e-12)


# ---- averages over rows


def test_a_score_is_the_mean_of_three_averages_by_hand() -> None:
    rows = np.zeros(7)
    rows[3] = 9.0
    # the row itself 9; over 2 rows 4.5; over 6 rows 1.5, from row 1 to row 6
    assert smoothed(rows, 2, 0)[3] == pytest.approx((9 + 4.5 + 9 / 4) / 3)
    assert smoothed(rows, 2, 0)[6] == pytest.approx((0 + 0 + 1.5) / 3)
    assert smoothed(rows, 1, 0).tolist() == [0, 0, 0, 9, 0, 0, 0]


def test_rows_that_a_short_segment_lacks_count_as_silent_beyond_half_by_hand() -> None:
    rows = np.full(3, 6.0)
    # over 4 rows there are 2 or 3 around each; over 12 rows 3, and 6 are the least
    assert smoothed(rows, 4, None).tolist() == [(6 + 6 + 18 / 6) / 3] * 3
    # looking back, the first row has one of four, the second two
    assert smoothed(rows, 4, 0) == pytest.approx(
        [(6 + 3 + 1) / 3, (6 + 6 + 2) / 3, (6 + 6 + 3) / 3]
    )
    # half of 5 rows are 3
    assert smoothed(rows[:2], 5, 0) == pytest.approx([(6 + 2 + 6 / 8) / 3, (6 + 4 + 12 / 8) / 3])


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


@pytest.mark.parametrize("lookahead", [None, 0, 3])
@pytest.mark.parametrize("smoothing", [1, 4, 30])
@pytest.mark.parametrize("rows", [1, 10, 60])
def test_some_rows_are_averaged_as_among_all(
    rows: int, smoothing: int, lookahead: int | None
) -> None:
    drawn = np.random.default_rng(rows).uniform(size=(rows, 2))
    scores = smoothed(drawn[:, 0], smoothing, lookahead)
    values = unusual(drawn, smoothing, lookahead)
    for first in range(0, rows, 3):
        for last in (first, min(first + 1, rows), min(first + 8, rows)):
            some = smoothed(drawn[:, 0], smoothing, lookahead, first, last)
            np.testing.assert_array_equal(some, scores[first:last])
            own = unusual_rows(drawn, smoothing, lookahead, first, last)
            np.testing.assert_array_equal(own.astype(np.float32), values[first:last])


def test_no_rows_have_no_scores() -> None:
    assert smoothed(np.zeros(0), 20, None).tolist() == []
