"""From scores to decisions: the scale, what is followed, what is joined and what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.entities import PerEntity
from subadjacent.scoring.decision import GAP, SILENT_SEVERITY, Decision, RowDecisions
from subadjacent.scoring.events import rows_of
from subadjacent.scoring.extremes import Tail
from subadjacent.scoring.normal import NormalScores, level_of_one, lowest_level
from subadjacent.scoring.threshold import FalseShare, Fixed, Quantile

NORMAL = NormalScores(
    typical=1.0, high=2.0, spread=0.5, rows=500, tail=Tail(2.0, shape=0.0, scale=0.5, rate=0.01)
)
# scores well above those of NORMAL
HIGH_SEVERITY = replace(
    NORMAL, typical=3.0, high=6.0, tail=Tail(6.0, shape=0.0, scale=1.0, rate=0.01)
)
BY_ENTITY = PerEntity(NORMAL, {"quiet": NORMAL, "loud": HIGH_SEVERITY})
BY_HAND = Decision(threshold=3.0, rule=None, normal=BY_ENTITY, adapt_after=None)
RULE = FalseShare(1 / 3).fit(np.arange(100.0))
AUTO = Decision(threshold=RULE.threshold_, rule=RULE, normal=BY_ENTITY, adapt_after=None)


def judged(scores: list[float], decision: Decision = BY_HAND) -> RowDecisions:
    return decision.decide(np.array(scores))


# ---- the scale


def test_a_row_at_the_threshold_is_not_anomalous() -> None:
    for score, anomalous in ((2.9, False), (3.0, False), (np.nextafter(3.0, 4.0), True), (5, True)):
        assert judged([score]).anomalous.tolist() == [anomalous]


def test_one_is_the_threshold_and_zero_a_typical_row_by_hand() -> None:
    found = judged([-1.0, 1.0, 2.0, 3.0, 7.0])
    assert found.normalized.tolist() == [-1.0, 0.0, 0.5, 1.0, 3.0]
    assert found.threshold.tolist() == [3.0] * 5
    assert found.scores.tolist() == [-1.0, 1.0, 2.0, 3.0, 7.0]


def test_a_row_at_the_threshold_is_as_likely_anomalous_as_not_by_hand() -> None:
    np.testing.assert_allclose(judged([1.0, 3.0, 5.0]).probability, [0.01, 0.5, 0.99])


@pytest.mark.parametrize("threshold", [-4.0, 0.5, 1.0, 1.0 + 1e-13])
def test_a_threshold_no_higher_than_a_typical_row_counts_in_spreads(threshold: float) -> None:
    found = judged([threshold, threshold + 0.5], replace(BY_HAND, threshold=threshold))
    np.testing.assert_allclose(found.normalized, [1.0, 2.0])


def test_where_all_scores_were_alike_the_unit_is_their_own() -> None:
    alike = PerEntity(replace(NORMAL, spread=0.0), {})
    found = judged([1.0, 1.0 + 3.0], replace(BY_HAND, threshold=1.0, normal=alike))
    assert found.normalized.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("adapt_after", [None, 5])
@pytest.mark.parametrize("decision", [BY_HAND, replace(BY_HAND, threshold=-1.0), AUTO])
def test_scale_and_probability_agree_with_the_threshold(
    decision: Decision, adapt_after: int | None
) -> None:
    scores = 1 + np.random.default_rng(0).normal(size=200)
    found = replace(decision, adapt_after=adapt_after).decide(scores, hindsight=False)
    np.testing.assert_array_equal(found.normalized > 1, found.anomalous)
    np.testing.assert_array_equal(found.probability > 0.5, found.anomalous)
    np.testing.assert_array_equal(scores > found.threshold, found.anomalous)


def test_probabilities_stay_finite_far_out() -> None:
    assert judged([-1e9, 1e9]).probability.tolist() == [0.0, 1.0]


# ---- one answer


def test_runs_with_few_rows_between_them_are_one_event_by_hand() -> None:
    scores = np.ones(40)
    scores[[3, 3 + GAP + 1, 3 + 2 * GAP + 3]] = 9.0
    found = BY_HAND.decide(scores)
    assert found.events() == [(3, 15), (25 + 1, 27)]
    np.testing.assert_array_equal(np.flatnonzero(found.anomalous), [*range(3, 15), 26])
    # where no row may be judged by later ones, the rows between are as they were
    now = BY_HAND.decide(scores, hindsight=False)
    assert now.events() == [(3, 4), (14, 15), (26, 27)]
    assert np.flatnonzero(now.anomalous).tolist() == [3, 14, 26]
    assert now.events(gap=GAP) == found.events()
    assert found.events(shortest=2) == [(3, 15)]


def test_where_a_share_of_rows_was_asked_for_none_are_added_to_it_by_hand() -> None:
    scores = np.ones(40)
    scores[[3, 5]] = 9.0
    share = Quantile(0.9).fit([3.0])
    for rule, events in (
        (share, [(3, 4), (5, 6)]),
        (None, [(3, 6)]),
        (Fixed(3.0).fit([1.0]), [(3, 6)]),
        (RULE, [(3, 6)]),
    ):
        found = replace(BY_HAND, rule=rule).decide(scores)
        assert found.events() == events
        assert found.events(gap=1) == [(3, 6)]


def test_events_of_fewer_rows_between_may_be_told_apart_no_more() -> None:
    scores = np.ones(40)
    scores[[3, 9]] = 9.0
    assert BY_HAND.decide(scores).events(gap=0) == [(3, 10)]


SCORES = st.lists(st.floats(0, 9), max_size=80)


@given(SCORES, st.booleans(), st.integers(0, 3), st.sampled_from([None, 1, 7]))
def test_anomalous_rows_are_those_of_the_events(
    scores: list[float], hindsight: bool, blur: int, adapt_after: int | None
) -> None:
    for decision in (BY_HAND, AUTO):
        found = replace(decision, adapt_after=adapt_after).decide(
            np.array(scores), blur=blur, hindsight=hindsight
        )
        rows = rows_of(found.events(), len(scores))
        np.testing.assert_array_equal(rows, found.anomalous)
        # no event begins or ends with a row that is not above
        for start, stop in found.events():
            assert found.normalized[start] > 1
            assert found.normalized[stop - 1] > 1


@given(SCORES, st.integers(0, 80), st.sampled_from([None, 1, 7, 400]), st.booleans())
def test_without_hindsight_rows_to_come_change_nothing(
    scores: list[float], stop: int, adapt_after: int | None, auto: bool
) -> None:
    decision = replace(AUTO if auto else BY_HAND, adapt_after=adapt_after)
    rows = np.array(scores, dtype=float)
    whole, part = (decision.decide(one, hindsight=False) for one in (rows, rows[:stop]))
    for name in ("threshold", "normalized", "anomalous", "probability"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:stop])


def test_where_averages_blur_an_event_its_core_is_left_by_hand() -> None:
    scores = np.array([1.0, 3.4, 4.0, 7.0, 4.0, 3.4])
    assert BY_HAND.decide(scores).events() == [(1, 6)]
    # within two rows of the row that scores 7, 4 is more than half of it, and 3.4 is not
    assert BY_HAND.decide(scores, blur=2).events() == [(2, 5)]


def test_a_core_is_that_of_what_is_above_usual() -> None:
    scores = np.concatenate([np.full(60, 21.0), [24.0, 31.0, 24.0], np.full(20, 21.0)])
    found = replace(BY_HAND, adapt_after=20).decide(scores, blur=2)
    # 24 is more than half of 31; 4, which is above usual, is less than half of 11
    assert found.events()[-1] == (61, 62)


def test_a_break_in_the_clock_parts_events() -> None:
    scores = np.array([1.0, 5.0, 5.0, 5.0, 1.0])
    assert BY_HAND.decide(scores).events() == [(1, 4)]
    found = BY_HAND.decide(scores, segments=[(0, 2), (2, 5)])
    assert found.events() == [(1, 2), (2, 4)]
    assert list(found.segments) == [(0, 2), (2, 5)]
    # nor is a row beyond it part of what is around
    high = np.array([1.0, 5.0, 90.0, 1.0])
    assert BY_HAND.decide(high, segments=[(0, 2), (2, 4)], blur=3).anomalous[1]
    assert not BY_HAND.decide(high, blur=3).anomalous[1]
    # nor are rows between two segments filled
    apart = np.array([5.0, 1.0, 1.0, 5.0])
    assert BY_HAND.decide(apart, segments=[(0, 2), (2, 4)]).anomalous.tolist() == [1, 0, 0, 1]


# ---- the level


def test_a_threshold_set_by_hand_holds_for_all_entities() -> None:
    scores = np.array([2.0, 4.0])
    for rule in (None, Fixed(3.0).fit([1.0]), Quantile(0.9).fit([1.0])):
        decision = replace(BY_HAND, rule=rule)
        for entity in ("quiet", "loud", "never seen", None):
            for hindsight in (True, False):
                found = decision.decide(scores, entity, hindsight=hindsight)
                assert found.threshold.tolist() == [3.0, 3.0]
                assert found.anomalous.tolist() == [False, True]


def test_by_default_each_entity_has_a_level_of_its_own() -> None:
    scores = np.ones(500)
    for entity, normal in (("quiet", NORMAL), ("loud", HIGH_SEVERITY), ("never seen", NORMAL)):
        found = AUTO.decide(scores, entity)
        assert found.threshold[0] == lowest_level(scores, normal, NORMAL, 1 / 3)
        found = AUTO.decide(scores, entity, hindsight=False)
        assert found.threshold[0] == level_of_one(500, normal, NORMAL, 1 / 3)
    assert AUTO.decide(scores, "loud").threshold[0] > AUTO.decide(scores, "quiet").threshold[0]


def test_without_hindsight_the_level_does_not_depend_on_how_many_rows_come() -> None:
    for rows in (1, 100, 10_000):
        found = AUTO.decide(np.ones(rows), hindsight=False)
        assert found.threshold[0] == pytest.approx(2 + 0.5 * np.log(0.01 * 500 * 3))


def test_in_hindsight_a_longer_segment_must_stand_out_further_and_many_events_less() -> None:
    alone, long = (AUTO.decide(np.ones(rows)).threshold[0] for rows in (500, 5000))
    assert alone == pytest.approx(2 + 0.5 * np.log(15))
    assert long == pytest.approx(2 + 0.5 * np.log(150))
    # five excursions above 2 are to be expected of 500 rows: at most a third of 20, not of 14
    scores = np.ones(500)
    scores[::25] = 3 + 0.001 * np.arange(20)
    assert AUTO.decide(scores).threshold[0] == 2.0
    scores[350:] = 1.0
    assert AUTO.decide(scores).threshold[0] == 3.0


def test_the_share_that_may_be_false_is_that_of_the_rule() -> None:
    strict = FalseShare(0.01).fit([1.0])
    found = replace(AUTO, rule=strict).decide(np.ones(500))
    assert found.threshold[0] == pytest.approx(2 + 0.5 * np.log(500))


# ---- what moved


def test_a_level_that_lasts_is_the_new_normal_by_hand() -> None:
    decision = replace(BY_HAND, adapt_after=2)
    found = decision.decide(np.array([1.0, 1, 5, 5, 5, 5, 9]))
    assert found.baseline.shift.tolist() == [0, 0, 0, 0, 4, 4, 4]
    assert found.threshold.tolist() == [3, 3, 3, 3, 7, 7, 7]
    # on the new scale 5 is typical and 7 is the threshold
    assert found.normalized.tolist() == [0, 0, 2, 2, 0, 0, 2]
    now = decision.decide(found.scores, hindsight=False)
    assert now.anomalous.tolist() == [0, 0, 1, 1, 0, 0, 1]


def test_what_is_never_followed_is_anomalous_for_ever() -> None:
    scores = np.concatenate([np.ones(50), np.full(5000, 5.0)])
    found = BY_HAND.decide(scores)
    assert found.events() == [(50, 5050)]
    assert not found.baseline.shift.any()
    assert not found.baseline.shifted.any()
    assert replace(BY_HAND, adapt_after=400).decide(scores).events() == [(50, 450)]


def test_an_entity_is_followed_from_its_own_level() -> None:
    scores = np.full(200, 3.0)
    decision = replace(AUTO, adapt_after=10)
    assert decision.decide(scores, "quiet").baseline.shift[-1] == 2.0
    assert decision.decide(scores, "loud").baseline.shift[-1] == 0.0


def test_what_is_followed_leaves_the_level_in_hindsight_to_what_is_above_it() -> None:
    # without following, two thirds of the rows would be one long event
    scores = np.concatenate([np.ones(500), np.full(1000, 3.0)])
    scores[1200] = 9.0
    found = replace(AUTO, adapt_after=100).decide(scores)
    assert found.anomalous[1200]
    assert not found.anomalous[700:1150].any()
    assert found.threshold[700] == pytest.approx(found.threshold[0] + 2.0)


def test_in_hindsight_only_what_is_above_usual_is_counted() -> None:
    # usual by then and not so high that the model does not fit: what is followed, and is no
    # excursion any more
    scores = np.concatenate([np.ones(500), np.full(1500, 1.9)])
    # 13 peaks; of 2000 rows 2.7 above 3 are to be expected, and 16 above 2.1
    scores[700::100] = 3 + 0.001 * np.arange(13)
    found = replace(AUTO, adapt_after=60).decide(scores)
    above_usual = scores - found.baseline.shift
    assert not found.baseline.shifted.any()
    assert found.threshold[0] == lowest_level(above_usual, NORMAL, NORMAL, 1 / 3)
    assert found.threshold[0] > lowest_level(scores, NORMAL, NORMAL, 1 / 3)


def test_rows_that_the_model_does_not_fit_do_not_say_how_many_alarms_are_false() -> None:
    # up for good, and as restless as no normal row is: 40 excursions above what is usual there
    scores = np.concatenate([np.ones(500), np.full(2000, 5.0)])
    scores[1000:2000:25] += 1.9 + 0.001 * np.arange(40)
    found = replace(AUTO, adapt_after=100).decide(scores)
    above_usual, moved = scores - found.baseline.shift, found.baseline.shifted
    assert found.threshold[0] == lowest_level(above_usual[~moved], NORMAL, NORMAL, 1 / 3)
    # they would have it lower, and each of them would be an alarm
    assert found.threshold[0] > lowest_level(above_usual, NORMAL, NORMAL, 1 / 3)
    assert not found.anomalous[1000:].any()


def test_where_all_rows_have_moved_the_level_is_that_of_a_single_alarm() -> None:
    scores = np.full(1000, 9.0)
    found = replace(AUTO, adapt_after=1).decide(scores)
    assert found.baseline.shifted[2:].all()
    assert found.threshold[0] == pytest.approx(2 + 0.5 * np.log(15))


# ---- a model that does not fit


@pytest.mark.parametrize("adapt_after", [None, 3])
def test_a_series_mostly_unlike_training_is_not_fitted(adapt_after: int | None) -> None:
    decision = replace(BY_HAND, adapt_after=adapt_after)
    for share, fits in ((0.0, True), (0.3, True), (0.31, False), (1.0, False)):
        scores = np.ones(100)
        scores[: round(100 * share)] = 5.0
        # whether or not the series is followed: the model is not
        assert decision.decide(scores).fits is fits


def test_rows_that_normal_ones_reach_do_not_count_against_a_model() -> None:
    # the threshold lies below what one normal row in a hundred exceeds
    decision = replace(BY_HAND, threshold=0.5)
    found = decision.decide(np.full(100, 1.5))
    assert found.anomalous.all()
    assert found.fits


def test_rows_that_an_average_spreads_an_event_to_do_not_count_against_a_model_by_hand() -> None:
    # 10 of 100 rows, and 18 to either side that are less than half as high
    scores = np.ones(100)
    scores[20:66], scores[38:48] = 5.0, 20.0
    assert not BY_HAND.decide(scores).fits
    assert BY_HAND.decide(scores, blur=20).fits
    # the furthest ones are no slopes of it where averages are over fewer rows
    assert not BY_HAND.decide(scores, blur=2).fits
    # nor where a break in the clock is between
    broken = [(0, 38), (38, 48), (48, 100)]
    assert not BY_HAND.decide(scores, segments=broken, blur=20).fits


def test_no_rows_are_judged_as_no_rows() -> None:
    for decision in (BY_HAND, AUTO, replace(AUTO, adapt_after=400)):
        for hindsight in (True, False):
            found = decision.decide(np.zeros(0), blur=3, hindsight=hindsight)
            assert found.events() == []
            assert found.fits
            assert len(found.probability) == len(found.threshold) == 0


@pytest.mark.parametrize("rows", [1, 2])
def test_one_or_two_rows_are_judged(rows: int) -> None:
    found = replace(AUTO, adapt_after=400).decide(np.full(rows, 50.0), blur=3)
    assert found.events() == [(0, rows)]


def rows_missing(n: int, *rows: int) -> np.ndarray:
    missing = np.zeros(n, dtype=bool)
    missing[list(rows)] = True
    return missing


def test_rows_with_a_missing_channel_are_anomalous_whatever_their_score_by_hand() -> None:
    # the threshold is 3 and a typical row 1: a score of 9 is 4
    scores = np.array([0.0, 0, 9, 0, 0])
    found = BY_HAND.decide(scores, silent=rows_missing(5, 1, 2), hindsight=False)
    assert found.anomalous.tolist() == [0, 1, 1, 0, 0]
    plain = BY_HAND.decide(scores, hindsight=False)
    assert plain.normalized.tolist() == [-0.5, -0.5, 4, -0.5, -0.5]
    assert found.normalized.tolist() == [-0.5, SILENT_SEVERITY, 4, -0.5, -0.5]
    assert found.scores.tolist() == scores.tolist()
    np.testing.assert_array_equal(found.normalized > 1, found.anomalous)
    np.testing.assert_array_equal(found.probability > 0.5, found.anomalous)


def test_missing_rows_join_other_events_and_cross_no_break() -> None:
    scores = np.zeros(60)
    scores[[3, 40]] = 9
    missing = rows_missing(60, *range(10, 20), *range(52, 55))
    assert BY_HAND.decide(scores, silent=missing).events() == [(3, 20), (40, 41), (52, 55)]
    segments = [(0, 15), (15, 60)]
    found = BY_HAND.decide(scores, None, segments, missing)
    assert found.events() == [(3, 15), (15, 20), (40, 41), (52, 55)]
    assert found.segments == segments


def test_scores_of_missing_rows_blur_nothing() -> None:
    # half as high as the row before it, and beyond a break it would stay
    scores = np.array([0.0, 0, 99, 9, 0, 0])
    assert not BY_HAND.decide(scores, blur=3).anomalous[3]
    found = BY_HAND.decide(scores, silent=rows_missing(6, 2), blur=3)
    assert found.anomalous.tolist() == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("hindsight", [False, True])
@pytest.mark.parametrize("decision", [BY_HAND, AUTO])
def test_what_missing_rows_score_changes_nothing_of_the_others(
    decision: Decision, hindsight: bool
) -> None:
    rng = np.random.default_rng(0)
    scores = rng.gamma(2.0, 0.5, 900)
    # the level moves, before and after the rows that are missing
    scores[300:] += 5
    missing = rows_missing(900, *range(500, 700))
    noisy = scores.copy()
    noisy[missing] = rng.gamma(2.0, 500.0, 200)
    adapting = replace(decision, adapt_after=100)
    one, other = (
        adapting.decide(found, silent=missing, hindsight=hindsight) for found in (scores, noisy)
    )
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.normalized[~missing], other.normalized[~missing])
    np.testing.assert_array_equal(one.anomalous, other.anomalous)
    assert one.fits == other.fits
    assert one.baseline.shifted[499]
    # over the missing rows the series stays where it was, and it goes on from there
    for field in one.baseline:
        np.testing.assert_array_equal(field[500:700], np.full(200, field[499]))
    gone = adapting.decide(scores[~missing], hindsight=hindsight).baseline
    np.testing.assert_array_equal(one.baseline.shift[~missing], gone.shift)
    np.testing.assert_array_equal(one.baseline.shifted[~missing], gone.shifted)


def test_a_model_may_fit_where_most_is_missing() -> None:
    scores = np.concatenate([np.full(80, 99.0), np.ones(20)])
    missing = rows_missing(100, *range(80))
    assert not BY_HAND.decide(scores).fits
    for blur in (0, 3):
        assert BY_HAND.decide(scores, silent=missing, blur=blur).fits
    # of the twenty known rows, seven are more than three tenths
    scores[-7:] = 99
    assert not BY_HAND.decide(scores, silent=missing).fits


@pytest.mark.parametrize("adapt_after", [None, 10])
@pytest.mark.parametrize("hindsight", [False, True])
def test_all_rows_may_be_missing(adapt_after: int | None, hindsight: bool) -> None:
    for decision in (BY_HAND, AUTO):
        found = replace(decision, adapt_after=adapt_after).decide(
            np.full(30, 50.0), silent=np.ones(30, dtype=bool), blur=2, hindsight=hindsight
        )
        assert found.anomalous.all()
        assert (found.normalized >= SILENT_SEVERITY).all()
        assert found.events() == [(0, 30)]
        assert found.fits
        assert not found.baseline.shift.any()


def test_no_missing_rows_are_as_none_given() -> None:
    scores = np.random.default_rng(1).gamma(2.0, 1.0, 300)
    decision = replace(BY_HAND, adapt_after=50)
    plain, none = (decision.decide(scores, silent=one, blur=2) for one in (None, rows_missing(300)))
    for field in ("threshold", "normalized", "anomalous"):
        np.testing.assert_array_equal(getattr(plain, field), getattr(none, field))
