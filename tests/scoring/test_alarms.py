"""Alarms: rows joined into events, and what they say of when, how bad and why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.scoring.alarms import Alarm, Cause, core_of, describe, join, rows_of
from subadjacent.scoring.decision import Decision
from subadjacent.scoring.evidence import Evidence


def flags(text: str) -> np.ndarray:
    """Rows above the threshold, drawn as #."""
    return np.array([mark == "#" for mark in text], dtype=bool)


def join_oracle(above: list[bool], gap: int, shortest: int) -> list[tuple[int, int]]:
    """Row by row: a row above joins the event before it when few enough rows lie between."""
    events: list[list[int]] = []
    for row, is_above in enumerate(above):
        if is_above and events and row - events[-1][1] - 1 <= gap:
            events[-1][1] = row
        elif is_above:
            events.append([row, row])
    return [(first, last + 1) for first, last in events if last + 1 - first >= shortest]


@pytest.mark.parametrize(
    ("above", "gap", "shortest", "events"),
    [
        ("..##..#.", 0, 1, [(2, 4), (6, 7)]),
        ("..##..#.", 1, 1, [(2, 4), (6, 7)]),
        ("..##..#.", 2, 1, [(2, 7)]),
        ("..##..#.", 0, 2, [(2, 4)]),
        # joined first, then judged by its span
        ("#.#..#", 1, 3, [(0, 3)]),
        ("#.....#", 0, 1, [(0, 1), (6, 7)]),
        ("###", 0, 1, [(0, 3)]),
        ("#", 0, 1, [(0, 1)]),
        ("#", 0, 2, []),
        ("....", 9, 1, []),
        ("", 0, 1, []),
    ],
)
def test_events_by_hand(above: str, gap: int, shortest: int, events: list[tuple[int, int]]) -> None:
    assert join(flags(above), gap, shortest) == events


def test_no_event_reaches_across_a_break() -> None:
    above = flags(".##|#.#".replace("|", ""))
    assert join(above, gap=5) == [(1, 6)]
    assert join(above, gap=5, stretches=[(0, 3), (3, 6)]) == [(1, 3), (3, 6)]


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 5), st.integers(1, 5))
def test_events_are_those_of_a_loop(above: list[bool], gap: int, shortest: int) -> None:
    found = join(np.array(above, dtype=bool), gap, shortest)
    assert found == join_oracle(above, gap, shortest)


@given(st.lists(st.booleans(), max_size=40))
def test_without_gaps_the_events_rows_are_the_rows_above(above: list[bool]) -> None:
    marked = np.array(above, dtype=bool)
    np.testing.assert_array_equal(rows_of(join(marked), len(marked)), marked)


def test_rows_of_events_by_hand() -> None:
    assert rows_of([(1, 3), (4, 5)], 6).tolist() == [False, True, True, False, True, False]
    assert rows_of([], 2).tolist() == [False, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gap": -1}, "gap must be a whole number of at least 0; got -1"),
        ({"shortest": 0}, "shortest must be a whole number of at least 1; got 0"),
        ({"gap": 1.5}, "gap must be a whole number of at least 0; got 1.5"),
    ],
)
def test_what_is_no_number_of_rows_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        join(flags("#"), **options)
    assert str(caught.value) == message


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
BY_CHANNEL, EXPECTED = np.zeros((6, 2)), np.zeros((6, 2))
BY_CHANNEL[[1, 2, 5]] = [[1.0, 9.0], [2.0, 5.0], [7.0, 3.0]]
EXPECTED[[1, 2, 5]] = [[-1.0, -13.0], [-2.0, -10.0], [-5.0, -15.0]]
# a typical row scores 0
DECISION = Decision(threshold=4.0, typical=0.0, spread=1.0)


def described(
    series: TrainSeries = SERIES,
    channels: int = 5,
    events: list[tuple[int, int]] = EVENTS,
    **others: Any,
) -> list[Alarm]:
    evidence = Evidence(SCORES, BY_CHANNEL, EXPECTED, {})._replace(**others)
    return describe(series, evidence, events, DECISION, channels)


def test_an_alarm_by_hand() -> None:
    first, second = described()
    assert first == Alarm(
        start=DATES[1],
        end=DATES[2],
        peak=DATES[2],
        severity=2.0,
        score=8.0,
        duration=2,
        # means 7 and 1.5; heat was 24 and 22 from what was expected, flow 2 and 4
        causes=(
            Cause("heat", score=7.0, at=DATES[1], expected=-13.0, seen=11.0),
            Cause("flow", score=1.5, at=DATES[2], expected=-2.0, seen=2.0),
        ),
        first=1,
        last=2,
        entity="pump",
    )
    assert (second.start, second.end, second.peak) == (DATES[5], DATES[5], DATES[5])
    assert (second.severity, second.score, second.duration) == (1.0, 4.0, 1)
    assert [cause.channel for cause in second.causes] == ["flow", "heat"]
    assert second.causes[0] == Cause("flow", score=7.0, at=DATES[5], expected=-5.0, seen=5.0)
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


