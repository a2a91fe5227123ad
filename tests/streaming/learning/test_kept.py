"""The last rows of a series."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.kept import KEPT, KeptRows


def test_the_last_rows_are_kept_in_order() -> None:
    kept = KeptRows(1)
    for row in range(5):
        kept.add(np.array([[float(row)]]))
    assert kept.last(3)[:, 0].tolist() == [2, 3, 4]
    assert kept.last(99)[:, 0].tolist() == [0, 1, 2, 3, 4]
    kept.calm(2)[:] = True
    assert kept.calm(3).tolist() == [False, True, True]


@pytest.mark.parametrize("together", [1, 7, 1000])
def test_no_more_are_kept_than_there_is_room_for(together: int) -> None:
    kept, rows = KeptRows(1), 5 * KEPT
    for begin in range(0, rows, together):
        part = np.arange(begin, min(begin + together, rows), dtype=float)
        kept.add(part[:, None])
        kept.calm(len(part))[:] = part % 2 == 0
    assert len(kept) == KEPT
    assert kept.last(KEPT)[:, 0].tolist() == list(range(rows - KEPT, rows))
    assert (kept.calm(KEPT) == (kept.last(KEPT)[:, 0] % 2 == 0)).all()


def test_rows_can_be_changed_and_are_restored() -> None:
    kept, other = KeptRows(2), KeptRows(2)
    kept.add(np.ones((4, 2)))
    kept.change(np.zeros((2, 2)))
    kept.calm(1)[:] = True
    other.restore(kept.state())
    assert other.last(9).tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert other.calm(9).tolist() == [False, False, False, True]
