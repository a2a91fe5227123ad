"""Alarms: events with their times, severity, causes and repeats."""

from __future__ import annotations

import json
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
from subadjacent.decision.alarms import REPEAT_WITHIN, Alarm, Repeats, describe, strongest_view
from subadjacent.decision.baseline_profile import BaselineProfiles, ChannelProfile
from subadjacent.decision.causes import NAMED_SHARE, Cause, alarm_sentence
from subadjacent.decision.decision import Decision, RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.machine import CLOSE_AFTER, OngoingEvent
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.trace_threshold import TraceThreshold
from subadjacent.errors import InputError

DATES = pd.date_range("2024-03-01 12:00", periods=6, freq="min")
SERIES = TrainSeries(
    values=np.array([[0, 10], [1, 11], [2, 12], [3, 13], [4, 14], [5, 15]]),
    channels=("flow", "heat"),
    entity="pump",
    index=DATES,
)
SCORES = np.array([0.0, 6.0, 8.0, 0.0, 0.0, 4.5])
# of rows 1, 2 and 5; nothing is known of the others
BY_CHANNEL = np.zeros((6, 2))
BY_CHANNEL[[1, 2, 5]] = [[1.0, 9.0], [2.0, 5.0], [7.0, 3.0]]


def profiles_of(*channels: ChannelProfile) -> BaselineProfiles:
    """Profiles without a template."""
    table = [[*channel[:-2], *channel.max_changes] for channel in channels]
    return BaselineProfiles(np.array(table, dtype=float).T)


# all rows are near an alarm: the expected range is that of training
FLOW = ChannelProfile(
    median=-1, low=-2, high=0, minimum=-9, maximum=99, floor=-1e9,
    ceiling=1e9, decimals=-1, cycle=0, memory=6, below=-1, above=1,
    below_drift=0, above_drift=0, error=1, min_step=0,
    median_step=10, max_step=20, max_run=1, partner=-1, slope=0, partner_error=1,
    partner_below=-1, partner_above=1, max_changes=(99,) * 5,
)  # fmt: skip
# it varies as widely as it departs here: none of its rows is far out of range
HEAT = FLOW._replace(median=20, low=12, high=21, error=5)
PROFILES = profiles_of(FLOW, HEAT)
# a typical row scores 0, and severities beyond 4 are those of a tail with a shape of 0.1
NORMAL = NormalScores(0.0, 3.0, 1.0, 100, Tail(4.0, 0.0, 1.0, 0.01))
DECISION = Decision(TraceThreshold(4.0, None, PerEntity(NORMAL, {})), None, None)
EVENTS = [OngoingEvent(1, 2, 2, 2.5), OngoingEvent(5, 5, 5, 1.5)]
DECIDED = replace(DECISION.decide(Evidence.of_scores(SCORES)), events=EVENTS)


def described(
    series: TrainSeries = SERIES,
    decisions: RowDecisions = DECIDED,
    how: dict[str, Any] | None = None,
    **evidence: Any,
) -> list[Alarm]:
    own = Evidence(SCORES, BY_CHANNEL, None, {})._replace(**evidence)
    return describe(series, own, decisions, PROFILES, **(how or {}))


def test_an_alarm_by_hand() -> None:
    first, second = described()
    assert first == Alarm(
        number=1,
        entity="pump",
        # scores stand out in rows 1 and 2, heat in rows 0 and 1
        start=DATES[0],
        end=DATES[1],
        peak=DATES[1],
        first=0,
        last=1,
        severity=2.5,
        score=8.0,
        # means 7 and 1.5; heat was 10 from what was expected, flow 2
        causes=(
            Cause(
                "heat",
                score=7.0,
                at=DATES[0],
                expected=20.0,
                seen=10.0,
                low=12.0,
                high=21.0,
                kind="out of range",
                sentence="heat fell to 10.0, expected 12.0 to 21.0",
            ),
            Cause(
                "flow",
                score=1.5,
                at=DATES[1],
                expected=-1.0,
                seen=1.0,
                low=-2.0,
                high=0.0,
                kind="out of range",
                sentence="flow rose to 1.0, expected -2.0 to 0.0",
            ),
        ),
        state="closed",
        status="confirmed",
        kind="out of range",
        sentence="heat fell to 10.0, expected 12.0 to 21.0",
    )
    assert first.duration == 2
    assert (second.number, second.severity, second.score, second.duration) == (2, 1.5, 4.5, 5)
    assert [cause.channel for cause in second.causes] == ["flow", "heat"]
    # flow explains it, and is out from row 1 on
    assert (second.first, second.last, second.start, second.end) == (1, 5, DATES[1], DATES[5])
    assert {type(first.severity), type(first.score)} == {float}
    assert {type(first.duration), type(first.first), type(first.last)} == {int}
    for cause in first.causes:
        assert {type(cause.score), type(cause.expected), type(cause.seen)} == {float}


def test_rows_are_numbered_where_there_is_no_index() -> None:
    first, _ = described(TrainSeries(SERIES.values))
    assert (first.start, first.end, first.peak, first.entity) == (0, 1, 1, None)
    assert (first.causes[0].at, first.causes[0].channel) == (0, "channel_1")


