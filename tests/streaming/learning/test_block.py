"""Rows that are not learned from yet."""

from __future__ import annotations

import numpy as np

from subadjacent.streaming.learning.block import Block


def test_rows_are_put_together_by_what_is_known_of_all() -> None:
    block = Block()
    block.add(2, a=np.array([1.0, 2.0]), b=np.zeros(2))
    block.add(1, a=np.array([3.0]))
    assert block.count == 3
    found = block.together()
    assert list(found) == ["a"]
    assert found["a"].tolist() == [1, 2, 3]


def test_a_block_is_restored() -> None:
    block = Block()
    block.add(5)
    assert Block.restore(block.state()).count == 5
    assert Block().together() == {}
    block.add(1, a=np.array([3.0]))
    again = Block.restore(block.state())
    assert (again.count, again.together()["a"].tolist()) == (6, [3])
