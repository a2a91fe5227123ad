"""The table of detectors."""

from __future__ import annotations

import pytest

from subadjacent import InputError, PCADetector
from subadjacent.detectors.entries import class_name
from subadjacent.detectors.registry import DETECTORS


def test_a_short_name_stands_for_a_class() -> None:
    assert DETECTORS[class_name("pca")] is PCADetector
    assert class_name("default") == "SubAdjacentDetector"


def test_an_unknown_short_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match=r"^detector must be one of default, .*, random; got 'x'$"):
        class_name("x")
