"""Channels that say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.kinds import MAX_NORMAL_RUN, MIN_STUCK_ROWS
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.silence import silent, silent_rows
from subadjacent.detectors.default import SubAdjacentDetector
from subadjacent.rivals.pca import PCADetector

RNG = np.random.default_rng(0)
TRAIN = RNG.normal(size=(600, 2))


def profiles(train: np.ndarray = TRAIN) -> BaselineProfiles:
    return learn_profiles(TrainSeries(train))


def test_a_value_that_stays_is_stuck_from_the_twentieth_row_on() -> None:
    values = RNG.normal(size=(80, 2))
    values[30:60, 1] = values[30, 1]
    found = silent(TrainSeries(values), profiles())
    assert found is not None
    assert np.flatnonzero(found[:, 1]).tolist() == list(range(30 + MIN_STUCK_ROWS - 1, 60))
    assert not found[:, 0].any()
    rows = silent_rows(TrainSeries(values), profiles())
    assert rows is not None
    assert rows.tolist() == found[:, 1].tolist()


def test_a_run_ends_with_its_segment() -> None:
    values = RNG.normal(size=(80, 1))
    values[30:60] = values[30]
    assert silent(TrainSeries(values, starts=(0, 45)), profiles(TRAIN[:, :1])) is None


def test_a_channel_that_stood_still_in_training_is_never_stuck() -> None:
    still, lively = TRAIN.copy(), TRAIN.copy()
    still[: MAX_NORMAL_RUN + 1, 0] = 1.0
    lively[:MAX_NORMAL_RUN, 0] = 1.0
    values = np.ones((50, 2)) * [[1.0, 0.0]] + np.outer(np.arange(50), [0, 1])
    assert silent(TrainSeries(values), profiles(still)) is None
    assert silent(TrainSeries(values), profiles(lively)) is not None


def test_what_is_missing_is_silent_and_left_as_it_is() -> None:
    missing = np.zeros((80, 2), dtype=bool)
    missing[3:9, 0] = True
    series = TrainSeries(RNG.normal(size=(80, 2)), missing=missing)
    found = silent(series, profiles())
    assert found is not None
    assert (found == missing).all()
    assert silent_rows(TrainSeries(series.values), profiles()) is None


@pytest.mark.parametrize("detector", [SubAdjacentDetector(), PCADetector()])
def test_a_stuck_channel_is_an_alarm_of_any_detector_and_named(
    detector: SubAdjacentDetector | PCADetector,
) -> None:
    rng = np.random.default_rng(1)
    train, test = rng.normal(size=(1000, 4)), rng.normal(size=(500, 4))
    test[200:300, 2] = 0.1
    detector.fit(train)
    (alarm,) = [one for one in detector.alarms(test) if one.first < 300 and one.last >= 200]
    assert (alarm.kind, alarm.causes[0].channel) == ("stuck", "channel_2")
    # the others did what they always do
    assert alarm.sentence == "channel_2 flatlined at 0.1 for 100 rows"
    assert detector.predict(test)[200 + MIN_STUCK_ROWS : 300].all()
