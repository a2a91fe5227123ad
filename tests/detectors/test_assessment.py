"""Rows are judged once; all that is said of them is read off the assessment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from detectors.waves import waves
from subadjacent import SubAdjacentDetector
from subadjacent.data.entities import PerEntity
from subadjacent.data.inputs import read
from subadjacent.data.plant import Plant
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import learn_profiles
from subadjacent.decision.decision import Decision
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import NormalScores
from subadjacent.detectors.assessment import Assessment
from subadjacent.methods.views.entity import ViewsModel

NORMAL = NormalScores(1.0, 2.0, 0.5, 100, Tail(2.0, 0.0, 1.0, 0.01))
DECISION = Decision(2.0, None, PerEntity(NORMAL, {}), None)


def by_hand(
    score: Any = (1.0, 2.0, 3.0, 1.0, 5.0, 1.0),
    blur: int = 0,
    expected: bool = True,
    hindsight: bool = False,
) -> Assessment:
    """Six rows of two channels; the threshold is 2, a typical row scores 1."""
    rows = np.arange(12.0).reshape(6, 2)
    score = np.array(score)
    by_channel = np.column_stack([score, 10 * score])
    evidence = Evidence(score, by_channel, rows + 100 if expected else None, {"level": score / 2})
    judgement = DECISION.decide(score, blur=blur, hindsight=hindsight)
    habits = learn_profiles(TrainSeries(rows))
    return Assessment(read(rows), (evidence,), (judgement,), (habits,))


def test_everything_is_read_off_the_evidence_by_hand() -> None:
    found = by_hand()
    assert found.scores.tolist() == [1.0, 2.0, 3.0, 1.0, 5.0, 1.0]
    assert found.normalized_scores.tolist() == [0.0, 1.0, 2.0, 0.0, 4.0, 0.0]
    # a row at the threshold is not anomalous
    assert found.anomalous.tolist() == [0, 0, 1, 0, 1, 0]
    assert found.thresholds.tolist() == [2.0] * 6
    np.testing.assert_allclose(found.probabilities[:2], [[0.99, 0.01], [0.5, 0.5]])
    assert found.by_channel.tolist() == [[s, 10 * s] for s in found.scores]
    assert found.expected[0].tolist() == [100.0, 101.0]
    assert [*found.traces[0]] == ["level"]
    assert len(found.series) == 1


def test_alarms_by_hand() -> None:
    first, second = by_hand().alarms(again=0)
    assert (first.first, first.last, first.score, first.severity) == (2, 2, 3.0, 2.0)
    assert (second.first, second.last, second.score, second.severity) == (4, 4, 5.0, 4.0)
    # the second channel is ten times as unusual
    cause = second.causes[0]
    assert (cause.channel, cause.at, cause.score) == ("channel_1", 4, 50.0)
    # all rows are near an alarm: what was usual in training is expected, the middle of 1 to 11
    assert (cause.seen, cause.expected) == (9.0, 6.0)
    # one row lies between them
    (joined,) = by_hand().alarms(gap=1, channels=1)
    assert (joined.first, joined.last, joined.peak) == (2, 4, 4)
    assert (joined.occurrences, joined.times) == (((2, 4),), 1)
    assert len(joined.causes) == 1
    assert by_hand().alarms(gap=0, shortest=2) == []
    # the same channels again, soon
    (again,) = by_hand().alarms(gap=0)
    assert (again.first, again.last, again.duration) == (2, 4, 3)
    assert (again.occurrences, again.times) == (((2, 2), (4, 4)), 2)


def test_in_hindsight_rows_between_two_of_an_event_are_its_own() -> None:
    found = by_hand(hindsight=True)
    assert found.anomalous.tolist() == [0, 0, 1, 1, 1, 0]
    assert [alarm.occurrences for alarm in found.alarms()] == [((2, 4),)]


def test_where_averages_blur_an_event_its_core_is_alarmed_by_hand() -> None:
    # within two rows of the row that scores 5, 3 is more than half of it, and 2.4 is not
    score = (1.0, 2.4, 3.0, 5.0, 3.0, 2.4)
    for blur, first, last in ((0, 1, 5), (2, 2, 4)):
        found = by_hand(score, blur)
        assert [(alarm.first, alarm.last) for alarm in found.alarms()] == [(first, last)]
        assert np.flatnonzero(found.anomalous).tolist() == list(range(first, last + 1))


def test_a_model_that_does_not_fit_is_named_by_hand() -> None:
    table = read({"a": np.zeros((10, 1)), "b": np.zeros((10, 1)), "c": np.zeros((10, 1))})
    scores = [np.r_[np.full(high, 9.0), np.ones(10 - high)] for high in (3, 4, 10)]
    evidence = tuple(Evidence(score, score[:, None], None, {}) for score in scores)
    judgements = tuple(DECISION.decide(score) for score in scores)
    habits = tuple(learn_profiles(one) for one in table.series)
    assert Assessment(table, evidence, judgements, habits).misfits == ["b", "c"]
    assert by_hand((9.0,) * 6).misfits == [None]
    assert by_hand().misfits == [None]
    assert by_hand((1.0, 1.0, 9.0, 1.0, 1.0, 1.0)).misfits == []


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
        (detector.judge(found.scores).anomalous, found.anomalous),
        (detector.judge(found.scores).threshold, found.thresholds),
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


def covered(found: Assessment, **options: Any) -> np.ndarray:
    """1 for every row of an occurrence of an alarm."""
    rows = np.zeros(len(found.scores), dtype=int)
    for alarm in found.alarms(**options):
        assert alarm.duration == alarm.last - alarm.first + 1
        assert alarm.severity > 1
        assert alarm.score == found.scores[alarm.peak]
        for first, last in alarm.occurrences:
            rows[first : last + 1] = 1
    return rows


@pytest.mark.parametrize("lookahead", ["full", 0])
def test_alarms_are_of_the_very_rows_that_are_anomalous(plant: Plant, lookahead: int | str) -> None:
    found = SubAdjacentDetector(lookahead=lookahead).fit(plant.train).assess(plant.test)
    assert 0 < found.anomalous.sum() < 1000
    for options in ({}, {"gap": 0}, {"again": 0}, {"channels": 0}):
        np.testing.assert_array_equal(covered(found, **options), found.anomalous)
    # what is joined further covers more, what is left out less
    assert covered(found, gap=30).sum() > found.anomalous.sum()
    assert covered(found, shortest=10).sum() < found.anomalous.sum()


def test_causal_alarms_cover_exactly_the_rows_above_the_threshold(plant: Plant) -> None:
    found = SubAdjacentDetector(lookahead=0).fit(plant.train).assess(plant.test)
    np.testing.assert_array_equal(covered(found), found.scores > found.thresholds)


def test_explanations_have_a_value_for_every_row_and_channel(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    unusual = np.asarray(detector.assess(plant.test).by_channel)
    assert unusual.shape == plant.test.shape
    assert (unusual >= 0).all()
    # in units of what is usual
    assert unusual.max() > 1
    expecting = SubAdjacentDetector(views=("level", "rhythm", "local rhythm", "slow rhythm"))
    assert np.median(np.asarray(expecting.fit(plant.train).assess(plant.train).by_channel)) < 1
    # a shape at its usual distance adds a little
    assert np.median(np.asarray(detector.assess(plant.train).by_channel)) < 1.1


def test_a_later_threshold_does_not_change_an_assessment(plant: Plant) -> None:
    detector = SubAdjacentDetector(lookahead=0, adapt_after=None).fit(plant.train)
    found = detector.assess(plant.test)
    before = found.anomalous.copy()
    detector.threshold_ = -1.0
    np.testing.assert_array_equal(found.anomalous, before)
    assert detector.assess(plant.test).anomalous.all()


def test_results_of_entities_come_as_a_dict() -> None:
    train = {"a": waves(300), "b": waves(400, seed=1)}
    found = SubAdjacentDetector().fit(train).assess({"b": waves(50), "a": waves(60)})
    for result, shape in (
        (found.scores, ()),
        (found.anomalous, ()),
        (found.probabilities, (2,)),
        (found.by_channel, (3,)),
        (found.expected, (3,)),
    ):
        assert {name: rows.shape for name, rows in result.items()} == {
            "b": (50, *shape),
            "a": (60, *shape),
        }
    assert [len(traces["level"]) for traces in found.traces] == [50, 60]
