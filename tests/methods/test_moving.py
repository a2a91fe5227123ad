"""Moving sums and means: by hand, against a loop, and with digits kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from subadjacent.errors import InputError
from subadjacent.methods.moving import (
    WindowSums,
    around,
    moving_mean,
    moving_sum,
    row_counts,
    rows_ahead,
    smooth,
    trailing_sum,
)

scores = st.lists(st.floats(-1e6, 1e6), max_size=40)


def sum_oracle(values: list[float], length: int) -> list[float]:
    """Each value and those before it, added up one by one."""
    return [sum(values[max(0, end - length) : end]) for end in range(1, len(values) + 1)]


def test_an_average_by_hand() -> None:
    # 9 stands for the two scores before the first
    assert smooth(np.array([3, 0, 3, 6, 3]), 3, before=9.0).tolist() == [7, 4, 2, 3, 4]


@given(scores, st.integers(1, 50))
def test_sums_are_those_of_a_loop(values: list[float], length: int) -> None:
    found = trailing_sum(np.array(values), length)
    np.testing.assert_allclose(found, sum_oracle(values, length), rtol=1e-12, atol=1e-8)


@pytest.mark.parametrize("n", [1, 6, 7, 8, 100])
@pytest.mark.parametrize("length", [1, 2, 7, 30])
def test_averages_are_those_of_a_convolution(n: int, length: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    known = np.concatenate([np.full(length - 1, 0.7), values])
    expected = np.convolve(known, np.ones(length) / length, mode="valid")
    np.testing.assert_allclose(smooth(values, length, 0.7), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("place", [0, 9, 10, 25])
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


# ---- sums and means around a row


@pytest.mark.parametrize(
    ("length", "lookahead", "ahead"),
    [(1, None, 0), (2, None, 0), (3, None, 1), (40, None, 19), (40, 0, 0), (40, 7, 7), (10, 7, 4)],
)
def test_half_of_the_rows_or_what_is_allowed_come_after_by_hand(
    length: int, lookahead: int | None, ahead: int
) -> None:
    assert rows_ahead(length, lookahead) == ahead


def window_rows(row: int, rows: int, length: int, lookahead: int | None) -> list[int]:
    """The rows that a window around a row takes in: the definition read aloud."""
    ahead = (length - 1) // 2
    if lookahead is not None:
        ahead = min(ahead, lookahead)
    window = range(row + ahead + 1 - length, row + ahead + 1)
    return [other for other in window if 0 <= other < rows]


@pytest.mark.parametrize("lookahead", [None, 0, 7])
@pytest.mark.parametrize("length", [1, 2, 40])
@pytest.mark.parametrize("rows", [1, 39, 100])
def test_sums_and_means_are_the_definition(rows: int, length: int, lookahead: int | None) -> None:
    values = np.random.default_rng(rows).normal(size=(rows, 3))
    windows = [window_rows(row, rows, length, lookahead) for row in range(rows)]
    sums = np.array([values[window].sum(axis=0) for window in windows])
    means = np.array([values[window].mean(axis=0) for window in windows])
    np.testing.assert_allclose(moving_sum(values, length, lookahead), sums, atol=1e-12)
    np.testing.assert_allclose(moving_mean(values, length, lookahead), means, atol=1e-12)
    np.testing.assert_allclose(moving_mean(values[:, 0], length, lookahead), means[:, 0])
    counts = [len(window) for window in windows]
    assert row_counts(rows, length, lookahead).tolist() == counts
    for first in range(0, rows, 3):
        for last in range(first, rows + 1, 4):
            some = row_counts(rows, length, lookahead, first, last)
            assert some.tolist() == counts[first:last]


# ---- sums over windows of several lengths


@pytest.mark.parametrize("first", [0, 39, 57])
@pytest.mark.parametrize("margin", [40, 60])
@pytest.mark.parametrize("n", [97])
def test_window_sums_are_those_of_a_loop(n: int, margin: int, first: int) -> None:
    values = np.random.default_rng(n).normal(size=(n, 2))
    for last in (first + 1, min(first + 30, n), n):
        sums = WindowSums(*around(values, first, last, margin))
        for length, ahead in ((1, 0), (2, 0), (10, 4), (40, 19), (40, 0), (40, 39)):
            found = sums.over(first, last, length, ahead)
            windows = [
                range(max(row + ahead + 1 - length, 0), min(row + ahead + 1, n))
                for row in range(first, last)
            ]
            wanted = np.array([values[list(window)].sum(axis=0) for window in windows])
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_rows_that_a_segment_does_not_have_are_zeros_by_hand() -> None:
    values: NDArray[np.float64] = np.arange(1.0, 4.0)
    rows, begin = around(values, 0, 3, 2)
    assert (rows.tolist(), begin) == ([0, 0, 1, 2, 3, 0, 0], -2)
    rows, begin = around(values, 2, 3, 1)
    assert (rows.tolist(), begin) == ([2, 3, 0], 1)


def test_nothing_of_a_huge_value_reaches_beyond_its_windows() -> None:
    values: NDArray[np.float64] = np.full(200, 0.1)
    values[100] = 1e17
    sums = WindowSums(*around(values, 0, 200, 40))
    np.testing.assert_allclose(sums.over(0, 200, 40, 0)[140:], 4.0, rtol=1e-12)
