"""sktime's own checks, and its conventions of places, labels and index."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sktime", reason="in an environment of its own: make test-adapters")

import pandas as pd
from sktime.utils.estimator_checks import check_estimator

from subadjacent import MagnitudeDetector, SubAdjacentDetector, multivariate
from subadjacent.adapters.sktime import SktimeDetector

PLANT = multivariate(n=600, channels=3, seed=3)
HOURS = pd.period_range("2026-01-01", periods=600, freq="h")
TRAIN, TEST = (pd.DataFrame(rows, index=HOURS) for rows in (PLANT.train, PLANT.test))


def test_the_adapter_keeps_the_contract_of_sktime() -> None:
    results = check_estimator(SktimeDetector, raise_exceptions=False, verbose=False)
    assert len(results) > 50
    assert {name: said for name, said in results.items() if said != "PASSED"} == {}


def test_places_labels_and_scores_are_those_of_the_detector_inside() -> None:
    inside = SubAdjacentDetector().fit(PLANT.train)
    adapter = SktimeDetector().fit(TRAIN)
    places = adapter.predict(TEST)["ilocs"].tolist()
    assert places == np.flatnonzero(inside.predict(PLANT.test)).tolist() != []
    assert np.flatnonzero(adapter.transform(TEST)["labels"]).tolist() == places
    scores = adapter.transform_scores(TEST)
    assert scores.index.equals(TEST.index)
    np.testing.assert_allclose(scores["scores"], inside.decision_function(PLANT.test))
    assert adapter.predict_scores(TEST)["scores"].tolist() == scores["scores"].iloc[places].tolist()


def test_an_update_learns_from_all_rows_so_far() -> None:
    parts = SktimeDetector(MagnitudeDetector()).fit(TRAIN[:300]).update(TRAIN[300:])
    whole = SktimeDetector(MagnitudeDetector()).fit(TRAIN)
    pd.testing.assert_frame_equal(parts.transform_scores(TEST), whole.transform_scores(TEST))


def test_labels_of_the_rows_fitted_on_come_in_one_call_whatever_the_index() -> None:
    dated = TEST.to_timestamp()
    labels = SktimeDetector().fit_transform(dated)["labels"]
    assert labels.tolist() == SktimeDetector().fit(dated).transform(dated)["labels"].tolist()
    assert len(labels) == len(dated)


def test_parameters_of_the_default_inside_can_be_set() -> None:
    assert SktimeDetector().set_params(detector__smoothing=5).detector.smoothing == 5
