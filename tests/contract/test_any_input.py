"""Whatever comes in: finite scores of the right shape, or one of our errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from contract.detectors import FIVE, quick
from subadjacent import SubAdjacentError
from subadjacent.data.plant import Plant
from subadjacent.detectors.base import BaseDetector

DTYPES = st.sampled_from(
    [
        "float64",
        "float32",
        "float16",
        "int64",
        "int8",
        "uint16",
        "bool",
        "object",
        "U3",
        "M8[s]",
        "m8[s]",
    ]
)
ANY_NUMBER = st.floats(allow_nan=True, allow_infinity=True, width=64)
WHOLE = st.one_of(st.integers(), st.just(10**400))


@st.composite
def inputs(draw: st.DrawFn, columns: st.SearchStrategy[int]) -> np.ndarray:
    dtype = np.dtype(draw(DTYPES))
    shape = draw(st.tuples(st.integers(0, 60), columns))
    if dtype.kind == "O":
        elements = st.one_of(ANY_NUMBER, WHOLE, st.text(max_size=3), st.none())
        return draw(arrays.arrays(dtype, shape, elements=elements))
    return draw(arrays.arrays(dtype, shape))


# what scikit-learn itself raises, and demands of others, for these two
FOREIGN = re.compile(r"argument must be a string or a real number|^Sparse data was passed for X")

FRAMES: dict[str, Callable[[dict[str, np.ndarray]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}
OTHERS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda rows: rows,
    "lists": lambda rows: rows.tolist(),
    "dict": lambda rows: {"p": rows, "q": rows[::-1]},
    "dict of lists": lambda rows: {"p": rows.tolist()},
}
KINDS = [*FRAMES, "dict of frames", *OTHERS]


def wrap(kind: str, rows: np.ndarray) -> Any:
    """The rows as that kind of input; an example that cannot be one is dropped."""
    if kind in OTHERS:
        return OTHERS[kind](rows)
    if kind == "dict of frames":
        return {name: wrap(name, rows) for name in FRAMES}
    columns = {name: rows[:, number] for number, name in enumerate("abcd"[: rows.shape[1]])}
    try:
        return FRAMES[kind](columns)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        # text and numbers in one column are nothing for polars
        reject()


# drawn, not multiplied: one checker of input serves all detectors
any_detector, any_kind = st.sampled_from(FIVE), st.sampled_from(KINDS)


def answer(function: Callable[[Any], Any], X: Any) -> Any:
    """What came back, or None for one of our errors; objects are a TypeError of scikit-learn."""
    try:
        return function(X)
    except SubAdjacentError:
        return None
    except TypeError as error:
        if not FOREIGN.search(str(error)):
            raise
        return None


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(kind=any_kind, name=any_detector, rows=inputs(columns=st.integers(0, 4)))
def test_fit_gives_finite_scores_or_one_of_our_errors(
    kind: str, name: str, rows: np.ndarray
) -> None:
    before = rows.copy()
    fitted = answer(quick(name, epochs=1, stride=20).fit, wrap(kind, rows))
    if fitted is not None:
        entities = 2 if kind in ("dict", "dict of frames") else 1
        assert fitted.decision_scores_.shape == (entities * len(rows),)
        assert np.isfinite(fitted.decision_scores_).all()
        assert np.isfinite(fitted.threshold_)
    assert rows.tobytes() == before.tobytes() or rows.dtype == object


Fitted = dict[str, BaseDetector]


@pytest.fixture(scope="module")
def unnamed(plant: Plant) -> Fitted:
    return {name: quick(name, epochs=1, stride=20).fit(plant.train[:, :2]) for name in FIVE}


@pytest.fixture(scope="module")
def named(plant: Plant) -> Fitted:
    return {
        name: quick(name, epochs=1, stride=20).fit(wrap("pandas", plant.train[:, :2]))
        for name in FIVE
    }


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(kind=any_kind, name=any_detector, rows=inputs(columns=st.sampled_from([2, 2, 2, 1, 3])))
def test_scoring_gives_finite_scores_or_one_of_our_errors(
    unnamed: Fitted, named: Fitted, kind: str, name: str, rows: np.ndarray
) -> None:
    detector = (unnamed if kind in OTHERS else named)[name]
    found = answer(detector.decision_function, wrap(kind, rows))
    if found is not None:
        assert rows.shape[1] == 2
        for scores in found.values() if kind.startswith("dict") else [found]:
            assert np.shape(scores) == (len(rows),)
            assert np.isfinite(np.asarray(scores)).all()
