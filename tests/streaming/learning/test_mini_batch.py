"""Rows since the learner last learned."""

from __future__ import annotations

import numpy as np

from subadjacent.streaming.learning.history import MiniBatch


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
