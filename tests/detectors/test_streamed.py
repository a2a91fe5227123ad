"""What a model folder holds for rows that come one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from detectors.waves import waves
from subadjacent import SubAdjacentDetector, SubPCADetector
from subadjacent.detectors.streamed import Streamed, without_streamed
from subadjacent.streaming.scorer import StreamScorer


def test_nothing_is_saved_of_nothing() -> None:
    method = SubAdjacentDetector()._method()
    arrays, facts = Streamed(None, {}).save(method, {})
    assert (arrays, facts) == ({}, {})
    assert Streamed.load({}, {}, method, 3, ()) == (None, {})


def test_its_arrays_are_told_from_others() -> None:
    names = ("axes", "recent.rows", "recent.centers", "causal.axes", "recently")
    arrays = {name: np.zeros(1) for name in names}
    assert list(without_streamed(arrays)) == ["axes", "recently"]


def test_a_fitted_detector_has_a_stream() -> None:
    assert isinstance(SubPCADetector().fit(waves(100)).stream(), StreamScorer)
    with pytest.raises(NotFittedError):
        SubPCADetector().stream()
