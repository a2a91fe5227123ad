"""Alarms: events that are one finding, and what they say of when, how bad, how often and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import (
    JOIN_WITHIN,
    REPEAT_WITHIN,
    Alarm,
    describe,
    findings,
)
from subadjacent.decision.baseline_profile import BaselineProfiles, ChannelProfile
from subadjacent.decision.causes import NAMED_SHARE, Cause
from subadjacent.decision.decision import Decision, RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.recent_baseline import RecentBaseline
from subadjacent.errors import InputError

DATES = pd.date_range("2024-03-01 12:00", periods=6, freq="min")
SERIES = TrainSeries(
    values=np.array([[0, 10], [1, 11], [2, 12], [3, 13], [4, 14], [5, 15]]),
    channels=("flow", "heat"),
    entity="pump",
    index=DATES,
)
SCORES = np.array([0.0, 6.0, 8.0, 0.0, 0.0, 4.0])
EVENTS = [(1, 3), (5, 6)]
# of rows 1, 2 and 5; nothing is said of the others
BY_CHANNEL = np.zeros((6, 2))
BY_CHANNEL[[1, 2, 5]] = [[1.0, 9.0], [2.0, 5.0], [7.0, 3.0]]
# all rows are near an alarm: what is usual is what it was in training
FLOW = ChannelProfile(
    median=-1, low=-2, high=0, minimum=-9, maximum=99, cycle=0, below=-1, above=1,
    error=1, min_step=0,
    median_step=10, max_step=20, max_run=1, partner=-1, slope=0, partner_error=1,
)  # fmt: skip
HEAT = FLOW._replace(median=20, low=19, high=21)
HABITS = BaselineProfiles(np.column_stack([FLOW, HEAT]).astype(float))
# a typical row scores 0
NORMAL = NormalScores(0.0, 3.0, 1.0, 100, Tail(3.0, 0.0, 1.0, 0.01))
JUDGEMENT = Decision(4.0, None, PerEntity(NORMAL, {}), None).decide(SCORES)


def described(
    series: TrainSeries = SERIES,
    channels: int = 5,
    events: list[tuple[int, int]] = EVENTS,
    again: int = 0,
    decisions: RowDecisions = JUDGEMENT,
    **others: Any,
) -> list[Alarm]:
    """Each event by itself, unless told otherwise."""
    evidence = Evidence(SCORES, BY_CHANNEL, None, {})._replace(**others)
    return describe(series, evidence, decisions, HABITS, events, channels=channels, again=again)


def test_an_alarm_by_hand() -> None:
    first, second = described()
    assert first == Alarm(
        start=DATES[1],
        end=DATES[2],
        peak=DATES[2],
        severity=2.0,
        score=8.0,
        duration=2,
        # means 7 and 1.5; heat was 9 and 8 from what was expected, flow 2 and 3
        causes=(
            Cause(
                "heat",
                score=7.0,
                at=DATES[1],
                expected=20.0,
                seen=11.0,
                low=19.0,
                high=21.0,
                kind="level shift (permanent)",
                sentence="heat shifted its level permanently: 11.0, expected 19.0 to 21.0",
            ),
            Cause(
                "flow",
                score=1.5,
                at=DATES[2],
                expected=-1.0,
                seen=2.0,
                low=-2.0,
                high=0.0,
                kind="unusual",
                sentence="flow was unlike anything in training: 2.0, expected -2.0 to 0.0",
            ),
        ),
        first=1,
        last=2,
        entity="pump",
        occurrences=((1, 2),),
    )
    assert (first.times, first.permanent) == (1, False)
    assert (second.start, second.end, second.peak) == (DATES[5], DATES[5], DATES[5])
    assert (second.severity, second.score, second.duration) == (1.0, 4.0, 1)
    assert [cause.channel for cause in second.causes] == ["flow", "heat"]
    assert (second.causes[0].score, second.causes[0].at, second.causes[0].seen) == (7, DATES[5], 5)
    assert (second.first, second.last) == (5, 5)


def test_rows_are_numbered_where_there_is_no_index() -> None:
    first, second = described(TrainSeries(SERIES.values))
    assert (first.start, first.end, first.peak, first.entity) == (1, 2, 2, None)
    assert first.causes[0].at == 1
    assert first.causes[0].channel == "channel_1"
    assert second.start == 5


@pytest.mark.parametrize(("most", "named"), [(0, 0), (1, 1), (2, 2), (99, 2)])
def test_so_many_channels_are_named_as_asked(most: int, named: int) -> None:
    assert [len(alarm.causes) for alarm in described(channels=most)] == [named, named]
    assert described(channels=most)[0].causes == described()[0].causes[:most]


def test_channels_alike_stand_in_the_order_of_the_data() -> None:
    alarms = described(by_channel=np.ones((6, 2)))
    assert [cause.channel for cause in alarms[0].causes] == ["flow", "heat"]


def test_values_are_those_of_the_largest_departure_though_another_row_scores_higher() -> None:
    # what is unusual is averaged over rows: its top, row 1, is not where heat departs most
    values = SERIES.values.copy()
    values[2, 1] = -30
    heat = described(replace(SERIES, values=values))[0].causes[0]
    assert (heat.channel, heat.at, heat.seen, heat.expected) == ("heat", DATES[2], -30.0, 20.0)


def test_the_kind_and_the_sentence_are_those_of_the_first_cause() -> None:
    first = described()[0]
    assert first.kind == first.causes[0].kind
    # flow departs by less than a share of heat
    assert first.causes[1].score < NAMED_SHARE * first.causes[0].score
    assert first.sentence == first.causes[0].sentence
    # nor is it named where it departs as much, but in no way that has a name
    both = described(by_channel=BY_CHANNEL + np.array([2.0, 0.0]))[0]
    assert both.causes[1].kind == "unusual"
    assert both.sentence == both.causes[0].sentence
    drifting = replace(both.causes[1], kind="drift")
    assert replace(both, causes=(both.causes[0], drifting)).sentence == (
        f"{both.causes[0].sentence}; flow as well"
    )


def test_what_came_again_is_told_with_how_often() -> None:
    alarm = replace(described()[0], occurrences=((1, 2), (5, 5)))
    assert alarm.sentence == f"2 times: {alarm.causes[0].sentence}"


def test_an_alarm_without_causes_says_what_its_view_saw() -> None:
    named, unnamed = (
        described(channels=0, **facts)[0]
        for facts in ({"traces": {"state": np.ones(6)}, "views": ("state",)}, {})
    )
    assert named.sentence == "part of a combination of values never seen in training"
    assert unnamed.sentence == "unlike anything in training"
    assert named.kind == unnamed.kind == "unusual"


# what two views add to the scores of the rows; over rows 1 and 2 it is 6 and 8, in row 5 3 and 1
TRACES = {
    "level": np.array([9.0, 5.0, 1.0, 0.0, 0.0, 3.0]),
    "shape": np.array([0.0, 1.0, 7.0, 0.0, 9.0, 1.0]),
}


def test_an_alarm_names_the_view_that_adds_most_over_its_rows_by_hand() -> None:
    first, second = described(traces=TRACES, views=("level", "shape"))
    # nor do rows beside the events count, though they are higher
    assert (first.view, second.view) == ("shape", "level")


def test_of_views_that_add_as_much_the_first_is_named() -> None:
    traces = {"state": np.ones(6), "level": np.ones(6)}
    for views in (("state", "level"), ("level", "state")):
        assert [alarm.view for alarm in described(traces=traces, views=views)] == [views[0]] * 2


def test_traces_that_do_not_add_up_to_the_score_raise_no_alarm() -> None:
    for views, named in (((), None), (("level",), "level")):
        assert [alarm.view for alarm in described(traces=TRACES, views=views)] == [named] * 2


def test_events_that_are_one_finding_are_one_alarm_by_hand() -> None:
    (alarm,) = described(again=2)
    assert (alarm.start, alarm.end, alarm.peak) == (DATES[1], DATES[5], DATES[2])
    assert (alarm.first, alarm.last, alarm.duration) == (1, 5, 5)
    assert (alarm.occurrences, alarm.times) == (((1, 2), (5, 5)), 2)
    assert (alarm.severity, alarm.score) == (2.0, 8.0)
    # rows between the events count for nothing: means over rows 1, 2 and 5
    assert [(cause.channel, cause.score) for cause in alarm.causes] == [
        ("heat", pytest.approx(17 / 3)),
        ("flow", pytest.approx(10 / 3)),
    ]
    # heat has most to do with the first event, flow with the second
    assert [cause.at for cause in alarm.causes] == [DATES[1], DATES[5]]
    loud_between = np.where(np.isin(np.arange(6), [3, 4])[:, None], 99.0, BY_CHANNEL)
    assert described(again=2, by_channel=loud_between)[0] == alarm


def test_the_view_of_a_finding_is_that_of_all_its_events() -> None:
    # over rows 1, 2 and 5 level adds 9 and shape 9; a little more in row 5 decides, and a lot more
    # in row 3, which is in no event, does not
    more = {
        "level": TRACES["level"] + [0, 0, 0, 0, 0, 0.5],
        "shape": TRACES["shape"] + [0, 0, 0, 90, 0, 0],
    }
    (alarm,) = described(again=2, traces=more, views=("shape", "level"))
    assert alarm.view == "level"


def test_an_alarm_made_by_hand_was_there_once() -> None:
    alarm = replace(described()[0], occurrences=())
    assert alarm.times == 1


def test_no_alarm_reaches_from_one_segment_into_the_next() -> None:
    # one row lies between the events, and a break in the clock
    broken = replace(JUDGEMENT, segments=[(0, 4), (4, 6)])
    assert [alarm.occurrences for alarm in described(again=REPEAT_WITHIN, decisions=broken)] == [
        ((1, 2),),
        ((5, 5),),
    ]


def moved(first: int, rows: int = 6) -> RowDecisions:
    """A series that has moved from a row on."""
    baseline = RecentBaseline(np.zeros(rows), np.arange(rows) >= first)
    return replace(JUDGEMENT, baseline=baseline)


def test_an_alarm_says_that_the_series_did_not_come_back_by_hand() -> None:
    def said(first: int) -> list[bool]:
        return [alarm.permanent for alarm in described(decisions=moved(first))]

    # it is over once the series has moved: the first row by which it has is the one after
    assert said(first=6) == [False, False]
    assert said(first=3) == [True, False]
    assert said(first=2) == [True, False]
    # before it, nothing was news
    assert said(first=1) == [False, False]
    assert said(first=0) == [False, False]


def permanent(
    high: Sequence[int],
    *,
    first: int,
    rows: int = 6 * JOIN_WITHIN,
    height: float = 4.1,
    stop: int = 2,
) -> bool:
    """What an alarm from row 1 on says of a series that moved in a row; 4 is the threshold."""
    scores = np.zeros(rows)
    scores[1] = 8.0
    scores[list(high)] = height
    decision = Decision(4.0, None, PerEntity(NORMAL, {}), None)
    baseline = RecentBaseline(np.zeros(rows), np.arange(rows) >= first)
    # what has moved has a higher threshold
    threshold = np.where(baseline.shifted, 12.0, 4.0)
    decisions = replace(decision.decide(scores), baseline=baseline, threshold=threshold)
    evidence = Evidence(scores, np.ones((rows, 2)), None, {})
    (alarm,) = describe(TrainSeries(np.zeros((rows, 2))), evidence, decisions, HABITS, [(1, stop)])
    return alarm.permanent


def test_what_moves_long_after_an_alarm_has_nothing_to_do_with_it() -> None:
    high = range(2, 6 * JOIN_WITHIN)
    assert permanent(high, first=1 + JOIN_WITHIN)
    assert not permanent(high, first=2 + JOIN_WITHIN)


def test_a_series_that_comes_back_has_not_moved_for_good_by_hand() -> None:
    # rows 102 to 401 are looked at: more than half of them, or just half, above the old threshold
    for count, said in ((300, True), (150, True), (149, False), (0, False)):
        assert permanent(range(102, 102 + count), first=2) is said
        assert permanent(range(402 - count, 402), first=2) is said
    # a row at the threshold is not above it
    assert not permanent(range(2, 600), first=2, height=4.0)
    # which is that of its first row, where nothing had moved
    assert permanent(range(2, 600), first=2, stop=3)
    # neither rows before these nor rows after them count
    assert not permanent([*range(2, 102), *range(402, 600)], first=2)


def test_at_the_end_of_a_series_nobody_knows_whether_it_comes_back() -> None:
    assert permanent([], first=2, rows=102)
    assert not permanent([], first=2, rows=103)
    assert permanent([102], first=2, rows=103)


def test_in_a_series_that_the_model_does_not_fit_all_events_are_one_finding() -> None:
    rows = 800
    evidence = Evidence(np.zeros(rows), np.zeros((rows, 2)), None, {})
    evidence.by_channel[0], evidence.by_channel[400] = [1.0, 0.0], [0.0, 1.0]
    decision = Decision(4.0, None, PerEntity(NORMAL, {}), None)
    decisions = decision.decide(np.zeros(rows))
    series = TrainSeries(np.zeros((rows, 2)))
    for fits, count in ((True, 2), (False, 1)):
        known = replace(decisions, fits=fits)
        assert len(describe(series, evidence, known, HABITS, [(0, 1), (400, 401)])) == count
    apart = describe(
        series, evidence, replace(decisions, fits=False), HABITS, [(0, 1), (400, 401)], again=398
    )
    assert len(apart) == 2


def test_no_events_are_no_alarms() -> None:
    assert described(events=[]) == []


def test_what_an_alarm_says_is_plain_python() -> None:
    alarm = described()[0]
    assert {type(alarm.severity), type(alarm.score)} == {float}
    assert {type(alarm.duration), type(alarm.first), type(alarm.last)} == {int}
    for cause in alarm.causes:
        assert {type(cause.score), type(cause.expected), type(cause.seen)} == {float}


@pytest.mark.parametrize("channels", [-1, 1.5, None])
def test_a_number_of_channels_that_is_none_is_refused(channels: Any) -> None:
    with pytest.raises(InputError) as caught:
        described(channels=channels)
    assert str(caught.value) == (f"channels must be a whole number of at least 0; got {channels!r}")


@pytest.mark.parametrize("again", [-1, 1.5, None])
def test_a_number_of_rows_that_is_none_is_refused(again: Any) -> None:
    with pytest.raises(InputError) as caught:
        described(again=again)
    assert str(caught.value) == f"again must be a whole number of at least 0; got {again!r}"


# ---- findings

# what channels did: the first, the second, both, and mostly the first
ONE, TWO = np.array([1.0, 0.0]), np.array([0.0, 1.0])
BOTH, MOSTLY = (ONE + TWO) / np.sqrt(2), np.array([0.8, 0.6])


def at(*rows: int) -> list[tuple[int, int]]:
    """Events of one row each."""
    return [(row, row + 1) for row in rows]


def test_the_same_thing_again_is_one_finding_by_hand() -> None:
    assert findings(at(0, 500, 1400), [ONE] * 3, again=1000) == [at(0, 500, 1400)]
    # another channel is another thing
    assert findings(at(0, 500), [ONE, TWO], again=1000) == [at(0), at(500)]
    # an angle with a cosine of 0.71 is too much, one of 0.8 is not
    assert findings(at(0, 500), [ONE, BOTH], again=1000) == [at(0), at(500)]
    assert findings(at(0, 500), [ONE, MOSTLY], again=1000) == [at(0, 500)]
    assert findings(at(0, 500), [ONE, BOTH], again=1000, alike=0.7) == [at(0, 500)]


def test_so_many_rows_may_lie_between_two_events_of_a_finding() -> None:
    assert findings(at(0, 1001), [ONE, ONE], again=1000) == [at(0, 1001)]
    assert findings(at(0, 1002), [ONE, ONE], again=1000) == [at(0), at(1002)]
    # from the last event on, not from the first
    assert findings(at(0, 900, 1800), [ONE] * 3, again=1000) == [at(0, 900, 1800)]


def test_what_is_close_is_one_finding_whatever_the_channels() -> None:
    for rows_between, count in ((JOIN_WITHIN, 1), (JOIN_WITHIN + 1, 2)):
        assert len(findings(at(0, rows_between + 1), [ONE, TWO], again=REPEAT_WITHIN)) == count
    # unless fewer rows are asked for
    assert len(findings(at(0, 31), [ONE, TWO], again=30)) == 1
    assert len(findings(at(0, 32), [ONE, TWO], again=30)) == 2


def test_what_two_channels_do_in_turn_are_two_findings() -> None:
    rows = at(0, 200, 400, 600, 800)
    found = findings(rows, [ONE, TWO, ONE, TWO, ONE], again=1000)
    assert found == [at(0, 400, 800), at(200, 600)]


def test_what_is_close_comes_before_what_is_alike() -> None:
    found = findings(at(0, 500, 550), [ONE, TWO, ONE], again=1000)
    assert found == [at(0), at(500, 550)]


def test_of_several_findings_the_most_alike_is_joined() -> None:
    # first what is the same, then what is nearly so
    for order in ((ONE, BOTH), (BOTH, ONE)):
        found = findings(at(0, 300, 600), [*order, MOSTLY], again=1000)
        # the cosine with both is 0.99, with the first 0.8
        assert found[0 if order[0] is BOTH else 1][-1] == (600, 601)


def test_a_finding_is_what_all_its_events_were() -> None:
    # too unlike the first, and like enough to both of them: a cosine of 0.89
    found = findings(at(0, 300, 600), [ONE, MOSTLY, BOTH], again=1000)
    assert found == [at(0, 300, 600)]
    assert findings(at(0, 300), [ONE, BOTH], again=1000) == [at(0), at(300)]


def test_an_event_that_no_channel_explains_is_like_no_other() -> None:
    nothing = np.zeros(2)
    assert len(findings(at(0, 300), [nothing, ONE], again=1000)) == 2
    assert len(findings(at(0, 300), [nothing, nothing], again=1000)) == 2
    assert len(findings(at(0, 300), [nothing, ONE], again=1000, alike=0.0)) == 1


GAPS = st.lists(st.integers(1, 400), max_size=12)
ANGLES = st.lists(st.floats(0, np.pi / 2), min_size=12, max_size=12)


@given(GAPS, ANGLES, st.integers(0, 900))
def test_every_event_is_in_one_finding_and_in_order(
    gaps: list[int], angles: list[float], again: int
) -> None:
    rows = at(*np.cumsum([0, *(gap + 1 for gap in gaps)]).tolist())[: len(gaps)]
    profiles = [np.array([np.cos(angle), np.sin(angle)]) for angle in angles][: len(rows)]
    found = findings(rows, profiles, again)
    assert sorted(event for finding in found for event in finding) == rows
    assert all(finding == sorted(finding) for finding in found)
    assert [finding[0] for finding in found] == sorted(finding[0] for finding in found)
    for finding in found:
        for one, two in pairwise(finding):
            assert two[0] - one[1] <= again
    assert findings(rows, profiles, 0) == [[event] for event in rows]
    # where everything is alike, only the rows between them part events
    whole = findings(rows, profiles, again, alike=0.0)
    breaks = sum(two[0] - one[1] > again for one, two in pairwise(rows))
    assert len(whole) == (breaks + 1 if rows else 0)
