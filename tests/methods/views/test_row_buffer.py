"""The last rows of a growing segment."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.views.row_buffer import MIN_CAPACITY, RowBuffer


def test_rows_are_added_and_forgotten_by_hand() -> None:
    tail = RowBuffer(np.array([1.0, 2.0]))
    tail.push(np.array([3.0, 4.0, 5.0]))
    assert (tail.begin, tail.end) == (0, 5)
    tail.forget(3)
    assert (tail.begin, tail.end) == (3, 5)
    assert tail.rows.tolist() == [4.0, 5.0]
    tail.push(np.array([6.0]))
    assert tail.between(4, 6).tolist() == [5.0, 6.0]
    # a number that is behind already changes nothing
    tail.forget(1)
    assert (tail.begin, tail.rows.tolist()) == (3, [4.0, 5.0, 6.0])


def test_rows_keep_their_numbers_where_they_do_not_begin_at_0() -> None:
    tail = RowBuffer(np.array([[7, 8], [9, 10]], dtype=np.int64), begin=100)
    assert (tail.begin, tail.end) == (100, 102)
    assert tail.between(101, 102).tolist() == [[9, 10]]


@pytest.mark.parametrize("size", [1, 3, 70, 500])
@pytest.mark.parametrize("kept", [0, 1, 40])
def test_what_is_kept_is_the_end_of_all_rows(size: int, kept: int) -> None:
    rows = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32)
    tail = RowBuffer(rows[:0])
    for start in range(0, 500, size):
        tail.push(rows[start : start + size])
        tail.forget(max(tail.end - kept, 0))
        np.testing.assert_array_equal(tail.rows, rows[tail.begin : tail.end])
        assert tail.end == min(start + size, 500)
        assert len(tail.rows) == min(kept, tail.end)
    assert tail.rows.dtype == np.float32


def test_memory_does_not_grow_with_the_rows() -> None:
    tail = RowBuffer(np.zeros((0, 4)))
    for _ in range(2_000):
        tail.push(np.ones((1, 4)))
        tail.forget(max(tail.end - 10, 0))
    assert len(tail.rows.base) <= 2 * MIN_CAPACITY  # type: ignore[arg-type]


def test_a_copy_goes_its_own_way() -> None:
    tail = RowBuffer(np.array([1.0, 2.0, 3.0]))
    tail.forget(1)
    other = tail.copy()
    other.push(np.array([9.0]))
    other.rows[0] = -1.0
    assert (tail.begin, tail.rows.tolist()) == (1, [2.0, 3.0])
    assert (other.begin, other.end, other.rows.tolist()) == (1, 4, [-1.0, 3.0, 9.0])
