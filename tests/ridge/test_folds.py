"""Parts of the rows that are assessed by the others, and what is left out beside them."""

from __future__ import annotations

import pytest

from subadjacent.methods.views.residual_scale import MARGIN
from subadjacent.ridge.folds import FOLDS, GUARD, folds, guarded


def test_eleven_rows_by_hand() -> None:
    assert folds(11) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 11)]
    # nine rows are outside the first and a quarter of them is two; of the last, eight and two
    assert [guarded(fold, 11) for fold in folds(11)] == [
        (0, 4),
        (0, 6),
        (2, 8),
        (4, 10),
        (6, 11),
    ]


def test_folds_are_all_rows_once_and_none_is_empty() -> None:
    for count in (0, 1, 2, 4, 5, 6, 199, 10_000):
        found = folds(count)
        assert len(found) == min(FOLDS, count)
        assert [row for fold in found for row in range(*fold)] == list(range(count))
        assert all(first < last for first, last in found)


@pytest.mark.parametrize("count", [5, 6, 50, 199, 400, 10_000])
def test_a_guard_leaves_half_of_the_other_rows_at_least(count: int) -> None:
    for first, last in folds(count):
        low, high = guarded((first, last), count)
        assert low <= first
        assert high >= last
        assert (low, high) != (0, count)
        assert count - (high - low) >= (count - (last - first)) / 2
        assert max(first - low, high - last) <= GUARD


def test_with_many_rows_the_guard_is_whole_as_wide_as_residuals_are_averaged_over() -> None:
    assert guarded((200, 400), 1000) == (200 - GUARD, 400 + GUARD)
    assert guarded((0, 200), 1000) == (0, 200 + GUARD)
    assert GUARD == MARGIN
