"""The live score: by hand, against the definition read aloud, and what it must not depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subadjacent.errors import InputError
from subadjacent.evaluation.live import (
    PROFILES,
    Span,
    Watched,
    live_score,
    live_score_at,
    windows_around,
)

every_profile = pytest.mark.parametrize("profile", PROFILES)


def squashed(place: float) -> float:
    """The scaled sigmoid of the definition."""
    return -1.0 if place >= 3 else 2 / (1 + math.exp(5 * place)) - 1


def oracle(series: Sequence[Watched], threshold: float, profile: str) -> float:
    """Walk along every series, row by row, and add up what is earned and what is paid."""
    false, missed = {
        "standard": (0.11, 1.0),
        "reward low FP": (0.22, 1.0),
        "reward low FN": (0.11, 2.0),
    }[profile]
    total, count = 0.0, 0
    for given_scores, spans, unjudged in series:
        scores = np.asarray(given_scores, dtype=float).tolist()
        rows = len(scores)
        first = min(math.floor(0.15 * rows), 750) if unjudged is None else unjudged
        windows = windows_around(spans, rows, unjudged)
        earned = dict.fromkeys(windows, -missed)
        for row in range(first, rows):
            if scores[row] < threshold:
                continue
            inside = [(left, right) for left, right in windows if left <= row < right]
            before = [(left, right) for left, right in windows if right <= row]
            if inside:
                left, right = inside[0]
                # -1 at the first row of the window, a row's width from 0 at its last
                gain = squashed(-(right - 1 - row + 1) / (right - left)) / squashed(-1)
                earned[left, right] = max(earned[left, right], gain)
            elif before:
                left, right = before[-1]
                total += false * squashed((row - (right - 1)) / max(right - 1 - left, 1))
            else:
                total -= false
        total += sum(earned.values())
        count += len(windows)
    return 100 * (total + missed * count) / ((1 + missed) * count) if count else math.nan


def best_of_all(series: Sequence[Watched], profile: str) -> float:
    """Try every score as the threshold, and silence."""
    thresholds = np.concatenate([[math.inf], *(np.asarray(one.scores) for one in series)])
    return max(oracle(series, threshold, profile) for threshold in set(thresholds.tolist()))


def flagged(rows: int, *at: int) -> list[float]:
    return [float(row in at) for row in range(rows)]


def score_of(flags: list[float], profile: str = "standard") -> float:
    """At threshold 1: twenty rows, three of them, 9 to 11, the window of an anomaly at row 10."""
    return live_score_at([Watched(flags, [(10, 11)])], 1.0, profile).score


def test_a_tenth_of_the_rows_is_shared_by_the_windows() -> None:
    assert windows_around([(500, 501)], 1_000) == [(450, 551)]
    assert windows_around([(800, 801), (500, 501)], 1_000) == [(475, 526), (775, 826)]
    assert windows_around([], 1_000) == []


def test_a_long_anomaly_widens_its_window_to_its_end() -> None:
    assert windows_around([(500, 700)], 1_000) == [(450, 700)]


def test_windows_that_touch_are_one_and_those_a_row_apart_are_two() -> None:
    assert windows_around([(500, 501), (551, 552)], 1_000) == [(475, 577)]
    assert windows_around([(500, 501), (552, 553)], 1_000) == [(475, 526), (527, 578)]


def test_a_short_anomaly_inside_a_long_one_does_not_cut_it_off() -> None:
    assert windows_around([(500, 900), (520, 521)], 1_000) == [(475, 900)]


def test_windows_end_where_the_series_ends() -> None:
    assert windows_around([(990, 1_000)], 1_000) == [(940, 1_000)]
    assert windows_around([(0, 1)], 1_000, unjudged=0) == [(0, 51)]


def test_a_window_that_begins_among_rows_that_are_not_judged_is_left_out() -> None:
    assert windows_around([(199, 200)], 1_000) == []
    assert windows_around([(200, 201)], 1_000) == [(150, 251)]
    assert windows_around([(1_750, 1_751)], 20_000) == [(750, 2_751)]
    assert windows_around([(1_749, 1_750)], 20_000) == []


def test_the_first_row_of_the_window_is_perfect_and_silence_is_nothing() -> None:
    assert score_of(flagged(20, 9)) == pytest.approx(100)
    assert score_of(flagged(20)) == 0


def test_later_in_the_window_is_worth_less_and_only_the_earliest_counts() -> None:
    # two thirds and one third of a window before its end
    second = squashed(-2 / 3) / squashed(-1)
    assert score_of(flagged(20, 10)) == pytest.approx(50 * (1 + second))
    assert score_of(flagged(20, 10, 11)) == pytest.approx(50 * (1 + second))
    assert score_of(flagged(20, 11)) == pytest.approx(50 * (1 + squashed(-1 / 3) / squashed(-1)))


def test_a_detection_for_nothing_costs_by_its_distance_behind_the_window() -> None:
    assert score_of(flagged(20, 3)) == pytest.approx(-50 * 0.11)
    assert score_of(flagged(20, 13)) == pytest.approx(50 * 0.11 * squashed(1.0))
    assert score_of(flagged(20, 12)) == pytest.approx(50 * 0.11 * squashed(0.5))
    # three widths behind, where the curve is cut
    assert score_of(flagged(20, 17)) == pytest.approx(-50 * 0.11, abs=0)
    assert score_of(flagged(20, 2)) == 0  # not assessed


def test_hundreds_of_widths_behind_a_window_cost_the_whole_weight() -> None:
    apart = [(at, at + 1) for at in range(1_000, 1_800, 20)]
    assert len(windows_around(apart, 4_000)) == 40
    cost = live_score_at([Watched(flagged(4_000, 3_999), apart)], 1.0).score
    assert cost == pytest.approx(-0.11 * 100 / 80)


def test_profiles_weigh_false_detections_and_misses() -> None:
    assert score_of(flagged(20, 3), "reward low FP") == pytest.approx(-50 * 0.22)
    assert score_of(flagged(20, 3), "reward low FN") == pytest.approx(-100 * 0.11 / 3)
    late = squashed(-1 / 3) / squashed(-1)
    assert score_of(flagged(20, 11), "reward low FN") == pytest.approx(100 * (late + 2) / 3)


def test_one_threshold_holds_for_all_series() -> None:
    good = Watched(flagged(20, 9), [(10, 11)])
    # its detection of nothing is louder than the other's anomaly
    loud = Watched([2.0 * flag for flag in flagged(20, 5)], [])
    found = live_score([good, loud])
    assert found.score == pytest.approx(100 - 50 * 0.11)
    assert found.threshold == 1.0


def test_silence_is_best_where_every_detection_is_for_nothing() -> None:
    found = live_score([Watched(flagged(100, 30), [(60, 61)])])
    assert found == (0.0, math.inf)


def test_without_a_window_there_is_no_score() -> None:
    assert math.isnan(live_score([Watched(flagged(20, 3), [])]).score)


def test_early_rows_count_where_the_caller_says_so() -> None:
    assert live_score_at([Watched(flagged(20, 0), [(10, 11)], 0)], 1.0).score < 0
    assert live_score_at([Watched(flagged(20, 0), [(10, 11)], 1)], 1.0).score == 0


@st.composite
def watched(draw: st.DrawFn) -> Watched:
    rows = draw(st.integers(1, 60))
    scores = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    starts = draw(st.lists(st.integers(0, rows - 1), max_size=3))
    spans: list[Span] = [(at, min(rows, at + draw(st.integers(1, 8)))) for at in starts]
    unjudged = draw(st.sampled_from([None, 0, 3]))
    return Watched([float(score) for score in scores], spans, unjudged)


@given(st.lists(watched(), min_size=1, max_size=3), st.sampled_from(list(PROFILES)))
@settings(max_examples=150)
def test_it_is_the_definition_read_aloud(series: list[Watched], profile: str) -> None:
    found = live_score(series, profile)
    assert found.score == pytest.approx(best_of_all(series, profile), nan_ok=True, abs=1e-9)
    at = live_score_at(series, found.threshold, profile).score
    assert at == pytest.approx(found.score, nan_ok=True, abs=1e-9)


@every_profile
def test_order_preserving_changes_of_the_unit_change_nothing(profile: str) -> None:
    rng = np.random.default_rng(0)
    series = [Watched(rng.random(400), [(150, 160), (300, 301)]) for _ in range(3)]
    changed = [Watched(np.exp(9 * np.asarray(one.scores)), one.spans) for one in series]
    assert live_score(changed, profile).score == pytest.approx(live_score(series, profile).score)


@pytest.mark.parametrize(
    ("series", "profile", "message"),
    [
        ([], "standard", "series must have at least one; got none"),
        ([Watched([1.0], [])], "strict", "profile must be one of 'standard', .*; got 'strict'"),
        ([Watched([1.0, math.nan], [])], "standard", "scores must be finite"),
        ([Watched([1.0], [(0, 2)])], "standard", r"within 1 rows, .*; got 0 to 2"),
        ([Watched([1.0], [(0, 0)])], "standard", "start before stop; got 0 to 0"),
        ([Watched([1.0], [(-1, 1)])], "standard", "got -1 to 1"),
        ([Watched([1.0], [], -1)], "standard", "unjudged"),
    ],
)
def test_what_it_refuses(series: Any, profile: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        live_score(series, profile)
    with pytest.raises(InputError, match=message):
        live_score_at(series, 1.0, profile)


def test_rows_must_be_counted() -> None:
    with pytest.raises(InputError, match="rows"):
        windows_around([], 0)
