"""How a channel strays."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.levels import Levels


def test_the_first_rows_give_level_and_deviation() -> None:
    levels = Levels(2)
    levels.begin(np.array([[0.0, 4.0], [2.0, 4.0]]))
    assert levels.level.tolist() == [1, 4]
    assert levels.square.tolist() == [1, 0]
    assert levels.trifle == pytest.approx([0.1, 0], abs=1e-5)


def test_rows_are_cut_to_a_number_of_deviations() -> None:
    levels = Levels(1)
    levels.begin(np.array([[-1.0], [1.0]]))
    # the deviation is 1, and a tenth is added for channels that have none
    assert levels.around(np.array([[50.0], [-50.0], [2.0]]), 6.0)[:, 0].tolist() == [
        pytest.approx(6.6),
        pytest.approx(-6.6),
        2.0,
    ]
    assert levels.usual(np.array([[9.0]]), 0, 6.0).item() == 6


def test_levels_follow_and_forget() -> None:
    levels = Levels(1)
    levels.begin(np.zeros((10, 1)))
    ones = np.ones((10, 1))
    levels.follow(ones, 2 * ones, 3 * ones, 1.0)
    # ten rows beside ten
    assert levels.level.item() == 0.5
    assert levels.square.item() == 0.125
    assert levels.residuals[:, 0].tolist() == [2.5, 5.0]
    assert levels.band.item() == pytest.approx(3 * np.sqrt(5))
    levels.follow(ones, 2 * ones, 3 * ones, 0.0)
    assert levels.level.item() == 1.0
    other = Levels(1)
    other.restore(levels.state())
    assert (other.rows, other.level.item(), other.band.item()) == (10, 1, levels.band.item())
