"""What is held back for validation: the end, a window at least, and never all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import validation_starts
from subadjacent.errors import InputError


def of_length(*lengths: int) -> list[TrainSeries]:
    return [TrainSeries(np.zeros((n, 1))) for n in lengths]


def test_the_end_is_held_back() -> None:
    assert validation_starts(of_length(100, 50), window=10, fraction=0.2) == [80, 40]


def test_at_least_a_window_is_held_back() -> None:
    assert validation_starts(of_length(40), window=10, fraction=0.1) == [30]


def test_at_least_a_window_is_left_to_learn_from() -> None:
    assert validation_starts(of_length(40), window=10, fraction=0.9) == [10]
    assert validation_starts(of_length(20), window=10, fraction=0.9) == [10]


def test_a_series_too_short_for_both_only_trains() -> None:
    assert validation_starts(of_length(100, 19, 20), window=10, fraction=0.2) == [80, 19, 10]


@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=5),
    st.integers(1, 50),
    st.floats(0.001, 0.999),
)
def test_both_sides_hold_a_window_or_nothing_is_held_back(
    lengths: list[int], window: int, fraction: float
) -> None:
    if max(lengths) < 2 * window:
        with pytest.raises(InputError, match="fit needs a series of at least 2 windows"):
            validation_starts(of_length(*lengths), window, fraction)
        return
    for n, start in zip(
        lengths, validation_starts(of_length(*lengths), window, fraction), strict=True
    ):
        if n < 2 * window:
            assert start == n
        else:
            assert window <= start <= n - window
            # as asked, where both sides have room
            if window <= n - round(fraction * n) <= n - window:
                assert start == n - round(fraction * n)


def test_data_without_two_windows_anywhere_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        validation_starts(of_length(12, 19), window=10)
    assert str(caught.value) == (
        "fit needs a series of at least 2 windows, to learn from and to validate on: "
        "20 rows with window=10; the longest has n_samples = 19"
    )


@pytest.mark.parametrize("fraction", [1, 1.5, 1e9])
def test_all_cannot_be_held_back(fraction: float) -> None:
    with pytest.raises(InputError) as caught:
        validation_starts(of_length(100), 10, fraction)
    assert str(caught.value) == f"validation_fraction must be below 1; got {fraction!r}"


@pytest.mark.parametrize("fraction", [0, -0.1, float("nan"), float("inf"), True, "half", None])
def test_what_is_no_share_is_refused(fraction: Any) -> None:
    with pytest.raises(InputError) as caught:
        validation_starts(of_length(100), 10, fraction)
    assert str(caught.value) == (
        f"validation_fraction must be a finite number above 0; got {fraction!r}"
    )
