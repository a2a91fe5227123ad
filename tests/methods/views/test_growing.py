"""Windows of a growing segment."""

from __future__ import annotations

import numpy as np
import pytest

from methods.views.looks import waves
from subadjacent.methods.views.growing import GrowingWindows
from subadjacent.methods.views.shapes import POINTS, ShapesOfLength, ShapeView, fit_shapes
from subadjacent.scoring.tail import Tail


def view(lookahead: int | None, *grains: int) -> ShapeView:
    rng = np.random.default_rng(0)
    lengths = [
        ShapesOfLength(
            grain,
            np.array([0]),
            rng.normal(size=(1, 3, POINTS)).astype(np.float16),
            np.ones(1, np.float32),
        )
        for grain in grains
    ]
    return ShapeView(tuple(lengths), lookahead)


def test_windows_of_16_and_32_rows_are_counted_by_hand() -> None:
    windows = GrowingWindows(view(None, 1, 2))
    assert windows.complete(15) == [0, 0]
    assert windows.complete(16) == [1, 0]
    assert windows.complete(31) == [16, 0]
    assert windows.complete(33) == [18, 1]
    assert windows.complete(34) == [19, 2]
    # the next window of 32 rows begins at row 2 of 33, that of 16 rows at row 18
    assert windows.needed_rows(33) == 2
    # a row looks half a window ahead, and no row is settled before the first whole window
    assert windows.settled(31) == 0
    assert windows.settled(40) == 40 - 16
    # rows from 30 on are judged by windows that begin at 30 + 8 + 1 - 16 and 30 + 16 + 1 - 32
    assert windows.needed_windows(30, 60) == [23, 7]
    # or by the last there is
    assert windows.needed_windows(30, 34) == [18, 1]
    assert windows.needed_windows(0, 10) == [0, 0]


def test_windows_that_look_back_are_settled_at_once() -> None:
    assert GrowingWindows(view(0, 1, 2)).settled(5) == 5
    assert GrowingWindows(view(3, 1, 2)).settled(5) == 2


@pytest.mark.parametrize("lookahead", [None, 0, 9])
@pytest.mark.parametrize("step", [1, 10, 700])
def test_what_is_new_is_as_in_the_whole_segment(step: int, lookahead: int | None) -> None:
    fit = fit_shapes([waves(3000)], 48, lookahead)
    assert fit is not None
    windows, rows = GrowingWindows(fit.view), waves(700, seed=1)
    tails, tail = windows.empty(), Tail(rows[:0])
    for start in range(0, 700, step):
        tail.push(rows[start : start + step])
        windows.add_to(tails, tail)
        tail.forget(windows.needed_rows(tail.end))
    assert [one.end for one in tails] == windows.complete(700)
    wanted = fit.view.novelty(rows)
    for first, last in ((0, 700), (0, 5), (300, 310), (690, 700)):
        found = windows.novelty(tails, 700, first, last)
        np.testing.assert_allclose(found.rows, wanted.rows[first:last], rtol=1e-12)
        np.testing.assert_array_equal(found.values, wanted.values[first:last])
        rows_alone = windows.of_rows(tails, 700, first, last)
        np.testing.assert_array_equal(rows_alone, found.rows)
    for row in (0, 1, 14, 15, 16, 46, 47, 48, 300, 301, 690, 698, 699):
        found_row = windows.of_rows(tails, 700, row, row + 1)
        np.testing.assert_allclose(found_row, wanted.rows[row : row + 1], rtol=1e-12)