def test_where_nothing_is_expected_a_cause_says_so_at_its_most_unusual_row() -> None:
    causes = described(expected=None)[0].causes
    assert all(math.isnan(cause.expected) for cause in causes)
    assert [cause.at for cause in causes] == [DATES[1], DATES[2]]


def test_values_are_those_of_the_largest_departure_though_another_row_scores_higher() -> None:
    # what is unusual is averaged over rows: its top, row 1, is not where heat departed most
    expected = EXPECTED.copy()
    expected[2, 1] = -30.0
    heat = described(expected=expected)[0].causes[0]
    assert (heat.channel, heat.at, heat.seen, heat.expected) == ("heat", DATES[2], 12.0, -30.0)


# what two views add to the scores of the rows; over rows 1 and 2 it is 6 and 8, in row 5 3 and 1
TRACES = {
    "level": np.array([9.0, 5.0, 1.0, 0.0, 0.0, 3.0]),
    "shape": np.array([0.0, 1.0, 7.0, 0.0, 9.0, 1.0]),
}


def test_an_alarm_names_the_view_that_adds_most_over_its_rows_by_hand() -> None:
    first, second = described(traces=TRACES, views=("level", "shape"))
    # nor do rows beside the events count, though they are higher
    assert (first.view, first.explanation) == ("shape", "a shape never seen in training")
    assert (second.view, second.explanation) == ("level", "values far from their usual level")


def test_of_views_that_add_as_much_the_first_is_named() -> None:
    traces = {"state": np.ones(6), "level": np.ones(6)}
    for views in (("state", "level"), ("level", "state")):
        assert [alarm.view for alarm in described(traces=traces, views=views)] == [views[0]] * 2


def test_traces_that_do_not_add_up_to_the_score_raise_no_alarm() -> None:
    for views, named in (((), None), (("level",), "level")):
        assert [alarm.view for alarm in described(traces=TRACES, views=views)] == [named] * 2
    assert [alarm.explanation for alarm in described(traces=TRACES)] == [None, None]


def test_a_view_without_words_is_explained_by_its_name() -> None:
    alarm = described(traces={"phase of the moon": np.ones(6)}, views=("phase of the moon",))[0]
    assert alarm.explanation == "phase of the moon"


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


def test_the_core_of_an_event_by_hand() -> None:
    scores = np.array([0.0, 3, 6, 10, 4, 3, 0, 2, 3, 0])
    above = scores > 1
    # within two rows of a 10 only 5 and more counts; 2 and 3 are high where they stand
    found = core_of(above, scores, 2, [(0, 10)])
    assert found.tolist() == [False, False, True, True, False, False, False, True, True, False]
    # nor does a 10 count beyond a break in the clock
    split = core_of(above, scores, 2, [(0, 4), (4, 10)])
    assert split.tolist() == [False, False, True, True, True, True, False, True, True, False]


def test_the_core_is_never_empty_where_a_row_is_above() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores = rng.exponential(size=200)
        above = scores > 1
        core = core_of(above, scores, int(rng.integers(0, 300)), [(0, 200)])
        assert core[scores.argmax()]
        assert not (core & ~above).any()


def test_a_small_event_beside_a_large_one_stays_and_a_skirt_does_not() -> None:
    scores = np.array([0.0, 2, 4, 2, 1, 3, 12, 20, 12, 5, 3, 2, 0])
    found = core_of(scores > 1, scores, 6, [(0, len(scores))])
    assert np.flatnonzero(found).tolist() == [1, 2, 3, 6, 7, 8]


def test_a_ripple_is_no_event_of_its_own() -> None:
    scores = np.array([0.0, 3, 5, 4.5, 12, 20, 12, 5, 3, 0])
    found = core_of(scores > 1, scores, 6, [(0, len(scores))])
    assert np.flatnonzero(found).tolist() == [4, 5, 6]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 8, 30])
@pytest.mark.parametrize("reach", [0, 1, 2])
def test_a_plateau_of_any_length_is_an_event_or_its_own_core(length: int, reach: int) -> None:
    scores = np.concatenate([[0.0, 1.0], np.full(length, 4.0), [1.0, 0.0]])
    found = core_of(scores > 3, scores, reach, [(0, len(scores))])
    assert np.flatnonzero(found).tolist() == list(range(2, 2 + length))
