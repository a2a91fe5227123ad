"""Alarms of a stream: opened, updated, closed, confirmed or withdrawn, and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarm_stream import MAX_ALARMS_KEPT, AlarmStream, _refined
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.baseline_profile import NUMBERS
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.machine import CLOSED, OPENED, UPDATED, EventChange, OngoingEvent
from subadjacent.decision.recent_rows import RecentBuffer, RecentRows
from subadjacent.errors import InputError

ROWS = 900
NOISE = np.random.default_rng(0).normal(size=(ROWS, 2))
NO_RANGES = np.empty((ROWS, 0, 2))
PROFILES = learn_profiles(TrainSeries(NOISE))
# rows, half-open, in which a channel jumps
JUMPS = {(400, 420): 0, (600, 610): 0, (750, 760): 1}


def recent(jumps: Mapping[tuple[int, int], int] = JUMPS, times: bool = True) -> RecentBuffer:
    values, by_channel = NOISE.copy(), np.zeros((ROWS, 2))
    for (first, last), channel in jumps.items():
        values[first:last, channel] += 15
        by_channel[first:last, channel] = 9.0
    none, flags = np.zeros((ROWS, 2), dtype=bool), by_channel.any(axis=1)
    buffer = RecentBuffer(2)
    labels = [f"t{row}" for row in range(ROWS)] if times else None
    rows = RecentRows(values, by_channel, none, none, flags, np.arange(ROWS) == 0, NO_RANGES)
    buffer.add(rows, labels)
    return buffer


def stream(*, awaits_final: bool = False, learns: bool = False) -> AlarmStream:
    profiles = None if learns else PROFILES
    return AlarmStream(("flow", "heat"), "pump", profiles, awaits_final=awaits_final)


def change(
    state: str, row: int, first: int, last: int, severity: float = 2.0, **buffer: Any
) -> tuple[EventChange, RecentBuffer, None]:
    """A change at a row, with the rows that it is explained by."""
    return (
        EventChange(row, state, OngoingEvent(first, last, first, severity)),
        recent(**buffer),
        None,
    )


def told(alarms: AlarmStream, first: int, last: int) -> Alarm:
    """The alarm of an event that was opened and closed."""
    assert alarms.update(*change(OPENED, first, first, first)) is not None
    closed = alarms.update(*change(CLOSED, last + 101, first, last))
    assert closed is not None
    return closed


def test_an_alarm_is_opened_updated_and_closed_by_hand() -> None:
    alarms = stream()
    opened = alarms.update(*change(OPENED, 402, 400, 402))
    assert opened is not None
    assert (opened.number, opened.entity, opened.state) == (1, "pump", "opened")
    assert (opened.start, opened.end, opened.first, opened.last) == ("t400", "t402", 400, 402)
    assert (opened.severity, opened.score, opened.status) == (2.0, None, "confirmed")
    assert opened.causes[0].channel == "flow"
    # what says the same is not told; what is twice as severe is
    closer = alarms.update(*change(UPDATED, 405, 400, 405))
    severer = alarms.update(*change(UPDATED, 407, 400, 407, severity=4.0))
    assert closer is None or closer.kind != opened.kind
    assert severer is not None
    assert (severer.number, severer.state, severer.severity) == (1, "updated", 4.0)
    closed = alarms.update(*change(CLOSED, 520, 400, 419, severity=4.0))
    assert closed is not None
    assert (closed.state, closed.kind, closed.last, closed.end) == (
        "closed",
        "out of range",
        419,
        "t419",
    )
    assert alarms.alarms == [closed]
    assert alarms.opened == 1


def test_alarms_of_the_same_channels_are_linked_when_they_close() -> None:
    alarms = stream()
    links = [told(alarms, first, last - 1) for first, last in JUMPS]
    assert [(one.number, one.repeat_of, one.repeat) for one in links] == [
        (1, None, 1),
        (2, 1, 2),
        (3, None, 1),
    ]
    assert alarms.alarms == links


def test_rows_are_numbered_without_times_and_profiles_are_learned_once() -> None:
    alarms = stream(learns=True)
    opened = alarms.update(*change(OPENED, 402, 400, 402, times=False))
    assert opened is not None
    assert (opened.start, opened.end) == (400, 402)
    learned = alarms.state()[0]["profiles"]
    np.testing.assert_array_equal(
        learned, learn_profiles(TrainSeries(recent().until(399).values)).table[:NUMBERS]
    )
    alarms.update(*change(CLOSED, 520, 400, 419))
    np.testing.assert_array_equal(alarms.state()[0]["profiles"], learned)
    alarms.update(*change(OPENED, 602, 600, 602))
    assert not np.array_equal(alarms.state()[0]["profiles"], learned)


def test_a_provisional_alarm_is_confirmed_with_the_rows_of_the_final_event() -> None:
    alarms = stream(awaits_final=True)
    before = told(alarms, 402, 415)
    assert (before.status, alarms.is_provisional(1)) == ("provisional", True)
    event = OngoingEvent(395, 424, 410, 3.5)
    (confirmed,) = alarms.confirm(event, recent(), None)
    assert (confirmed.number, confirmed.state, confirmed.status) == (1, "confirmed", "confirmed")
    assert (confirmed.first, confirmed.last, confirmed.severity) == (400, 419, 3.5)
    assert (alarms.alarms, alarms.is_provisional(1)) == ([confirmed], False)
    assert (confirmed.start, confirmed.peak, confirmed.end) == ("t400", "t410", "t419")


def test_what_was_missed_is_raised_and_linked() -> None:
    alarms = stream(awaits_final=True)
    told(alarms, 400, 419)
    (missed,) = alarms.confirm(OngoingEvent(600, 609, 600, 3.0), recent(), None)
    assert (missed.number, missed.state, missed.status) == (2, "confirmed", "confirmed")
    assert (missed.repeat_of, missed.repeat) == (1, 2)
    assert alarms.is_provisional(1)


def test_an_open_alarm_goes_on_when_it_is_confirmed() -> None:
    alarms = stream(awaits_final=True)
    alarms.update(*change(OPENED, 402, 400, 402))
    (updated,) = alarms.confirm(OngoingEvent(400, 410, 405, 3.0), recent(), None)
    assert (updated.number, updated.state, updated.status) == (1, "updated", "confirmed")
    closed = alarms.update(*change(CLOSED, 520, 400, 419))
    assert closed is not None
    assert (closed.state, closed.status) == ("closed", "confirmed")


def test_further_alarms_at_the_rows_of_a_final_event_and_those_without_one_are_withdrawn() -> None:
    alarms = stream(awaits_final=True)
    for first, last in ((400, 405), (412, 419), (750, 759)):
        told(alarms, first, last)
    confirmed, part = alarms.confirm(OngoingEvent(400, 419, 405, 3.0), recent(), None)
    assert [(one.number, one.status) for one in (confirmed, part)] == [
        (1, "confirmed"),
        (2, "withdrawn"),
    ]
    other = alarms.withdraw(3)
    assert (other.state, other.status, other.first) == ("withdrawn", "withdrawn", 750)
    assert alarms.alarms == [confirmed, part, other]
    assert not any(map(alarms.is_provisional, (1, 2, 3)))


def test_a_later_sentence_is_refined() -> None:
    clear = told(stream(), 400, 419)
    assert clear.kind == "out of range"
    vague = replace(clear, kind="unusual", sentence="?", causes=(), severity=5.0)
    assert _refined(vague, clear) == replace(clear, severity=5.0)
    drifts = replace(clear, kind="drift", sentence="!")
    for now, before in ((drifts, clear), (clear, vague), (vague, vague)):
        assert _refined(now, before) == now
    # of 20 rows 16 are left, or 15
    assert _refined(replace(vague, last=vague.last - 4), clear).sentence == clear.sentence
    assert _refined(replace(vague, last=vague.last - 5), clear).sentence == "?"


def test_the_latest_alarms_are_kept_and_found_by_number() -> None:
    alarms = stream()
    with pytest.raises(InputError, match=r"must be that of an alarm \(none\); got 1"):
        alarms.find(1)
    for _ in range(MAX_ALARMS_KEPT + 2):
        alarms.update(*change(OPENED, 402, 400, 402))
    assert len(alarms.alarms) == MAX_ALARMS_KEPT
    assert alarms.find(3) == alarms.alarms[0]
    with pytest.raises(InputError, match=r"must be that of an alarm \(3 to 102\); got 2"):
        alarms.find(2)
    named = replace(alarms.find(5), sentence="known")
    alarms.put(named)
    assert alarms.find(5) == named
    assert len(alarms.alarms) == MAX_ALARMS_KEPT


def test_a_restored_stream_goes_on_as_if_it_had_not_stopped() -> None:
    for learns in (False, True):
        one, two = stream(learns=learns), stream(learns=learns)
        for alarms in (one, two):
            told(alarms, 400, 419)
            alarms.update(*change(OPENED, 602, 600, 602))
        arrays, facts = two.state()
        two = stream(learns=learns)
        two.restore(arrays, json.loads(json.dumps(facts)))
        assert two.alarms == one.alarms
        last = [alarms.update(*change(CLOSED, 720, 600, 609)) for alarms in (one, two)]
        assert last[0] == last[1]
        assert last[0] is not None
        assert (last[0].repeat_of, last[0].repeat) == (1, 2)
        assert two.opened == one.opened == 2
