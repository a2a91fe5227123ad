"""Quantiles and medians of few numbers are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from subadjacent.decision.quantiles import MAX_SORTED, median, quantiles

SHARES = [0.0, 0.01, 0.2, 0.3, 0.5, 0.8, 0.99, 1.0]


def test_of_five_numbers() -> None:
    values = np.array([4.0, 0.0, 1.0, 3.0, 2.0])
    assert quantiles(values, [0.0, 0.125, 0.5, 0.9, 1.0]) == [0.0, 0.5, 2.0, 3.6, 4.0]
    assert median(values) == 2.0
    assert median(values[:4]) == 2.0
    assert median(values[:2]) == 2.0
    assert median(values[:1]) == 4.0


@given(
    arrays(
        np.float64,
        st.integers(1, 40),
        elements=st.floats(-1e6, 1e6, allow_subnormal=False),
    )
)
def test_they_are_those_of_numpy(values: np.ndarray) -> None:
    assert quantiles(values, SHARES) == np.quantile(values, SHARES).tolist()
    assert median(values) == np.median(values)


@pytest.mark.parametrize("count", [MAX_SORTED - 1, MAX_SORTED, MAX_SORTED + 1])
def test_many_are_told_as_few_are(count: int) -> None:
    values = np.random.default_rng(0).normal(size=count)
    assert quantiles(values, SHARES) == np.quantile(values, SHARES).tolist()
    assert median(values) == np.median(values)


def test_the_numbers_stay_as_they_were() -> None:
    values = np.array([3.0, 1.0, 2.0])
    quantiles(values, SHARES)
    median(values)
    assert values.tolist() == [3.0, 1.0, 2.0]


def test_what_is_no_number_makes_none() -> None:
    values = np.array([1.0, np.nan, 3.0])
    assert np.isnan(quantiles(values, [0.0, 0.5])).all()
    assert np.isnan(median(values))


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_without_any_it_is_as_with_numpy() -> None:
    assert np.isnan(median(np.empty(0)))
