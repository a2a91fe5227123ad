"""A channel that is missing for long is an alarm; the rest is assessed as if none were missing."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subadjacent import (
    BaseDetector,
    InputError,
    MagnitudeDetector,
    SubAdjacentDetector,
    SubAdjacentTransformerDetector,
    load,
)
from subadjacent.data.plant import Plant
from subadjacent.decision.severity import SILENT_SEVERITY

HOLE = slice(400, 450)
TINY: dict[str, Any] = {"size": "tiny", "window": 20, "epochs": 1, "stride": 4, "device": "cpu"}


def holed(rows: np.ndarray, hole: slice = HOLE, channel: int = 1) -> np.ndarray:
    rows = rows.copy()
    rows[hole, channel] = np.nan
    return rows


def runs(flags: np.ndarray) -> list[list[int]]:
    edges = np.flatnonzero(np.diff(flags, prepend=0, append=0))
    return edges.reshape(-1, 2).tolist()


@pytest.fixture(
    scope="module",
    params=[SubAdjacentDetector(), SubAdjacentTransformerDetector(**TINY), MagnitudeDetector()],
    ids=["default", "network", "magnitude"],
)
def fitted(request: pytest.FixtureRequest, plant: Plant) -> BaseDetector:
    detector: BaseDetector = request.param
    return detector.fit(plant.train)


def test_a_hole_of_fifty_rows_is_an_alarm_of_these_rows(fitted: BaseDetector, plant: Plant) -> None:
    rows, before = holed(plant.train), fitted.threshold_
    # that no score exceeds: what is missing is an alarm whatever a user sets
    for threshold in (before, 1e9):
        fitted.threshold_ = threshold
        found = fitted.assess(rows)
        assert any(
            alarm.first <= HOLE.start and HOLE.stop - 1 <= alarm.last for alarm in found.alarms()
        )
        np.testing.assert_array_equal(fitted.predict(rows), found.anomalous)
        np.testing.assert_array_equal(fitted.normalized_score(rows), found.normalized_scores)
        assert (found.normalized_scores[HOLE] >= SILENT_SEVERITY).all()
        assert (found.probabilities[HOLE, 1] > 0.5).all()
        assert found.anomalous[HOLE].all()
    fitted.threshold_ = before
    assert runs(found.anomalous) == [[HOLE.start, HOLE.stop]]


def test_what_stands_in_reaches_no_other_row(fitted: BaseDetector, plant: Plant) -> None:
    # as if the rows were another series before and another after the hole
    scores = fitted.decision_function(holed(plant.test))
    for rows in (slice(0, HOLE.start), slice(HOLE.stop, None)):
        own = fitted.decision_function(plant.test[rows])
        np.testing.assert_allclose(scores[rows], own, rtol=1e-5, atol=1e-6)
    assert np.isfinite(scores).all()


def test_a_gap_of_fill_limit_rows_is_no_alarm_and_one_more_is(plant: Plant) -> None:
    detector = MagnitudeDetector(fill_limit=3, contamination=0.01).fit(plant.train)
    detector.threshold_ = 1e9
    for length, alarmed in ((3, []), (4, [[400, 404]])):
        found = detector.predict(holed(plant.test, slice(400, 400 + length)))
        assert runs(found) == alarmed


def test_a_channel_without_any_value_is_an_alarm_over_the_whole(
    fitted: BaseDetector, plant: Plant
) -> None:
    for rows in (5, 300):
        found = fitted.assess(holed(plant.test[:rows], slice(None)))
        assert found.anomalous.tolist() == [1] * rows
        assert [(alarm.first, alarm.last) for alarm in found.alarms()] == [(0, rows - 1)]
        typical = fitted.models_.pooled.typical_values[1]
        np.testing.assert_allclose(found.series[0].values[:, 1], typical)
        assert np.isfinite(found.scores).all()
        assert found.misfits == []


def test_a_hole_in_the_training_rows_is_named_an_alarm_and_not_learned_from(
    plant: Plant, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        detector = MagnitudeDetector().fit(holed(plant.train))
    (said,) = caplog.messages
    assert said.startswith("50 of 1000 values of 'channel_1' are missing in gaps longer")
    assert detector.labels_[HOLE].all()
    np.testing.assert_array_equal(detector.labels_, detector.predict(holed(plant.train)))
    known = np.delete(plant.train, np.r_[HOLE], axis=0)
    alike = MagnitudeDetector().fit(known)
    np.testing.assert_allclose(
        detector.models_.pooled.typical_values, alike.models_.pooled.typical_values
    )
    assert detector.threshold_ == pytest.approx(alike.threshold_)
    assert detector.held_out_rows_ == 950
    assert len(detector.decision_scores_) == 1000


@pytest.mark.parametrize(
    "detector", [SubAdjacentDetector(), SubAdjacentTransformerDetector(**TINY)], ids=str
)
def test_training_rows_with_a_hole_teach_as_much(detector: BaseDetector, plant: Plant) -> None:
    detector.fit(holed(plant.train))
    assert detector.labels_[HOLE].all()
    # rows that stand out by themselves: the quiet ones between two of them are part of the event,
    # and a network of one epoch has a few far apart
    assert np.mean(detector.normalized_score(holed(plant.train)) > 1) < 0.1
    assert np.mean(detector.normalized_score(plant.train) > 1) < 0.05
    assert np.isfinite(detector.decision_scores_).all()


def test_each_entity_is_judged_by_its_own_typical_values(plant: Plant) -> None:
    fleet = {"low": plant.train, "high": plant.train + 500}
    detector = MagnitudeDetector().fit(fleet)
    found = detector.assess({name: holed(rows) for name, rows in fleet.items()})
    low, high = (one.values[HOLE, 1] for one in found.series)
    np.testing.assert_allclose(high - low, 500)
    assert found.anomalous["low"][HOLE].all()
    assert found.anomalous["high"][HOLE].all()


def test_a_saved_detector_says_the_same(fitted: BaseDetector, plant: Plant, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model", device="cpu").assess(holed(plant.test))
    found = fitted.assess(holed(plant.test))
    np.testing.assert_array_equal(again.anomalous, found.anomalous)
    np.testing.assert_allclose(again.scores, found.scores, rtol=1e-5)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda one: one, "X must have values"),
        (lambda one: [one, one], "X[0] must have values"),
        (lambda one: {"pump": one}, "X['pump'] must have values"),
    ],
)
def test_a_channel_that_is_mostly_missing_is_not_fitted_on(
    rows: Any, said: str, plant: Plant
) -> None:
    MagnitudeDetector().fit(rows(holed(plant.train, slice(100, 600))))
    with pytest.raises(InputError) as caught:
        MagnitudeDetector().fit(rows(holed(plant.train, slice(100, 601))))
    assert str(caught.value).startswith(said)
    assert "column 'channel_1' is missing in 501 of 1000: drop the column, or" in str(caught.value)


def test_the_callers_rows_are_left_alone(fitted: BaseDetector, plant: Plant) -> None:
    rows = holed(plant.test)
    before = rows.copy()
    fitted.assess(rows)
    np.testing.assert_array_equal(rows, before)
