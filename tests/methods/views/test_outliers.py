"""Rows that are far out, and those around them, do not say what is normal; nor does their part."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from subadjacent.methods.views.outliers import (
    MAX_PASSES,
    MIN_DISTANCE,
    MIN_EVENTS,
    MIN_KEPT_SHARE,
    MIN_LEVEL_ROWS,
    MIN_PARTS,
    OUTLIER_DISTANCE,
    RARE_DISTANCE,
    RARE_QUANTILE,
    apart_from_outliers,
    level_folds,
    outlier_free,
)

# as the default has them: three times the rows that scores are averaged over, and five folds
REACH, FOLDS = 60, 5


def kept_rows(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    return outlier_free(scores, REACH)


def normal_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a threshold is assessed by."""
    level = level_folds(scores, FOLDS, REACH)
    return level[kept_rows(level)]


def calm(rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Scores as normal rows have them: above zero, now and then a few times the median."""
    return np.random.default_rng(seed).gamma(4.0, size=rows)


def test_one_row_far_out_and_those_around_it_by_hand() -> None:
    # median 0, upper fifth 1: far out is above 25
    scores = np.where(np.arange(1000) % 4 == 0, 1.0, 0.0)
    scores[500] = 25.0
    assert kept_rows(scores).all()
    scores[500] = 25.1
    kept = kept_rows(scores)
    assert np.flatnonzero(~kept).tolist() == list(range(500 - REACH, 500 + REACH + 1))


def test_what_is_hardly_higher_than_other_rows_at_times_is_kept_by_hand() -> None:
    scores = np.where(np.arange(1000) % 4 == 0, 1.0, 0.0)
    # as above, but one row in fifty is at 6: what is not above 5 times that is no anomaly
    scores[::50] = 6.0
    scores[510] = 30.0
    assert kept_rows(scores).all()
    scores[510] = 30.1
    kept = kept_rows(scores)
    assert np.flatnonzero(~kept).tolist() == list(range(510 - REACH, 510 + REACH + 1))


def slow_limit(scores: list[float], kept: list[bool], share: float, times: float) -> float:
    seen = np.array([score for score, one in zip(scores, kept, strict=True) if one])
    usual, high = np.quantile(seen, 0.5), np.quantile(seen, share)
    return float(usual + times * max(high - usual, MIN_DISTANCE))


def slow_away(far: list[int], rows: int) -> list[bool]:
    for reach in (REACH, REACH // 2, REACH // 4, 0):
        kept = [all(abs(row - one) > reach for one in far) for row in range(rows)]
        if sum(kept) >= MIN_KEPT_SHARE * rows:
            return kept
    return [True] * rows


def slow_kept(scores: list[float]) -> list[bool]:
    """The definition read aloud."""
    rows = len(scores)
    kept = first = [True] * rows
    for number in range(MAX_PASSES):
        limit = slow_limit(scores, kept, 0.8, OUTLIER_DISTANCE)
        far = [row for row in range(rows) if scores[row] > limit]
        events = [row for row in far if not any(row - REACH <= one < row for one in far)]
        again = (
            len(events) >= MIN_EVENTS and len({row * MIN_PARTS // rows for row in far}) == MIN_PARTS
        )
        if number > 0 and again:
            kept = first
            break
        kept = slow_away(far, rows)
        if number == 0:
            first = kept
    limit = slow_limit(scores, kept, RARE_QUANTILE, RARE_DISTANCE)
    far = [row for row in range(rows) if scores[row] > limit]
    return [one or other for one, other in zip(kept, slow_away(far, rows), strict=True)]


def slow_normal_scores(scores: list[float]) -> list[float]:
    """The definition read aloud: level parts that have outliers, then choose anew."""
    kept = slow_kept(scores)
    parts = [one.tolist() for one in np.array_split(np.arange(len(scores)), FOLDS) if len(one)]
    levels = []
    for part in parts:
        rows = [row for row in part if kept[row]]
        levels.append(
            np.median([scores[row] for row in (rows if len(rows) >= MIN_LEVEL_ROWS else part)])
        )
    clean = [all(kept[row] for row in part) for part in parts]
    calm = [level for level, one in zip(levels, clean, strict=True) if one]
    aim = max(calm) if calm else min(levels)
    even = list(scores)
    for part, level, one in zip(parts, levels, clean, strict=True):
        for row in part:
            if not one and 0 < aim < level:
                even[row] = scores[row] * (aim / level)
    return [score for score, one in zip(even, slow_kept(even), strict=True) if one]


def test_kept_rows_and_normal_scores_are_the_definition() -> None:
    for rows in [1, 2, 3, 61, 122, 400, 2000]:
        for spoiled in [0, 1, 3, 8, 11, 40]:
            for size in [30.0, 1e3, 1e9]:
                rng = np.random.default_rng(rows + spoiled)
                scores = calm(rows, seed=rows)
                for at in rng.integers(0, rows, size=min(spoiled, rows)):
                    scores[at] *= size
                assert kept_rows(scores).tolist() == slow_kept(scores.tolist())
                np.testing.assert_allclose(
                    normal_scores(scores), slow_normal_scores(scores.tolist())
                )


def test_where_many_are_far_out_less_around_them_is_left_out() -> None:
    scores = calm(2000)
    # rows within 60 of one of these are nearly all of them, within 30 some 60 %, within 15 a third
    scores[50::100] = 1e6
    kept = kept_rows(scores)
    assert kept.sum() == 2000 - 20 * (2 * (REACH // 4) + 1)


def restless(events: range) -> NDArray[np.float64]:
    """Scores of which a third is so high that others seem calm only without it."""
    scores = np.tile(np.arange(10) / 9, 1000)
    scores[2000:3300] = 100.0
    # as long as the segment counts: median 5/9, upper fifth 1, far out above 11.7; then 8
    scores[list(events)] = 9.5
    return scores


def test_what_comes_again_in_every_part_is_left_in_once_anomalies_are_out_by_hand() -> None:
    segment = list(range(2000 - REACH, 3300 + REACH))
    # seven events are left out in the second pass
    few = restless(range(500, 10_000, 1400))
    assert few.tolist().count(9.5) == 7
    assert not kept_rows(few)[[500, 1900, 4700, 6100, 7500, 8900]].any()
    # eight, some in every fifth, are how the series is: only what the first pass left out stays out
    many = restless(range(500, 10_000, 1250))
    assert np.flatnonzero(~kept_rows(many)).tolist() == segment
    # without any in the last fifth they are not all through it
    early = restless(range(500, 7900, 600))
    assert not kept_rows(early)[[500, 1100, 7700]].any()


def test_scores_that_are_all_alike_are_kept_rows() -> None:
    assert kept_rows(np.full(100, 3.0)).all()
    assert kept_rows(np.zeros(100)).all()
    # a difference that means something is one
    scores = np.zeros(1000)
    scores[700] = 1.0
    assert kept_rows(scores).sum() == 1000 - 2 * REACH - 1


def test_a_second_pass_finds_what_the_first_does_not_by_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = np.tile(np.arange(10) / 9, 200)
    scores[100:400] = 1000.0
    scores[1500] = 9.5
    # as long as the burst counts: median 5/9, upper fifth 1, far out above 11.7; then 0.5, 0.8, 8
    monkeypatch.setattr("subadjacent.methods.views.outliers.MAX_PASSES", 1)
    assert kept_rows(scores)[1500]
    monkeypatch.undo()
    kept = kept_rows(scores)
    left_out = [*range(100 - REACH, 400 + REACH), *range(1500 - REACH, 1500 + REACH + 1)]
    assert np.flatnonzero(~kept).tolist() == left_out


# median 0.5 in every ten rows
STEADY = np.tile(np.arange(10) / 9, 100)


def test_parts_of_zeros_are_no_level_to_bring_others_down_to() -> None:
    scores = np.zeros(1000)
    scores[400:600] = STEADY[:200]
    scores[500:510] = 1000.0
    found = normal_scores(scores)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, scores[kept_rows(scores)])


def test_only_the_fold_with_anomalies_is_brought_down() -> None:
    for folds in [1, 2, 4, 10]:
        scores, length = np.tile(STEADY, 2), 2000 // folds
        mine = slice(2000 - length, 2000)
        scores[mine] *= 3
        scores[1990] = 1e4
        # a single fold has no other to be brought down to
        wanted = scores / 3 if folds > 1 else scores.copy()
        wanted[: 2000 - length] = scores[: 2000 - length]
        np.testing.assert_allclose(level_folds(scores, folds, REACH), wanted)


def even_with(events: list[int], length: int = 20, rows: int = 4000) -> NDArray[np.float64]:
    """Scores from 0 to 1 again and again, and events of 500."""
    scores = np.tile(np.arange(100) / 100, rows // 100)
    for first in events:
        scores[first : first + length] = 500.0
    return scores


def test_a_window_keeps_rows_further_away_from_an_outlier_by_hand() -> None:
    scores = even_with([1000])
    assert np.flatnonzero(~apart_from_outliers(scores, 5, 30)).tolist() == list(range(970, 1050))
    assert apart_from_outliers(even_with([]), 5, 30).all()


def test_windows_may_leave_few_rows_but_not_next_to_none() -> None:
    # 7 events of 20 rows in 4,000: 7 x 440 rows within 210, 3,080 of 4,000; within 280 all but 60
    events = [300 + 560 * number for number in range(7)]
    scores = even_with(events)
    assert apart_from_outliers(scores, 10, 210).mean() == pytest.approx(1 - 7 * 440 / 4000)
    # half of the margin is taken where the whole would leave less than a tenth
    assert apart_from_outliers(scores, 10, 280).mean() == pytest.approx(1 - 7 * 300 / 4000)
