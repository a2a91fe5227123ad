"""Rows to learn from, and what stands in for values that are missing for long."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.data.missing import replace_missing, require_values, select_rows, usable_rows
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError


def series(n: int = 10, *missing: tuple[slice, int], starts: tuple[int, ...] = (0,)) -> TrainSeries:
    """Rows 0, 1, 2, … in two channels, with values missing in some rows of a channel."""
    values = np.column_stack([np.arange(n), 10.0 * np.arange(n)])
    mask = np.zeros(values.shape, dtype=bool)
    for rows, channel in missing:
        mask[rows, channel] = True
    return TrainSeries(
        values, ("flow", "heat"), "pump", range(n), starts, 60.0, mask if missing else None
    )


def test_models_learn_from_the_rows_that_have_all_values_by_hand() -> None:
    holed = series(10, (slice(2, 4), 0), (slice(3, 5), 1), starts=(0, 7))
    rows = usable_rows(holed)
    assert rows is not None
    assert np.flatnonzero(rows).tolist() == [0, 1, 5, 6, 7, 8, 9]
    learned = select_rows(holed, rows)
    assert learned.values[:, 0].tolist() == [0, 1, 5, 6, 7, 8, 9]
    # no window reaches across what was left out
    assert learned.starts == (0, 2, 4)
    assert learned.missing is None
    assert (learned.entity, learned.channels, learned.interval) == ("pump", ("flow", "heat"), 60.0)


def test_where_few_rows_have_all_values_all_are_learned_from() -> None:
    half = series(10, (slice(0, 3), 0), (slice(3, 5), 1))
    rows = usable_rows(half)
    assert rows is not None
    assert rows.sum() == 5
    more = series(10, (slice(0, 3), 0), (slice(3, 6), 1))
    assert usable_rows(more) is None
    learned = select_rows(more, usable_rows(more))
    assert learned.values is more.values
    assert learned.missing is None
    assert learned.index is more.index


def test_a_series_with_all_values_is_itself() -> None:
    whole = series()
    assert usable_rows(whole) is None
    assert select_rows(whole, None) is whole
    assert replace_missing(whole, np.zeros(2)) is whole
    require_values(whole)


def test_a_missing_value_is_what_its_channel_typically_is() -> None:
    holed = series(4, (slice(1, 3), 1))
    filled = replace_missing(holed, np.array([7.5, 8.5]))
    assert filled.values.tolist() == [[0, 0], [1, 8.5], [2, 8.5], [3, 30]]
    assert filled.missing is holed.missing
    # what came stays as it was
    assert holed.values[1, 1] == 10


def test_a_stand_in_keeps_its_fraction() -> None:
    for dtype, kept in [(np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)]:
        missing = np.array([[False], [True]])
        filled = replace_missing(
            TrainSeries(np.ones((2, 1), dtype), missing=missing), np.array([0.5])
        )
        assert filled.values.tolist() == [[1], [0.5]]
        assert filled.values.dtype == kept


def test_a_channel_may_be_missing_in_half_of_the_rows_to_fit_on() -> None:
    require_values(series(10, (slice(0, 5), 0), (slice(5, 10), 1)))
    with pytest.raises(InputError) as caught:
        require_values(series(10, (slice(0, 1), 0), (slice(4, 10), 1)), "X['pump']")
    assert str(caught.value) == (
        "X['pump'] must have values in at least half of the rows of every column, to fit on; "
        "column 'heat' is missing in 6 of 10: drop the column, or raise fill_limit"
    )


def test_no_fill_limit_helps_a_channel_without_any_value() -> None:
    with pytest.raises(InputError) as caught:
        require_values(series(10, (slice(0, 10), 0)))
    assert str(caught.value) == (
        "X must have values in at least half of the rows of every column, to fit on; "
        "column 'flow' is missing in 10 of 10: drop the column"
    )
