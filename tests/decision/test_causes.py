"""Which channels explain an alarm, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from reproduce.cases.departures import departure_case
from subadjacent.data.series import TrainSeries
from subadjacent.decision.causes import MIN_ROWS_EARLIER, MIN_SHARE, Explainer, Explanation
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.detectors.default import SubAdjacentDetector

TRAIN, TEST, FIRST, LAST = 2000, 1000, 500, 600
NOISE = np.random.default_rng(0).normal(size=(TRAIN + TEST, 3))


def explainer(
    jumps: Mapping[int, tuple[int, int]], parts: tuple[float, ...], start: int = 0
) -> Explainer:
    """Channels that jump from one row to another; what they add to the score is as given."""
    values = NOISE.copy()
    for channel, (first, last) in jumps.items():
        values[TRAIN + first : TRAIN + last, channel] += 15
    by_channel = np.zeros((TEST, 3))
    by_channel[FIRST:LAST] = parts
    anomalous = by_channel.any(axis=1)
    series = TrainSeries(
        values[TRAIN:], ("a", "b", "c"), starts=(0, start) if start else (0,), interval=60.0
    )
    profiles = learn_profiles(TrainSeries(values[:TRAIN]))
    return Explainer.of(
        series, Evidence(by_channel.sum(axis=1), by_channel, None, {}), profiles, anomalous
    )


def explained(by: Explainer, most: int = 3) -> Explanation:
    return by.explain(FIRST, LAST - 1, most)


def test_the_channel_that_adds_most_comes_first_and_says_what_it_did() -> None:
    causes = explained(explainer({1: (FIRST, LAST)}, (1.0, 9.0, 2.0)), 2).causes
    assert [cause.channel for cause in causes] == ["b", "c"]
    first = causes[0]
    assert (first.score, first.kind, first.partner) == (9.0, "out of range", None)
    assert first.low <= first.expected <= first.high < first.seen
    assert FIRST <= first.at < LAST
    assert first.sentence.startswith("b rose to 1")


def test_beside_the_range_of_one_time_stands_the_value_of_that_time_alone() -> None:
    by = explainer({}, (9.0, 0.0, 0.0))
    columns = {"steady": NOISE[:, 0], "cycle": 10 * np.sin(np.arange(TRAIN + TEST) / 10)}
    for name, column in columns.items():
        column = (column + NOISE[:, 1])[:, None].copy()
        column[TRAIN + FIRST : TRAIN + FIRST + 50] -= 60
        column[TRAIN + FIRST + 50 : TRAIN + LAST] += 60
        own = replace(
            by,
            series=TrainSeries(column[TRAIN:], ("a",), interval=60.0),
            evidence=Evidence(by.evidence.score, by.evidence.by_channel[:, :1], None, {}),
            profiles=learn_profiles(TrainSeries(column[:TRAIN])),
        )
        (cause,) = explained(own).causes
        assert cause.sentence.endswith("for this time") is (name == "cycle")
        assert (", then rose to" in cause.sentence) is (name == "steady")


@pytest.mark.parametrize(
    ("lead", "share", "named"),
    [
        (MIN_ROWS_EARLIER, MIN_SHARE, "c"),
        (MIN_ROWS_EARLIER - 1, MIN_SHARE, "b"),
        (MIN_ROWS_EARLIER, MIN_SHARE - 0.01, "b"),
        (2 * MIN_ROWS_EARLIER, 1.0, "c"),
    ],
)
def test_a_channel_that_departed_before_is_the_cause(lead: int, share: float, named: str) -> None:
    jumps = {1: (FIRST + 40, LAST), 2: (FIRST + 40 - lead, LAST)}
    found = explained(explainer(jumps, (1.0, 10.0, 10 * share))).causes
    assert found[0].channel == named
    assert sorted(cause.channel for cause in found) == ["a", "b", "c"]


def test_what_was_out_before_in_no_way_that_has_a_name_is_no_cause() -> None:
    # three rows of a are out long before, by chance; they are no departure of the event
    whose = explainer({1: (FIRST + 40, LAST)}, (6.0, 10.0, 1.0))
    assert explained(whose).causes[0].channel == "b"


def test_no_channel_is_named_where_none_is_asked_for() -> None:
    assert explained(explainer({}, (1.0, 1.0, 1.0)), 0) == ((), FIRST, LAST - 1)


def test_an_event_begins_and_ends_where_the_channels_that_explain_it_do() -> None:
    for first, last, told in (
        (FIRST + 12, LAST - 9, (FIRST + 12, LAST - 10)),
        (FIRST - 15, LAST + 20, (FIRST - 15, LAST + 19)),
        (FIRST + 70, LAST - 5, (FIRST + 70, LAST - 6)),
    ):
        found = explained(explainer({1: (first, last)}, (0.1, 9.0, 0.1)))
        assert found[1:] == told
    # of all channels that are named; b alone would end sooner
    both = explained(explainer({1: (FIRST, FIRST + 60), 2: (FIRST + 5, LAST)}, (0.1, 9.0, 8.0)))
    assert both[1:] == (FIRST, LAST - 1)
    alone = explained(explainer({1: (FIRST, FIRST + 60), 2: (FIRST + 5, LAST)}, (0.1, 9.0, 0.2)))
    assert alone[1:] == (FIRST, FIRST + 59)


def test_an_event_of_a_silent_channel_is_where_it_was_found() -> None:
    own = explainer({1: (FIRST + 12, LAST - 9)}, (0.1, 9.0, 0.1))
    silent = np.zeros((TEST, 3), dtype=bool)
    silent[FIRST:LAST, 2] = True
    missing = replace(own, silent=silent, series=replace(own.series, missing=silent))
    found = explained(missing)
    assert (found.causes[0].channel, found.causes[0].kind) == ("c", "missing")
    assert found[1:] == (FIRST, LAST - 1)


def test_rows_of_a_later_segment_are_those_of_the_series() -> None:
    jumps = {1: (FIRST, LAST)}
    whole, cut = (explainer(jumps, (0.0, 5.0, 0.0), start) for start in (0, 100))
    assert explained(cut, 1) == explained(whole, 1)


def test_what_is_usual_of_all_rows_leaves_alarms_out() -> None:
    found = explainer({1: (FIRST, LAST)}, (0.0, 5.0, 0.0), start=250)
    usual = found.expected_range(1)
    assert usual.expected.shape == (TEST,)
    assert np.abs(usual.expected).max() < 3
    assert found.left_out[FIRST - 30 : LAST + 30].all()
    assert not found.left_out[: FIRST - 30].any()
    assert not found.left_out[LAST + 30 :].any()


# many more, of other plants, are told of in benchmarks/planted.py
@pytest.mark.parametrize(
    "kind",
    [
        "drift",
        *(
            pytest.param(kind, marks=pytest.mark.sweep)
            for kind in ("out of range", "unusual shape")
        ),
    ],
)
def test_a_planted_departure_is_named_as_what_it_is(kind: str) -> None:
    for seed in (1, 3):
        case = departure_case(kind, np.random.default_rng([seed, 1]))
        alarms = SubAdjacentDetector().fit(case.train).alarms(case.test)
        touching = [
            alarm for alarm in alarms if alarm.first < case.stop and case.start <= alarm.last
        ]
        assert touching
        worst = max(touching, key=lambda alarm: alarm.severity)
        assert (worst.causes[0].channel, worst.kind) == (f"channel_{case.channel}", kind)
