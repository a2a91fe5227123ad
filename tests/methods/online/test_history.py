"""The latest rows of a series, and a mini-batch."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.history import HISTORY, MiniBatch, RowHistory


def test_the_last_rows_are_kept_in_order() -> None:
    history = RowHistory(1)
    for row in range(5):
        history.add(np.array([[float(row)]]))
    assert history.last(3)[:, 0].tolist() == [2, 3, 4]
    assert history.last(99)[:, 0].tolist() == [0, 1, 2, 3, 4]
    history.normal(2)[:] = True
    assert history.normal(3).tolist() == [False, True, True]


@pytest.mark.parametrize("together", [1, 7, 1000])
def test_no_more_rows_are_kept_than_the_history_has(together: int) -> None:
    history, rows = RowHistory(1), 5 * HISTORY
    for begin in range(0, rows, together):
        part = np.arange(begin, min(begin + together, rows), dtype=float)
        history.add(part[:, None])
        history.normal(len(part))[:] = part % 2 == 0
    assert len(history) == HISTORY
    assert history.last(HISTORY)[:, 0].tolist() == list(range(rows - HISTORY, rows))
    assert (history.normal(HISTORY) == (history.last(HISTORY)[:, 0] % 2 == 0)).all()


def test_rows_can_be_replaced_and_are_restored() -> None:
    history, other = RowHistory(2), RowHistory(2)
    history.add(np.ones((4, 2)))
    history.replace_last(np.zeros((2, 2)))
    history.normal(1)[:] = True
    other.restore(history.state())
    assert other.last(9).tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert other.normal(9).tolist() == [False, False, False, True]


def test_an_array_that_some_rows_lack_is_dropped() -> None:
    mini_batch = MiniBatch(4)
    mini_batch.add(2, a=np.array([1.0, 2.0]), b=np.zeros(2))
    mini_batch.add(1, a=np.array([3.0]))
    assert mini_batch.count == 3
    arrays = mini_batch.arrays()
    assert list(arrays) == ["a"]
    assert arrays["a"].tolist() == [1, 2, 3]


def test_a_mini_batch_is_restored() -> None:
    mini_batch = MiniBatch(6)
    mini_batch.add(5)
    assert MiniBatch.restore(mini_batch.state(), 6).count == 5
    assert MiniBatch(6).arrays() == {}
    # the rows before lack it
    mini_batch.add(1, a=np.array([3.0]))
    assert mini_batch.arrays() == {}
    mini_batch = MiniBatch(6)
    mini_batch.add(2, a=np.array([3.0, 4.0]))
    again = MiniBatch.restore(mini_batch.state(), 6)
    for each in (mini_batch, again):
        each.add(1, a=np.array([5.0]))
        assert (each.count, each.arrays()["a"].tolist()) == (3, [3, 4, 5])