def test_as_many_channels_are_named_and_as_short_events_told_as_requested() -> None:
    for most, named in ((0, 0), (1, 1), (2, 2), (99, 2)):
        alarms = described(how={"channels": most})
        assert [len(alarm.causes) for alarm in alarms] == [named, named]
        assert alarms[0].causes == described()[0].causes[:most]
    assert [alarm.score for alarm in described(how={"shortest": 2})] == [8.0]
    assert described(how={"shortest": 3}) == []
    # those that tie are in the order of the data
    alarms = described(by_channel=np.ones((6, 2)))
    assert [cause.channel for cause in alarms[0].causes] == ["flow", "heat"]


def test_values_are_those_of_the_largest_departure_though_another_row_scores_higher() -> None:
    # evidence is averaged over rows: its top, row 1, is not where heat departs most
    values = SERIES.values.copy()
    values[2, 1] = -30
    heat = described(replace(SERIES, values=values))[0].causes[0]
    assert (heat.channel, heat.at, heat.seen, heat.expected) == ("heat", DATES[2], -30.0, 20.0)


def test_the_peak_is_within_the_rows_of_the_alarm() -> None:
    # a jump of 40 rows, which averages spread over 20 rows to either side
    values = np.tile(np.arange(400.0)[:, None] % 2, 2) - 1.5
    values[200:240] += 50.0
    profiles = profiles_of(FLOW, FLOW)
    by_channel = np.zeros((400, 2))
    by_channel[180:260] = 1.0
    for peak, told in ((185, 200), (210, 210), (255, 239)):
        decisions = DECISION.decide(Evidence.of_scores(np.zeros(400)))
        decisions = replace(decisions, events=[OngoingEvent(180, 259, peak, 3.0)])
        evidence = Evidence(np.arange(400.0), by_channel, None, {})
        (alarm,) = describe(TrainSeries(values), evidence, decisions, profiles)
        # its rows are those where the channels depart; the score is that of the event's peak
        assert (alarm.first, alarm.last, alarm.peak, alarm.score) == (200, 239, told, peak)


def test_a_sentence_names_the_first_cause_and_those_of_similar_size() -> None:
    first, flow = described()[0].causes
    assert flow.score < NAMED_SHARE * first.score
    assert alarm_sentence((first, flow), None) == first.sentence
    # one that departs as much is named, if it is out of its range as a chart shows it
    near = replace(flow, score=6.0)
    assert alarm_sentence((first, near), None) == f"{first.sentence}; flow as well"
    assert alarm_sentence((first, replace(near, seen=0.1)), None) == first.sentence


def test_an_alarm_without_causes_says_what_its_view_sees() -> None:
    view = {"traces": {"state": np.ones(6)}, "views": ("state",)}
    named, unnamed = (described(how={"channels": 0}, **facts)[0] for facts in (view, {}))
    assert named.sentence == "part of a combination of values never seen in training"
    assert unnamed.sentence == "unlike anything in training"
    assert named.kind == unnamed.kind == "unusual"


def test_the_view_that_adds_most_over_the_rows_of_an_event_by_hand() -> None:
    # over rows 1 and 2 the views add 6 and 8, in row 5 3 and 1; rows beside them do not count
    traces = {
        "level": np.array([9.0, 5.0, 1.0, 0.0, 0.0, 3.0]),
        "shape": np.array([0.0, 1.0, 7.0, 0.0, 9.0, 1.0]),
    }
    for views, named in (
        (("level", "shape"), ["shape", "level"]),
        # what does not add up to the score is not named
        (("level",), ["level", "level"]),
        ((), [None, None]),
    ):
        assert [alarm.view for alarm in described(traces=traces, views=views)] == named
    # of those that tie, the first
    evidence = Evidence(SCORES, BY_CHANNEL, None, {"a": SCORES, "b": SCORES}, ("b", "a"))
    assert strongest_view(evidence, slice(0, 6)) == "b"


def permanent(unlike: Any, *, shifted: int, rows: int = 6 * CLOSE_AFTER, last: int = 1) -> bool:
    """Whether an alarm from row 1 on is permanent as far as scores tell it.

    The baseline shifts at a row.
    """
    decided = DECISION.decide(Evidence.of_scores(np.zeros(rows)))
    own = decided.rows._replace(
        shifted=np.arange(rows) >= shifted, unlike=np.isin(np.arange(rows), list(unlike))
    )
    decisions = replace(decided, rows=own, events=[OngoingEvent(1, last, 1, 2.0)])
    evidence = Evidence(np.zeros(rows), np.ones((rows, 2)), None, {})
    series = TrainSeries(np.zeros((rows, 2)))
    (alarm,) = describe(series, evidence, decisions, PROFILES, channels=0)
    # its channels stay what they were
    (explained,) = describe(series, evidence, decisions, PROFILES)
    assert not explained.permanent
    return alarm.permanent


