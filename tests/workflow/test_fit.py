"""Which rows of a file are fitted on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from subadjacent.errors import InputError
from subadjacent.workflow.fit import TrainingRows, rows_to_fit_on


def times(zone: bool = False) -> pl.Series:
    start = datetime(2026, 1, 1, tzinfo=UTC if zone else None)
    return pl.Series([start + timedelta(hours=hour) for hour in range(10)])


BARE = pl.DataFrame({"a": range(10)})
DATED = BARE.with_columns(timestamp=times())
ZONED = BARE.with_columns(timestamp=times(zone=True))
BERLIN = ZONED.with_columns(pl.col("timestamp").dt.convert_time_zone("Europe/Berlin"))
COUNTED = BARE.with_columns(timestamp=pl.Series(range(100, 110)))


@pytest.mark.parametrize(
    ("frame", "until", "rows"),
    [
        (BARE, "4", 4),
        (DATED, "2026-01-01T03:00", 3),
        (ZONED, "2026-01-01T03:00", 3),
        (ZONED, "2026-01-01T03:00+01:00", 2),
        (BERLIN, "2026-01-01T03:00", 2),
        (BERLIN, "2026-01-01T03:00Z", 3),
        # hours that there are twice and never, where clocks are put back and forth
        (BERLIN, "2026-10-25T02:30", 10),
        (BERLIN, "2026-03-29T02:30", 10),
        (DATED, "9999-12-31T23:59", 10),
        (COUNTED, "103.5", 4),
    ],
)
def test_rows_before_a_moment_are_fitted_on(frame: pl.DataFrame, until: str, rows: int) -> None:
    assert TrainingRows(1.0, until).of(frame).sum() == rows


def test_a_moment_may_be_written_as_those_of_the_files() -> None:
    def as_written(text: str) -> datetime | None:
        return datetime(2026, 1, 1, 3) if text == "1/1/26 3 AM" else None

    assert TrainingRows(1.0, "1/1/26 3 AM").of(DATED, as_written).sum() == 3
    assert TrainingRows(1.0, "1/1/26 3 AM").of(ZONED, as_written).sum() == 3
    assert TrainingRows(1.0, "2026-01-01T02:00").of(DATED, as_written).sum() == 2


def test_a_share_is_taken_of_each_entity() -> None:
    frame = pl.DataFrame({"item_id": ["x"] * 4 + ["y"] * 10, "a": range(14)})
    chosen = rows_to_fit_on(frame, TrainingRows(0.5).of(frame))
    assert chosen["a"].to_list() == [0, 1, 4, 5, 6, 7, 8]


def test_the_first_rows_are_not_copied() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    chosen = rows_to_fit_on(frame, TrainingRows(0.5).of(frame))
    assert chosen["a"].to_list() == [1.0, 2.0]
    own, whole = (one["a"].to_numpy(allow_copy=False) for one in (chosen, frame))
    assert np.shares_memory(own, whole)


@pytest.mark.parametrize(
    ("frame", "fraction", "until", "message"),
    [
        (BARE, 1.0, "noon", "until must be a row number, for the data has no times"),
        (BARE, 1.0, "0", "until must leave rows to fit on; none come before 0"),
        (DATED, 1.0, "noon", "until must be a time such as 2026-01-31T12:00; got 'noon'"),
        (DATED, 1.0, "2026-01-01T03:00Z", "until must have no time zone"),
        (ZONED, 1.0, "9999-12-31T23:59:59-12:00", "until must lie in the years 1 to 9999, in UTC"),
        (BERLIN, 1.0, "0001-01-01T00:00", "until must lie in the years 1 to 9999, in UTC too"),
        (COUNTED, 1.0, "noon", "until must be a number like those of timestamp"),
    ],
)
def test_a_part_that_cannot_be_taken_is_refused(
    frame: pl.DataFrame, fraction: float, until: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        TrainingRows(fraction, until).of(frame)
    assert str(caught.value).startswith(message)
