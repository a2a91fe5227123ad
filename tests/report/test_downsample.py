"""Min-max downsampling: small examples by hand, then what holds for any values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.errors import InputError
from subadjacent.report.downsample import min_max, step_for

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=200)


def test_each_bin_keeps_its_lowest_and_its_highest_in_the_order_they_came() -> None:
    values = np.array([1, 9, 5, 7, 2, 3])
    assert min_max(values, step=3).tolist() == [1, 9, 7, 2]


def test_the_last_bin_may_be_short() -> None:
    assert min_max(np.array([1, 2, 3, 4, 5, 0, 8]), step=3).tolist() == [1, 3, 5, 0, 8, 8]


def test_a_step_of_one_changes_nothing() -> None:
    values = np.array([3.0, 1.0, 2.0])
    assert min_max(values, step=1).tolist() == [3.0, 1.0, 2.0]


def test_no_rows_give_no_rows() -> None:
    assert min_max(np.array([]), step=4).tolist() == []


@pytest.mark.parametrize(("rows", "bins", "step"), [(10, 5, 2), (11, 5, 3), (3, 5, 1), (0, 5, 1)])
def test_rows_fit_into_the_bins(rows: int, bins: int, step: int) -> None:
    assert step_for(rows, bins) == step


@given(VALUES, st.integers(2, 50))
def test_every_bin_has_its_extremes_and_no_more(found: list[float], step: int) -> None:
    values = np.array(found)
    fewer = min_max(values, step)
    bins = [values[start : start + step] for start in range(0, len(values), step)]
    assert len(fewer) == 2 * len(bins)
    for pair, part in zip(fewer.reshape(-1, 2), bins, strict=True):
        assert sorted(pair) == [part.min(), part.max()]
        assert np.argmax(part == pair[0]) <= len(part) - 1 - np.argmax(part[::-1] == pair[1])
    assert np.isfinite(fewer).all()


@given(VALUES, st.integers(1, 300))
def test_asking_for_more_bins_than_rows_keeps_every_row(found: list[float], more: int) -> None:
    values = np.array(found)
    assert min_max(values, step_for(len(values), len(values) + more)).tolist() == found


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="step must be a whole number of at least 1"):
        min_max(np.zeros(3), step=0)
    with pytest.raises(InputError, match=r"values must be 1-d, one a row; got shape \(2, 2\)"):
        min_max(np.zeros((2, 2)), step=2)
    with pytest.raises(InputError, match="bins must be a whole number of at least 1"):
        step_for(3, 0)
