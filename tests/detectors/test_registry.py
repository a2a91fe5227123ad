"""The table of detectors, and the public names that follow from it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sklearn.ensemble import IsolationForest

import subadjacent
from subadjacent import InputError, PCADetector, WrappedDetector, create
from subadjacent.detectors.registry import REGISTRY


def test_a_registered_name_creates_a_detector_with_parameters() -> None:
    detector = create("pca", variance=0.8)
    assert type(detector) is PCADetector
    assert detector.get_params()["variance"] == 0.8


def test_a_detector_of_another_library_is_wrapped() -> None:
    detector = create("iforest", window=3, detector__n_estimators=7)
    assert type(detector) is WrappedDetector
    assert isinstance(detector.detector, IsolationForest)
    assert (detector.window, detector.detector.n_estimators) == (3, 7)
    assert create("lof").detector.novelty
    assert type(create("ecod").detector).__name__ == "ECOD"
    # each has its own
    assert create("iforest").detector is not create("iforest").detector


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"^detector must be one of default, .*, random; got 'x'$"):
        create("x")
    with pytest.raises(ValueError, match="Invalid parameter 'x' for estimator PCADetector"):
        create("pca", x=1)


def test_every_detector_is_a_public_name() -> None:
    for entry in REGISTRY.values():
        assert getattr(subadjacent, entry.class_name).__name__ == entry.class_name
    assert {entry.class_name for entry in REGISTRY.values()} < set(subadjacent.__all__)
    assert all(getattr(subadjacent, name) is not None for name in subadjacent.__all__)
    assert set(dir(subadjacent)) == {*subadjacent.__all__, "__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'StrictTransformerDetector'"):
        _ = subadjacent.StrictTransformerDetector


def test_names_are_listed_without_importing_a_detector() -> None:
    code = """
import sys
import subadjacent
from subadjacent.detectors.registry import REGISTRY
assert len(dir(subadjacent)) > len(REGISTRY) > 20
assert not {"torch", "sklearn", "numpy"} & set(sys.modules), "something heavy is imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
