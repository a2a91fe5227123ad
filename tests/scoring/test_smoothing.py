"""Moving averages: by hand, against a loop, and with digits kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.errors import InputError
from subadjacent.scoring.moving import smooth, trailing_sum

scores = st.lists(st.floats(-1e6, 1e6), max_size=40)


def sum_oracle(values: list[float], length: int) -> list[float]:
    """Each value and those before it, added up one by one."""
    return [sum(values[max(0, end - length) : end]) for end in range(1, len(values) + 1)]


def test_an_average_by_hand() -> None:
    # 9 stands for the two scores before the first
    assert smooth(np.array([3, 0, 3, 6, 3]), 3, before=9.0).tolist() == [7, 4, 2, 3, 4]


def test_a_sum_by_hand() -> None:
    assert trailing_sum(np.array([3.0, 1, 2, 6, 4]), 2).tolist() == [3, 4, 3, 8, 10]


@given(scores, st.integers(1, 50))
def test_sums_are_those_of_a_loop(values: list[float], length: int) -> None:
    found = trailing_sum(np.array(values), length)
    np.testing.assert_allclose(found, sum_oracle(values, length), rtol=1e-12, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 6, 7, 8, 13, 14, 15, 100])
@pytest.mark.parametrize("length", [1, 2, 7, 30])
def test_averages_are_those_of_a_convolution(n: int, length: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    known = np.concatenate([np.full(length - 1, 0.7), values])
    expected = np.convolve(known, np.ones(length) / length, mode="valid")
    np.testing.assert_allclose(smooth(values, length, 0.7), expected, rtol=1e-12, atol=1e-14)


def test_an_average_of_one_is_the_score_itself() -> None:
    values = np.random.default_rng(0).normal(size=9)
    np.testing.assert_array_equal(smooth(values, 1, before=5.0), values)


def test_a_length_far_beyond_the_scores_gives_what_was_before() -> None:
    np.testing.assert_allclose(smooth(np.array([4, 2, 3]), 10**12, before=0.5), 0.5)


def test_nothing_to_smooth_is_nothing() -> None:
    assert smooth(np.array([]), 5, before=1.0).tolist() == []


@given(scores, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.integers(1, 30))
def test_an_average_never_changes_when_more_rows_come(
    values: list[float], more: list[float], length: int
) -> None:
    longer = smooth(np.array(values + more), length, 0.3)
    np.testing.assert_array_equal(longer[: len(values)], smooth(np.array(values), length, 0.3))


@pytest.mark.parametrize("place", [0, 3, 9, 10, 11, 25])
def test_a_huge_value_takes_no_digits_from_the_rows_after_it(place: int) -> None:
    values = np.random.default_rng(0).uniform(0.1, 1, size=60)
    values[place] = 1e18
    expected = np.array(sum_oracle(values.tolist(), 10))
    found = trailing_sum(values, 10)
    np.testing.assert_allclose(found[:place], expected[:place], rtol=1e-14)
    np.testing.assert_allclose(found[place + 10 :], expected[place + 10 :], rtol=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_averages_are_made_in_float64(dtype: Any) -> None:
    found = smooth(np.array([1, 0, 1], dtype=dtype), 2, before=0.0)
    assert found.dtype == np.float64
    assert found.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("length", [0, -1, 2.0, "3", None])
def test_a_length_that_is_no_number_of_rows_is_refused(length: Any) -> None:
    with pytest.raises(InputError) as caught:
        smooth(np.ones(3), length, 0.0)
    assert str(caught.value) == f"smoothing must be a whole number of at least 1; got {length!r}"
