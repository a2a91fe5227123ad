"""The decision: severities by score and by the strongest channel, events, baselines, silence."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.entities import PerEntity
from subadjacent.decision.decision import Decision, RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.final_events import FinalEvents
from subadjacent.decision.machine import CLOSE_AFTER
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.severity import SILENT_SEVERITY
from subadjacent.decision.severity_stream import RowSeverity
from subadjacent.decision.threshold import (
    AdaptiveConformal,
    AlarmBudget,
    AutoRate,
    Conformal,
    DynamicLevel,
    ExtremeValue,
    Fixed,
    Quantile,
)
from subadjacent.decision.trace_threshold import TraceThreshold
from subadjacent.errors import InputError

NORMAL = NormalScores(1.0, 2.0, 0.5, 500, Tail(2.0, 0.0, 0.5, 0.01))
RESTLESS = NormalScores(3.0, 6.0, 1.5, 500, Tail(6.0, 0.0, 1.0, 0.01))
BY_ENTITY = PerEntity(NORMAL, {"quiet": NORMAL, "restless": RESTLESS})
BY_SCORE = TraceThreshold(3.0, None, BY_ENTITY)
BY_HAND = Decision(BY_SCORE, None, None)
BOTH = Decision(BY_SCORE, TraceThreshold(10.0, None, BY_ENTITY), None)


def decided(scores: Any, decision: Decision = BY_HAND, strongest: Any = None, **how: Any) -> Any:
    rows = np.array(scores, dtype=float)
    own = None if strongest is None else np.array(strongest, dtype=float)
    return decision.decide(Evidence.of_scores(rows, own), **how)


def rows_of(found: RowDecisions) -> list[tuple[int, int]]:
    return [(event.first, event.last) for event in found.events]


# ---- what is high


def test_a_row_at_the_threshold_is_not_anomalous() -> None:
    assert decided([3.0, np.nextafter(3.0, 4)]).anomalous.tolist() == [False, True]


def test_one_is_the_threshold_and_zero_a_typical_row_by_hand() -> None:
    assert decided([1.0, 2.0, 3.0]).severity.tolist() == [0.0, 0.5, 1.0]
    assert decided([3.0]).probability.tolist() == [0.5]
    assert decided([1.0]).probability[0] == pytest.approx(0.01)
    assert np.isfinite(decided([1e300, -1e300]).probability).all()


def test_the_strongest_channel_counts_as_much_as_the_score_by_hand() -> None:
    found = decided([1.0, 1.0, 4.0], BOTH, [1.0, 11.0, 1.0])
    assert found.anomalous.tolist() == [False, True, True]
    assert found.severity[0] < 1 < min(found.severity[1:])
    assert found.rows.by_channel.tolist() == [False, True, False]
    # the severity of a channel that jumps is that of the channel, however low the score
    quiet, alone = decided([1.0], BOTH, [15.0]), decided([2.9], BOTH, [15.0])
    assert quiet.severity.tolist() == alone.severity.tolist()


def test_without_a_strongest_channel_the_score_decides() -> None:
    assert decided([4.0, 1.0], BOTH).anomalous.tolist() == [True, False]


def test_rows_between_two_that_stand_out_belong_to_the_event() -> None:
    rows = [9.0, *[0.0] * CLOSE_AFTER, 9.0, *[0.0] * (CLOSE_AFTER + 1), 9.0]
    found = decided(rows)
    # the third is an event of its own
    assert rows_of(found) == [(0, CLOSE_AFTER + 1), (len(rows) - 1, len(rows) - 1)]
    assert found.anomalous.sum() == CLOSE_AFTER + 3


def test_where_a_share_of_rows_was_requested_none_is_added_to_it_by_hand() -> None:
    rule = Quantile(0.9).fit(np.arange(11.0))
    share = Decision(TraceThreshold(9.0, rule, BY_ENTITY), None, None)
    assert share.is_share_of_rows
    found = decided([20.0, 0.0, 9.5, 9.5], share)
    assert found.anomalous.tolist() == [True, False, True, True]
    # every run of rows is an event, and none an aftermath
    assert rows_of(found) == [(0, 0), (2, 3)]


def test_where_averages_blur_an_event_its_core_is_left_by_hand() -> None:
    # an average over three rows of a single one
    rows = [1.0, 4.0, 12.0, 4.0, 1.0]
    assert decided(rows).anomalous.tolist() == [False, True, True, True, False]
    assert decided(rows, blur=1).anomalous.tolist() == [False, False, True, False, False]
    # where a channel stands out, its rows are those of the event
    found = decided(rows, BOTH, [0, 20.0, 0, 0, 0], blur=1)
    assert found.anomalous.tolist() == [False, True, False, False, False]
    # and so are those with most of what is the most around them
    found = decided([1.0] * 5, BOTH, [0, 15.0, 20.0, 13.0, 0], blur=1)
    assert found.anomalous.tolist() == [False, True, True, False, False]


def test_a_break_in_the_clock_parts_events() -> None:
    assert rows_of(decided([9.0, 9.0, 9.5, 9.0], segments=[(0, 2), (2, 4)])) == [(0, 1), (2, 3)]
    assert rows_of(decided([9.0, 9.0, 9.5, 9.0])) == [(0, 3)]
    # and no average reaches across it
    found = decided([4.0, 12.0], segments=[(0, 1), (1, 2)], blur=1)
    assert found.anomalous.all()


# ---- levels


def test_by_default_each_entity_has_a_level_of_its_own() -> None:
    rule = AutoRate().fit(np.arange(100.0))
    auto = TraceThreshold(rule.threshold_, rule, BY_ENTITY)
    # one in 5,000 rows: 2 + 0.5 log(0.01 * 5,000), whichever of entity and all is rarer
    assert auto.level("quiet") == auto.level(None) == pytest.approx(2 + 0.5 * np.log(50))
    assert auto.level("restless") == 6.0
    # a threshold by hand holds for all
    assert BY_SCORE.level("restless") == BY_SCORE.level(None) == 3.0


def test_rows_that_are_requested_between_false_alarms_by_hand() -> None:
    scores = np.arange(1_000.0)
    for rule, period in (
        (AutoRate(), 5_000),
        (AutoRate(1.0, 1.0), 500),
        (Quantile(0.99), 100),
        (AlarmBudget(2, "1h", interval="1min"), 30),
        (ExtremeValue(1e-3), 1_000),
    ):
        own = TraceThreshold(5.0, rule.fit(scores), BY_ENTITY)
        assert Decision(own, None, None).period("quiet") == pytest.approx(period)
        # the strongest channel raises a fifth of them, the score the rest
        assert Decision(own, own, None).period("quiet") == pytest.approx(0.8 * period)
    # others do not say: it is how seldom normal rows are above their level
    own = TraceThreshold(3.0, Fixed(3.0).fit(scores), BY_ENTITY)
    assert own.period("quiet") == pytest.approx(100 * np.exp(2))
    assert own.period("quiet") == TraceThreshold(3.0, None, BY_ENTITY).period("quiet")


def test_a_threshold_is_saved_and_comes_back() -> None:
    rule = AutoRate().fit(np.arange(100.0))
    own = TraceThreshold(rule.threshold_, rule, BY_ENTITY)
    again = TraceThreshold.from_dict(own.to_dict(), ["quiet", "restless"])
    assert again == own
    with pytest.raises(InputError, match="normal must be a list of 2"):
        TraceThreshold.from_dict(own.to_dict(), ["quiet"])


def test_thresholds_that_know_the_series_have_a_level_of_its_rows() -> None:
    scores = np.random.default_rng(0).exponential(size=400)
    rules = AdaptiveConformal(0.05).fit(scores), DynamicLevel().fit(scores)
    for rule in rules:
        own = Decision(TraceThreshold(rule.threshold_, rule, BY_ENTITY), None, None)
        found = decided(scores, own)
        if isinstance(rule, AdaptiveConformal):
            followed = rule.follow(scores)
            assert found.rows.threshold.tolist() == followed.levels.tolist()
            assert found.p_values.tolist() == followed.p_values.tolist()
            assert found.anomalous.tolist() == (scores > followed.levels).tolist()
        else:
            assert len(set(found.rows.threshold.tolist())) == 1
    conformal = Conformal(0.05).fit(scores)
    own = Decision(TraceThreshold(conformal.threshold_, conformal, BY_ENTITY), None, None)
    assert decided(scores, own).p_values.tolist() == conformal.p_values(scores).tolist()
    assert decided([1.0]).p_values is None


# ---- the baseline


def test_a_level_that_lasts_is_the_new_normal_by_hand() -> None:
    rows = [*[1.0] * 20, *[9.0] * 40]
    found = decided(rows, replace(BY_HAND, adapt_after=4))
    ((first, last),) = rows_of(found)
    assert first == 20
    assert last < 20 + 2 * 4
    assert found.rows.shifted[-1]
    assert found.rows.threshold[-1] == 3.0 + found.rows.shift[-1]
    # the rows are still unlike training
    assert found.rows.unlike.tolist() == [False] * 20 + [True] * 40
    # what is never followed stays an event
    assert rows_of(decided(rows)) == [(20, 59)]


def test_a_strongest_channel_that_lasts_is_the_new_normal_too() -> None:
    rows = [*[1.0] * 20, *[15.0] * 40]
    found = decided([1.0] * 60, replace(BOTH, adapt_after=4), rows)
    ((first, last),) = rows_of(found)
    assert (first, last < 30) == (20, True)


def test_a_model_no_longer_fits_where_most_rows_are_unlike_training_for_long() -> None:
    unlike, like = [9.0] * 600, [1.0] * 400
    assert not decided([*like, *unlike]).fits
    # a fault that lasts for half as long as training is no reason to disown the model
    assert decided([*like[:100], *unlike[:400]]).fits
    # nor are many of them among more others
    assert decided([*like, *like, *unlike]).fits


# ---- silence


def test_rows_with_a_silent_channel_belong_to_an_event_whatever_their_score() -> None:
    silent = np.array([False, True, True, False])
    found = decided([1.0, 99.0, 1.0, 1.0], silent=silent)
    assert found.anomalous.tolist() == silent.tolist()
    assert found.severity.tolist() == [0.0, SILENT_SEVERITY, SILENT_SEVERITY, 0.0]
    assert decided([1.0] * 4, silent=np.ones(4, bool)).anomalous.all()


@given(
    st.lists(st.floats(0, 9), min_size=1, max_size=60),
    st.data(),
    st.sampled_from([None, 1, 3, 20]),
    st.integers(0, 3),
)
def test_what_silent_rows_score_changes_nothing_of_the_others(
    scores: list[float], data: st.DataObject, adapt_after: int | None, blur: int
) -> None:
    silent = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    )
    rows = np.array(scores)
    own = replace(BY_HAND, adapt_after=adapt_after)
    before = decided(rows, own, silent=silent, blur=blur)
    after = decided(np.where(silent, 1e6, rows), own, silent=silent, blur=blur)
    assert before.severity.tolist() == after.severity.tolist()
    assert rows_of(before) == rows_of(after)


# ---- a stream


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 30)), max_size=80),
    st.data(),
    st.sampled_from([None, 2, 5, 40]),
    st.integers(0, 4),
)
def test_parts_equal_the_whole_and_a_stop_changes_nothing(
    rows: list[tuple[float, float]], data: st.DataObject, adapt_after: int | None, blur: int
) -> None:
    score, strongest = (np.array([row[n] for row in rows], dtype=float) for n in (0, 1))
    flags = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    silent, starts = (np.array(data.draw(flags), dtype=bool) for _ in range(2))
    starts[:1] = False
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)), max_size=3)))
    own = replace(BOTH, adapt_after=adapt_after)
    bounds = list(pairwise([0, *np.flatnonzero(starts).tolist(), len(rows)])) if rows else []
    whole = decided(score, own, strongest, segments=bounds, silent=silent, blur=blur)
    final, events = FinalEvents(own, None, blur), []
    for first, last in pairwise([0, *cuts, len(rows)]):
        again = FinalEvents(own, None, blur)
        again.restore(*final.state())
        final, part = again, slice(first, last)
        final.add(silent[part], starts[part])
        events += final.push(Evidence.of_scores(score[part], strongest[part]))
    events += final.end_segment()
    assert [(event.first, event.last, event.severity) for event in events] == [
        (event.first, event.last, event.severity) for event in whole.events
    ]


def test_rows_wait_for_those_that_averages_spread_them_to() -> None:
    stream = BY_HAND.stream(None, blur=1)
    assert len(stream.push(np.array([1.0, 9.0, 1.0])).severity) == 1
    rest = stream.finish()
    assert isinstance(rest, RowSeverity)
    assert rest.is_high.tolist() == [True, False]
