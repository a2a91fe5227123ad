"""Rows that are far out, and those around them, do not say what is normal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from subadjacent.scoring.trust import (
    FAR_OUT,
    LEAST,
    MANY,
    PARTS,
    PASSES,
    REACH,
    TINY,
    trusted,
)


def calm(rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Scores as normal rows have them: above zero, now and then a few times the median."""
    return np.random.default_rng(seed).gamma(4.0, size=rows)


def test_one_row_far_out_and_those_around_it_by_hand() -> None:
    # median 0, upper fifth 1: far out is above 20
    scores = np.where(np.arange(1000) % 4 == 0, 1.0, 0.0)
    scores[500] = 20.0
    assert trusted(scores).all()
    scores[500] = 20.1
    kept = trusted(scores)
    assert np.flatnonzero(~kept).tolist() == list(range(500 - REACH, 500 + REACH + 1))


def slow_trusted(scores: list[float]) -> list[bool]:
    """The definition read aloud."""
    rows = len(scores)
    kept = first = [True] * rows
    for number in range(PASSES):
        seen = np.array([score for score, one in zip(scores, kept, strict=True) if one])
        usual, high = np.quantile(seen, 0.5), np.quantile(seen, 0.8)
        limit = usual + FAR_OUT * max(high - usual, TINY)
        far = [row for row in range(rows) if scores[row] > limit]
        events = [row for row in far if not any(row - REACH <= one < row for one in far)]
        again = len(events) >= MANY and len({row * PARTS // rows for row in far}) == PARTS
        if number > 0 and again:
            return first
        for reach in (REACH, REACH // 2, REACH // 4, 0):
            kept = [all(abs(row - one) > reach for one in far) for row in range(rows)]
            if sum(kept) >= LEAST * rows:
                break
        else:
            kept = [True] * rows
        if number == 0:
            first = kept
    return kept


@pytest.mark.parametrize("rows", [1, 2, 3, 61, 122, 400, 2000])
@pytest.mark.parametrize("spoiled", [0, 1, 3, 8, 11, 40])
@pytest.mark.parametrize("size", [30.0, 1e3, 1e9])
def test_trust_is_the_definition(rows: int, spoiled: int, size: float) -> None:
    rng = np.random.default_rng(rows + spoiled)
    scores = calm(rows, seed=rows)
    for at in rng.integers(0, rows, size=min(spoiled, rows)):
        scores[at] *= size
    assert trusted(scores).tolist() == slow_trusted(scores.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_clean_scores_are_all_trusted(seed: int) -> None:
    assert trusted(calm(20_000, seed)).all()


@pytest.mark.parametrize("length", [1, 30, 200])
def test_a_burst_and_its_neighbourhood_are_left_out(length: int) -> None:
    scores = calm(5000)
    scores[2000 : 2000 + length] += 500
    kept = trusted(scores)
    assert np.flatnonzero(~kept).tolist() == list(range(2000 - REACH, 2000 + length + REACH))


@pytest.mark.parametrize("at", [0, 999])
def test_a_burst_at_an_end_is_left_out_as_well(at: int) -> None:
    scores = calm(1000)
    scores[at] = 1e6
    left_out = np.flatnonzero(~trusted(scores))
    assert len(left_out) == REACH + 1
    assert at in left_out


@pytest.mark.parametrize("every", [2, 3, 5, 20, 50, 100, 130, 500])
@pytest.mark.parametrize("rows", [1, 10, 1000])
def test_never_fewer_than_half_are_trusted(rows: int, every: int) -> None:
    scores = calm(rows)
    scores[::every] += 1e6
    assert trusted(scores).mean() >= 0.5


def test_where_many_are_far_out_less_around_them_is_left_out() -> None:
    scores = calm(2000)
    # rows within 60 of one of these are nearly all of them, within 30 some 60 %, within 15 a third
    scores[50::100] = 1e6
    kept = trusted(scores)
    assert kept.sum() == 2000 - 20 * (2 * (REACH // 4) + 1)


def test_anomalies_are_left_out_however_many() -> None:
    scores = calm(10_000)
    scores[500::1250] = 1e6  # eight events, in every part
    assert trusted(scores).sum() == 10_000 - 8 * (2 * REACH + 1)


def restless(events: range) -> NDArray[np.float64]:
    """Scores of which a third is so high that others seem calm only without it."""
    scores = np.tile(np.arange(10) / 9, 1000)
    scores[2000:3300] = 100.0
    # as long as the stretch counts: median 5/9, upper fifth 1, far out above 9.4; then 6.5
    scores[list(events)] = 7.5
    return scores


def test_what_comes_again_in_every_part_is_left_in_once_anomalies_are_out_by_hand() -> None:
    stretch = list(range(2000 - REACH, 3300 + REACH))
    # seven events are left out in the second pass
    few = restless(range(500, 10_000, 1400))
    assert few.tolist().count(7.5) == 7
    assert not trusted(few)[[500, 1900, 4700, 6100, 7500, 8900]].any()
    # eight, some in every fifth, are how the series is: only what the first pass left out stays out
    many = restless(range(500, 10_000, 1250))
    assert np.flatnonzero(~trusted(many)).tolist() == stretch
    # without any in the last fifth they are not all through it
    early = restless(range(500, 7900, 600))
    assert not trusted(early)[[500, 1100, 7700]].any()


def test_scores_that_are_all_alike_are_trusted() -> None:
    assert trusted(np.full(100, 3.0)).all()
    assert trusted(np.zeros(100)).all()
    # a difference that means something is one
    scores = np.zeros(1000)
    scores[700] = 1.0
    assert trusted(scores).sum() == 1000 - 2 * REACH - 1


def test_one_row_is_trusted() -> None:
    assert trusted(np.array([1e9])).tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
def test_more_passes_would_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    scores = calm(4000, seed)
    for at in rng.integers(0, 4000, size=8):
        scores[at : at + 20] += 10 ** rng.uniform(1, 4)
    found = trusted(scores)
    assert not found.all()
    monkeypatch.setattr("subadjacent.scoring.trust.PASSES", 50)
    np.testing.assert_array_equal(trusted(scores), found)


def test_a_second_pass_finds_what_the_first_does_not_by_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = np.tile(np.arange(10) / 9, 200)
    scores[100:400] = 1000.0
    scores[1500] = 7.5
    # as long as the burst counts: median 5/9, upper fifth 1, far out above 9.4; then 0.5, 0.8, 6.5
    monkeypatch.setattr("subadjacent.scoring.trust.PASSES", 1)
    assert trusted(scores)[1500]
    monkeypatch.undo()
    kept = trusted(scores)
    left_out = [*range(100 - REACH, 400 + REACH), *range(1500 - REACH, 1500 + REACH + 1)]
    assert np.flatnonzero(~kept).tolist() == left_out


def test_scale_and_offset_do_not_matter() -> None:
    scores = calm(3000, seed=9)
    scores[1000:1010] += 300
    np.testing.assert_array_equal(trusted(scores), trusted(7 * scores + 100))