def test_an_alarm_is_permanent_where_the_series_does_not_come_back_by_hand() -> None:
    always = range(6 * CLOSE_AFTER)
    # the baseline shifts in the event or soon after it; before it, the shift was no news
    for shifted, told in ((0, False), (1, False), (2, True), (101, True), (102, False)):
        assert permanent(always, shifted=shifted) is told
    # rows 102 to 401 count, and half of them must be unlike training
    for count, told in ((300, True), (150, True), (149, False), (0, False)):
        assert permanent(range(102, 102 + count), shifted=2) is told
        assert permanent(range(402 - count, 402), shifted=2) is told
    assert not permanent([*range(2, 102), *range(402, 600)], shifted=2)
    assert permanent(always, shifted=2, last=2)
    # at the end of a series nobody knows whether it comes back
    assert permanent([], shifted=2, rows=102)
    assert not permanent([], shifted=2, rows=103)


def test_settings_that_are_no_counts_are_refused() -> None:
    for name, least in (("channels", 0), ("again", 0), ("shortest", 1)):
        for bad in (least - 1, 1.5, None):
            with pytest.raises(InputError) as caught:
                described(how={name: bad})
            message = f"{name} must be a whole number of at least {least}; got {bad!r}"
            assert str(caught.value) == message


# ---- repeats

# the channels that depart: the first, the second, both alike, and mostly the first
ONE, TWO = np.array([1.0, 0.0]), np.array([0.0, 1.0])
BOTH, MOSTLY = (ONE + TWO) / np.sqrt(2), np.array([0.8, 0.6])


def linked(*events: tuple[int, Any], again: int = REPEAT_WITHIN) -> list[tuple[int | None, int]]:
    """Links of events of one row each, numbered from 1."""
    repeats = Repeats(again)
    return [
        repeats.add(number, row, row, departs) for number, (row, departs) in enumerate(events, 1)
    ]


def test_events_of_the_same_channels_repeat_the_first_by_hand() -> None:
    new = (None, 1)
    assert linked((0, ONE), (500, ONE), (1400, ONE)) == [new, (1, 2), (1, 3)]
    # other channels are another kind, also in between
    assert linked((0, ONE), (300, TWO), (600, ONE), (900, TWO)) == [new, new, (1, 2), (2, 2)]
    # an angle with a cosine of 0.71 is too much, one of 0.8 is not
    assert linked((0, ONE), (500, BOTH)) == [new, new]
    assert linked((0, ONE), (500, MOSTLY)) == [new, (1, 2)]
    # of several kinds the nearest, and a kind is the mean of its events
    assert linked((0, ONE), (9, TWO), (500, MOSTLY)) == [new, new, (1, 2)]
    assert linked((0, ONE), (300, MOSTLY), (600, BOTH)) == [new, (1, 2), (1, 3)]
    # what no channel explains is like nothing else
    assert linked((0, 0 * ONE), (300, 0 * ONE), (600, ONE)) == [new, new, new]
    # with at most so many rows between them, from the last of its kind
    assert linked((0, ONE), (11, ONE), (22, ONE), again=10) == [new, (1, 2), (1, 3)]
    assert linked((0, ONE), (12, ONE), again=10) == [new, new]


def test_alarms_are_linked_by_their_evidence() -> None:
    same = np.where(BY_CHANNEL.any(axis=1, keepdims=True), [1.0, 9.0], 0.0)
    for by_channel, again, links in (
        (same, 2, [(None, 1), (1, 2)]),
        (same, 1, [(None, 1), (None, 1)]),
        (BY_CHANNEL, 2, [(None, 1), (None, 1)]),
    ):
        alarms = described(by_channel=by_channel, how={"again": again})
        assert [(alarm.repeat_of, alarm.repeat) for alarm in alarms] == links


GAPS = st.lists(st.integers(0, 400), max_size=12)
ANGLES = st.lists(st.floats(0, np.pi / 2), min_size=12, max_size=12)


@given(GAPS, ANGLES, st.integers(0, 900), st.integers(0, 12))
def test_each_kind_is_counted_and_saving_changes_nothing(
    gaps: list[int], angles: list[float], again: int, saved_at: int
) -> None:
    rows = np.cumsum([gap + 1 for gap in gaps]).tolist()
    events = [
        (row, np.array([np.cos(angle), np.sin(angle)]))
        for row, angle in zip(rows, angles, strict=False)
    ]
    links = linked(*events, again=again)
    kinds: dict[int, list[int]] = {}
    for number, (first, count) in enumerate(links, 1):
        kind = kinds.setdefault(first or number, [])
        kind.append(rows[number - 1])
        assert count == len(kind)
        assert (first is None) == (count == 1)
    for kind in kinds.values():
        assert all(two - one - 1 <= again for one, two in pairwise(kind))
    repeats, stopped = Repeats(again), []
    for number, (row, departs) in enumerate(events, 1):
        if number == saved_at:
            saved, repeats = json.loads(json.dumps(repeats.state())), Repeats(again)
            repeats.restore(saved)
        stopped.append(repeats.add(number, row, row, departs))
    assert stopped == links
