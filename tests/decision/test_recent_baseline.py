"""What a series did baseline: followed once it has lasted, not before, and from the past alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.recent_baseline import BLOCKS, BaselineShift, RecentBaseline

AFTER = [1, 2, 7, 39, 40, 41, 100, 400]


def normal(typical: float = 1.0, high: float = 2.0) -> NormalScores:
    return NormalScores(typical, high, 0.5, 1000, Tail(high, 0.0, 1.0, 0.01))


def follow(scores: np.ndarray, normal: NormalScores, after: int | None) -> BaselineShift:
    return RecentBaseline(normal.typical, normal.high, after).push(scores)


def test_a_step_is_followed_by_hand() -> None:
    # the median of four rows before each; before the first row all were 1
    scores = np.array([1.0, 1, 5, 5, 5, 5, 5])
    found = follow(scores, normal(high=2), after=2)
    # before row 4 came 1, 1, 5, 5: their median, 3, is so high that the last row alone counts
    assert found.shift.tolist() == [0, 0, 0, 0, 4, 4, 4]
    assert found.shifted.tolist() == [False] * 4 + [True] * 3
    # where 3 is nothing special the median counts itself
    found = follow(scores, normal(high=4), after=2)
    assert found.shift.tolist() == [0, 0, 0, 0, 2, 4, 4]
    assert found.shifted.tolist() == [False] * 5 + [True] * 2


def test_the_level_moves_by_blocks_of_a_fortieth_by_hand() -> None:
    # it rises from row to row; blocks of ten rows, and what is left over at the end
    found = follow(np.arange(1000.0), normal(typical=0.0, high=1e9), after=400)
    changes = np.flatnonzero(np.diff(found.shift)) + 1
    assert changes.tolist() == list(range(400, 1000, 10))
    # before row 400 came 40 blocks; the lower half of the 80 that count was normal, and the
    # lowest of the upper half, rows 0 to 9, has a median of 4.5
    assert found.shift[[399, 400, 409]].tolist() == [0.0, 2.25, 2.25]
    # 80 blocks before row 800, whose medians are 4.5, 14.5, …: that in the middle is 399.5
    assert found.shift[800] == 399.5


def test_a_series_that_is_calmer_than_training_is_not_lowered() -> None:
    found = follow(np.zeros(50), normal(typical=1.0), after=3)
    assert not found.shift.any()
    assert not found.shifted.any()


def test_once_the_model_does_not_fit_the_next_change_is_followed_quickly_by_hand() -> None:
    # medians of 32 rows, and of the last 4 where the model does not fit
    scores = np.concatenate([np.full(40, 20.0), np.full(40, 50.0)])
    found = follow(scores, normal(typical=1, high=2), after=16)
    assert found.shift[15:18].tolist() == [0, 19, 19]
    # 20, 20, 50, 50 before row 42
    assert found.shift[41:44].tolist() == [19, 34, 49]
    # where the model still fits, the median of 32 counts alone
    slowly = follow(scores, normal(typical=1, high=100), after=16)
    assert slowly.shift[[15, 16, 17]].tolist() == [0, 9.5, 19]
    assert slowly.shift[[55, 56, 57]].tolist() == [19, 34, 49]


def test_what_falls_half_way_is_followed_as_slowly_as_it_was_in_rising() -> None:
    scores = np.concatenate([np.full(40, 20.0), np.full(40, 5.0)])
    found = follow(scores, normal(), after=16)
    # the higher of both medians counts: what a series did for long stays usual for a while
    assert found.shift[[41, 55, 57]].tolist() == [19, 19, 4]


def test_a_series_that_comes_back_is_normal_at_once_by_hand() -> None:
    # medians of 32 rows, 20 from row 16 on; the last 4 before row 44 are like training
    scores = np.concatenate([np.full(40, 20.0), np.full(60, 1.0), np.full(30, 20.0)])
    found = follow(scores, normal(typical=1, high=2), after=16)
    assert np.flatnonzero(np.isfinite(found.ended)).tolist() == [44]
    assert found.ended[44] == 20.0
    assert found.shift[[43, 44, 100]].tolist() == [19, 0, 0]
    # what comes then is a change as large as the first, and lasts as long until it is normal
    assert found.shift[[100 + 15, 100 + 17]].tolist() == [0, 19]
    # a series that was never followed does not come back
    assert np.isnan(follow(scores, normal(typical=1, high=2), after=None).ended).all()


def test_a_step_counts_as_usual_once_it_has_lasted_so_many_rows() -> None:
    for after in AFTER:
        for start in [0, 1, 97]:
            block = -(-after // BLOCKS)
            scores = np.ones(start + 3 * after + 10)
            scores[start:] = 1.5
            found = follow(scores, normal(typical=1.0, high=2.0), after)
            assert not found.shift[: start + after - block].any()
            assert (found.shift[start + after + 2 * block :] == 0.5).all()
            assert not found.shifted.any()


def test_what_does_not_last_is_not_followed() -> None:
    for after in AFTER:
        for start in [0, 1, 97]:
            block = -(-after // BLOCKS)
            scores = np.ones(start + 4 * after + 10)
            scores[start : start + max(after - 2 * block, 0)] = 100.0
            found = follow(scores, normal(), after)
            assert not found.shift.any()
            assert not found.shifted.any()


@given(
    st.lists(st.floats(0, 9), max_size=120),
    st.integers(1, 130),
    st.integers(0, 120),
    st.floats(0.1, 9),
)
def test_rows_to_come_change_nothing(
    scores: list[float], after: int, stop: int, high: float
) -> None:
    rows = np.array(scores, dtype=float)
    whole, part = (follow(one, normal(high=high), after) for one in (rows, rows[:stop]))
    for before, now in zip(part, whole, strict=True):
        np.testing.assert_array_equal(before, now[:stop])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=120), st.integers(1, 130))
def test_the_level_stays_within_what_was_seen(scores: list[float], after: int) -> None:
    found = follow(np.array(scores), normal(typical=0.0), after)
    assert (found.shift >= 0).all()
    assert found.shift.max() <= max(*scores, 0.0)


def test_hardly_any_rows_have_moved_nowhere() -> None:
    for rows in [0, 1, 2]:
        for after in [1, 400, 10**9]:
            found = follow(np.full(rows, 9.0), normal(), after)
            assert found.shift.shape == found.shifted.shape == (rows,)
            # one row at a time, the first of two is half of what went before the second
            assert found.shift.tolist() == ([0.0, 8.0][:rows] if after == 1 else [0.0] * rows)


def test_a_series_shorter_than_asked_for_is_not_followed() -> None:
    found = follow(np.full(1000, 50.0), normal(), after=1001)
    assert not found.shift.any()
    assert follow(np.full(1000, 50.0), normal(), after=900).shift.any()


def test_equal_scores_are_their_own_level() -> None:
    found = follow(np.full(200, 3.0), normal(typical=3.0, high=3.0), after=10)
    assert not found.shift.any()
    assert not found.shifted.any()


def test_nothing_moves_where_nothing_is_followed() -> None:
    found = follow(np.full(3, 9.0), normal(), None)
    assert found.shift.tolist() == [0.0] * 3
    assert found.shifted.tolist() == [False] * 3


@given(
    st.lists(st.floats(0, 9), max_size=120),
    st.integers(1, 130),
    st.lists(st.integers(0, 120), max_size=4),
)
def test_parts_equal_the_whole_and_a_stop_changes_nothing(
    scores: list[float], after: int, cuts: list[int]
) -> None:
    rows = np.array(scores, dtype=float)
    whole, baseline, parts = follow(rows, normal(), after), RecentBaseline(1.0, 2.0, after), []
    for part in np.split(rows, sorted(min(cut, len(rows)) for cut in cuts)):
        again = RecentBaseline(1.0, 2.0, after)
        again.restore(baseline.state())
        baseline = again
        parts.append(baseline.push(part))
    for name in BaselineShift._fields:
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))


def test_a_baseline_that_counts_only_once_it_is_shifted() -> None:
    scores = np.array([1.0, 1, 5, 5, 5, 5, 5])
    found = RecentBaseline(1.0, 4.0, 2, only_shifted=True).push(scores)
    # the median of row 4, 3, is below 4
    assert found.shift.tolist() == [0, 0, 0, 0, 0, 4, 4]


def test_rows_about_a_shifted_baseline_are_compared_with_how_far_they_vary_by_hand() -> None:
    # four blocks of a row each, which rise to 6 and 10 in turn
    scores = np.array([1.0, 1, 6, 10, 6, 10, 6, 10])
    found = RecentBaseline(1.0, 2.0, 2, width=1.0).push(scores)
    # before row 7 came 10, 6, 10, 6: the median, 8, is 7 above 1, and the largest 2 above it
    assert (found.shift[7], found.spread[7]) == (7.0, 2.0)
    # until the baseline has shifted nothing changes
    assert found.spread[:4].tolist() == [1.0] * 4
    # before row 5 came 1, 6, 10, 6: one of four is like training, so that no single level counts
    mixed = RecentBaseline(1.0, 3.0, 2, width=1.0).push(scores)
    assert (mixed.shifted[5], mixed.spread[5]) == (True, 1.0)
    varied = RecentBaseline(1.0, 2.0, 2, width=5.0).push(scores)
    assert varied.spread.tolist() == [1.0] * len(scores)
    # above the baseline by the factor; below it as it is; a level as far from typical
    shift = BaselineShift(*(np.full(3, value) for value in (5.0, True, 4.0, np.nan)))
    assert shift.relative(np.array([4.0, 6.0, 14.0]), 1.0).tolist() == [-1.0, 1.0, 3.0]
    assert shift.absolute(3.0, 1.0).tolist() == [14.0] * 3
