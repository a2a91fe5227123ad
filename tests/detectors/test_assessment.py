"""Rows are assessed once; all that is said of them is read off the assessment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from detectors.hand import DECISION, by_hand
from detectors.waves import waves
from subadjacent import SubAdjacentDetector
from subadjacent.data.inputs import read
from subadjacent.data.plant import Plant
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.detectors.assessment import Assessment
from subadjacent.methods.views.entity import ViewsModel


def test_everything_is_read_off_the_evidence_by_hand() -> None:
    found = by_hand()
    assert found.scores.tolist() == [1.0, 2.0, 3.0, 1.0, 5.0, 1.0]
    # beyond the threshold, decades of a tail with a scale of 1 and a shape of 0.1
    decades = np.log([1.1, 1.3]) / (0.1 * np.log(10))
    assert found.normalized_scores[[0, 1, 3, 5]].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert found.normalized_scores[[2, 4]].tolist() == pytest.approx(1 + decades)
    # a row at the threshold is not anomalous
    assert found.anomalous.tolist() == [0, 0, 1, 0, 1, 0]
    assert found.thresholds.tolist() == [2.0] * 6
    np.testing.assert_allclose(found.probabilities[:2], [[0.99, 0.01], [0.5, 0.5]])
    assert found.by_channel.tolist() == [[s, 10 * s] for s in found.scores]
    assert found.expected[0].tolist() == [100.0, 101.0]
    assert [*found.traces[0]] == ["level"]
    assert len(found.series) == 1


def test_alarms_by_hand() -> None:
    found = by_hand()
    first, second = found.alarms(again=0)
    assert (first.first, first.last, first.score) == (2, 2, 3.0)
    assert (second.first, second.last, second.score) == (4, 4, 5.0)
    assert [one.severity for one in (first, second)] == found.normalized_scores[[2, 4]].tolist()
    # the second channel is ten times as unusual
    cause = second.causes[0]
    assert (cause.channel, cause.at, cause.score) == ("channel_1", 4, 50.0)
    # all rows are near an alarm: the range of training is expected, the middle of 1 to 11
    assert (cause.seen, cause.expected) == (9.0, 6.0)
    assert [len(one.causes) for one in found.alarms(channels=1)] == [1, 1]
    assert found.alarms(shortest=2) == []
    # the same channels again, soon
    assert [(one.repeat_of, one.repeat) for one in found.alarms()] == [(None, 1), (1, 2)]


def test_where_averages_blur_an_event_its_core_is_the_event_by_hand() -> None:
    # within two rows of the row that scores 5, 3 is more than half of it, and 2.4 is not
    score = (1.0, 2.4, 3.0, 5.0, 3.0, 2.4)
    for blur, first, last in ((0, 1, 5), (2, 2, 4)):
        # a threshold by hand: a share of the rows would count them as they are
        by_score = replace(DECISION.score, rule=None)
        found = by_hand(score, blur, decision=replace(DECISION, score=by_score))
        (event,) = found.decisions[0].events
        assert (event.first, event.last) == (first, last)
        assert np.flatnonzero(found.anomalous).tolist() == list(range(first, last + 1))


def test_a_model_that_does_not_fit_is_named_by_hand() -> None:
    # most rows are unlike training, and at least as many as the four fitted on
    table = read({name: np.zeros((8, 1)) for name in "abc"})
    scores = [np.r_[np.full(high, 9.0), np.ones(8 - high)] for high in (4, 5, 8)]
    evidence = tuple(Evidence(score, score[:, None], None, {}) for score in scores)
    decisions = tuple(map(DECISION.decide, evidence))
    profiles = tuple(learn_profiles(one) for one in table.series)
    detector = SubAdjacentDetector()
    assert Assessment(table, evidence, decisions, profiles, detector).misfits == ["b", "c"]
    assert by_hand((9.0,) * 6).misfits == [None]
    assert by_hand((9.0,) * 3).misfits == by_hand().misfits == []


def test_nothing_is_expected_where_a_model_expects_nothing() -> None:
    found = by_hand(expected=False)
    assert found.expected is None


def test_a_detector_says_what_its_assessment_says(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    found = detector.assess(plant.test)
    pairs: list[tuple[Any, Any]] = [
        (detector.decision_function(plant.test), found.scores),
        (detector.normalized_score(plant.test), found.normalized_scores),
        (detector.predict(plant.test), found.anomalous),
        (detector.predict_proba(plant.test), found.probabilities),
        (detector.explain(plant.test), found.by_channel),
        (detector.decide(found.evidence[0]).anomalous, found.anomalous),
        (detector.decide(found.evidence[0]).rows.threshold, found.thresholds),
    ]
    for said, read_off in pairs:
        np.testing.assert_array_equal(said, read_off)
    assert detector.alarms(plant.test) == found.alarms()
    assert found.expected.shape == plant.test.shape


def test_every_segment_is_assessed_once(
    detector: SubAdjacentDetector, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    assess = ViewsModel.assess

    def counted(self: ViewsModel, rows: Any) -> Evidence:
        seen.append(len(rows))
        return assess(self, rows)

    monkeypatch.setattr(ViewsModel, "assess", counted)
    times = pd.date_range("2026-01-01", periods=500, freq="1min").to_series()
    times.iloc[200:] += pd.Timedelta("5h")
    frame = pd.DataFrame(plant.test[:500], index=pd.DatetimeIndex(times))
    named = SubAdjacentDetector().fit(pd.DataFrame(plant.train))
    found = named.assess(frame)
    assert seen == [200, 300]
    assert len(found.scores) == len(found.anomalous) == len(found.expected) == 500
    found.alarms()
    assert seen == [200, 300]
    assert detector.alarms(plant.test)
    assert seen == [200, 300, 1000]


def test_alarms_do_not_reach_across_a_gap() -> None:
    detector = SubAdjacentDetector().fit(waves(1000))
    rows = waves(400, seed=1)
    rows[190:210] += 5.0
    times = pd.date_range("2026-01-01", periods=400, freq="1min").to_series()
    times.iloc[200:] += pd.Timedelta("5h")
    alarms = detector.alarms(pd.DataFrame(rows, index=pd.DatetimeIndex(times)))
    assert all(alarm.last < 200 or alarm.first >= 200 for alarm in alarms)
    assert any(alarm.last == 199 for alarm in alarms)
    assert any(alarm.first == 200 for alarm in alarms)


@pytest.mark.parametrize("lookahead", ["full", 0])
def test_alarms_are_of_the_events_that_rows_are_anomalous_in(
    plant: Plant, lookahead: int | str
) -> None:
    found = SubAdjacentDetector(lookahead=lookahead).fit(plant.train).assess(plant.test)
    (decided,), alarms = found.decisions, found.alarms()
    assert 0 < found.anomalous.sum() < 1000
    assert len(alarms) == len(decided.events)
    covered = np.zeros(1000, dtype=int)
    for number, (alarm, event) in enumerate(zip(alarms, decided.events, strict=True), 1):
        covered[event.first : event.last + 1] = 1
        assert (alarm.number, alarm.severity, alarm.state) == (number, event.severity, "closed")
        assert alarm.severity == found.normalized_scores[event.first : event.last + 1].max() > 1
        assert alarm.score == found.scores[event.peak]
        # its rows are where channels depart: at, or near, those where scores stand out
        assert alarm.first <= event.last + 60
        assert event.first - 60 <= alarm.last
    np.testing.assert_array_equal(covered, found.anomalous)
    for options in ({"again": 0}, {"channels": 0}):
        assert len(found.alarms(**options)) == len(alarms)
