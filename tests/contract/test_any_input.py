"""Whatever comes in: finite scores of the right shape, or one of our errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from subadjacent import SubAdjacentDetector, SubadjacentError
from subadjacent.data.plant import Plant

DTYPES = st.sampled_from(
    ["float64", "float32", "float16", "int64", "int8", "uint16", "bool", "object", "U3", "M8[s]"]
)
ANY_NUMBER = st.floats(allow_nan=True, allow_infinity=True, width=64)


@st.composite
def inputs(draw: st.DrawFn, columns: st.SearchStrategy[int]) -> np.ndarray:
    dtype = np.dtype(draw(DTYPES))
    shape = draw(st.tuples(st.integers(0, 60), columns))
    if dtype.kind == "O":
        elements = st.one_of(ANY_NUMBER, st.integers(), st.text(max_size=3), st.none())
        return draw(arrays.arrays(dtype, shape, elements=elements))
    return draw(arrays.arrays(dtype, shape))


def quick() -> SubAdjacentDetector:
    return SubAdjacentDetector(epochs=1, smoothing=2)


def answer(function: Any, rows: np.ndarray) -> np.ndarray | None:
    """What came back, or None for one of our errors; text is a TypeError, as in scikit-learn."""
    try:
        return function(rows)
    except (SubadjacentError, TypeError):
        return None


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(rows=inputs(columns=st.integers(0, 4)))
def test_fit_gives_finite_scores_or_one_of_our_errors(rows: np.ndarray) -> None:
    before = rows.copy()
    fitted = answer(quick().fit, rows)
    if fitted is not None:
        assert fitted.decision_scores_.shape == (len(rows),)
        assert np.isfinite(fitted.decision_scores_).all()
        assert np.isfinite(fitted.threshold_)
    assert rows.tobytes() == before.tobytes() or rows.dtype == object


@pytest.fixture(scope="module")
def fitted(plant: Plant) -> SubAdjacentDetector:
    return quick().fit(plant.train[:, :2])


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(rows=inputs(columns=st.sampled_from([2, 2, 2, 1, 3])))
def test_scoring_gives_finite_scores_or_one_of_our_errors(
    fitted: SubAdjacentDetector, rows: np.ndarray
) -> None:
    scores = answer(fitted.decision_function, rows)
    if scores is not None:
        assert rows.shape[1] == 2
        assert scores.shape == (len(rows),)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("bad", [None, 3, "rows", object(), {1, 2}, iter([1])])
def test_things_that_hold_no_rows_are_refused(bad: Any) -> None:
    with pytest.raises((SubadjacentError, TypeError)):
        quick().fit(bad)


def test_huge_but_finite_values_are_scored(plant: Plant) -> None:
    detector = quick().fit(plant.train)
    huge = plant.test.copy()
    huge[500] = 1e99
    assert np.isfinite(detector.decision_function(huge)).all()
    huge[500, 2] = 1e101
    with pytest.raises(SubadjacentError, match=r"column 'channel_2' is 1e.101 at row 500"):
        detector.decision_function(huge)
