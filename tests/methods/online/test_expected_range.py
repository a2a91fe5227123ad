"""What is told of a row: what was expected, and what is usual."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.expectation import REACH
from subadjacent.methods.online.expected_range import RowsWithoutEvent
from subadjacent.methods.online.history import RowHistory
from subadjacent.methods.online.moments import Standardiser

HALF_RANGE = np.array([1.0])


def fifth_before(rows: np.ndarray, _ago: int) -> np.ndarray:
    """The plainest expectation: a row is as the fifth before it."""
    return np.array(rows[-6])


def told(
    without: RowsWithoutEvent, history: RowHistory, values: list[float], *, normal: bool
) -> list[float]:
    """What is told of rows that come one by one."""
    found = []
    for value in values:
        history.add(np.array([[value]]))
        residual = history.last(1) - history.last(6)[0]
        marks = np.array([normal])
        told = without.expected(history, residual, marks, HALF_RANGE, fifth_before)
        found.append(told.item())
    return found


@pytest.fixture
def history() -> RowHistory:
    history = RowHistory(1)
    history.add(np.zeros((REACH, 1)))
    return history


def test_an_event_does_not_become_what_is_expected(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    assert told(without, history, [9.0] * 12, normal=False) == [0.0] * 12
    # nor does it in the rows after it
    assert told(without, history, [0.5] * 12, normal=True) == [0.0] * 5 + [0.5] * 7


def test_values_of_an_event_that_are_in_range_are_taken_as_they_come(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    assert told(without, history, [0.8] * 7, normal=False) == [0.0] * 5 + [0.8] * 2


@pytest.mark.parametrize(("came", "counts"), [(1.0, 1.0), (1.25, 0.75), (-1.75, -0.25), (2.5, 0.0)])
def test_the_further_out_of_range_a_value_of_an_event_is_the_less_of_it_counts(
    history: RowHistory, came: float, counts: float
) -> None:
    assert told(RowsWithoutEvent(1), history, [came] * 6, normal=False) == [0.0] * 5 + [counts]


def test_what_is_over_is_forgotten(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    told(without, history, [9.0], normal=False)
    assert "rows" in without.state()
    told(without, history, [0.0] * (REACH - 1), normal=True)
    assert "rows" in without.state()
    told(without, history, [0.0], normal=True)
    assert "rows" not in without.state()


def test_where_a_series_does_not_come_back_rows_count_as_they_came(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    assert told(without, history, [9.0] * 8, normal=False) == [0.0] * 8
    # one row that is as expected from what came is enough
    assert told(without, history, [9.0] * 3, normal=True) == [0.0, 9.0, 9.0]


def test_rows_that_are_accepted_count_as_they_came(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    told(without, history, [9.0] * 8, normal=False)
    without.accept(history, 8, 5)
    assert told(without, history, [9.0] * 3, normal=False) == [9.0, 0.0, 0.0]
    without.accept(history, 100, 1)
    assert told(without, history, [9.0] * 3, normal=False) == [9.0] * 3


def test_rows_that_came_long_ago_can_be_accepted(history: RowHistory) -> None:
    without = RowsWithoutEvent(1)
    told(without, history, [9.0], normal=False)
    without.accept(history, REACH + 9, REACH + 2)
    assert without.state()["rows"][-1].item() == 0


def test_restored_rows_go_on(history: RowHistory) -> None:
    without, other = RowsWithoutEvent(1), RowsWithoutEvent(1)
    told(without, history, [9.0] * 8, normal=False)
    other.restore(without.state())
    assert told(other, history, [9.0] * 8, normal=False) == [0.0] * 8


@pytest.mark.parametrize(("lowest", "wanted"), [(0.0, (0, 0, 2)), (-0.1, (-1, -4, 2))])
def test_what_never_was_below_zero_is_not_expected_there(
    lowest: float, wanted: tuple[float, float, float]
) -> None:
    without = RowsWithoutEvent(1)
    without.add(np.array([[4.0], [lowest], [5.0]]))
    without.add(np.array([[7.0]]))
    usual = without.expected_range(np.array([[-1.0]]), 3 * HALF_RANGE, Standardiser(1))
    assert tuple(part.item() for part in usual) == wanted
