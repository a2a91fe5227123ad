"""aeon's own checks, and its conventions of axes and output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("aeon", reason="in an environment of its own: make test-adapters")

from aeon.testing.estimator_checking import parametrize_with_checks

from subadjacent import InputError, MagnitudeDetector, SubAdjacentDetector, multivariate
from subadjacent.adapters.aeon import AeonDetector

PLANT = multivariate(n=600, channels=3, seed=3)


@parametrize_with_checks([AeonDetector])
def test_the_adapter_keeps_the_contract_of_aeon(check: Any) -> None:
    check()


def test_scores_are_those_of_the_detector_inside() -> None:
    adapter = AeonDetector(MagnitudeDetector()).fit(PLANT.train, axis=0)
    expected = MagnitudeDetector().fit(PLANT.train).decision_function(PLANT.test)
    np.testing.assert_array_equal(adapter.predict(PLANT.test, axis=0), expected)
    # channels in rows are aeon's default
    np.testing.assert_array_equal(adapter.predict(PLANT.test.T), expected)


def test_alarms_are_ones() -> None:
    adapter = AeonDetector(output="alarms").fit(PLANT.train, axis=0)
    expected = SubAdjacentDetector().fit(PLANT.train).predict(PLANT.test)
    assert adapter.get_tag("anomaly_output_type") == "binary"
    np.testing.assert_array_equal(adapter.predict(PLANT.test, axis=0), expected)
    assert set(expected) == {0, 1}


def test_another_output_is_refused() -> None:
    with pytest.raises(InputError, match=r"output must be one of scores, alarms; got 'labels'"):
        AeonDetector(output="labels")


def test_parameters_may_be_set_after_it_is_made() -> None:
    adapter = AeonDetector().set_params(detector__smoothing=5, output="alarms")
    assert adapter.detector.smoothing == 5
    adapter.fit(PLANT.train, axis=0)
    assert adapter.get_tag("anomaly_output_type") == "binary"
    assert set(adapter.predict(PLANT.test, axis=0)) == {0, 1}
    with pytest.raises(InputError, match="output must be one of scores, alarms; got 'all'"):
        adapter.set_params(output="all").fit(PLANT.train, axis=0)


def test_rows_of_time_without_their_axis_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    AeonDetector(MagnitudeDetector()).fit(PLANT.train.T)
    assert caplog.messages == []
    AeonDetector(MagnitudeDetector()).fit(PLANT.train)
    assert "600 channels of 3 points" in caplog.text
    assert "axis=0" in caplog.text
