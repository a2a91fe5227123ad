"""The time of a file: one column, or a column of dates and one of clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from subadjacent.data.files.blocks import Block, Source
from subadjacent.data.files.cells import blank_missing, counts_rows, read_numbers, show
from subadjacent.data.files.timestamps import (
    EXAMPLES,
    OUT_OF_RANGE,
    TimeForm,
    find_forms,
    text_form,
)
from subadjacent.data.names import TIME_NAMES, columns_named
from subadjacent.errors import InputError
from subadjacent.showing import listed

JOIN = "+"
"""Stands between the names of two columns that are read as one."""

DATE_NAME, CLOCK_NAME, HOUR_NAME = "date", "time", "hour"
"""Columns that are joined by themselves: dates, and clocks or whole hours."""


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """The column of times, by name, or two that are joined: dates and clocks."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, given: str, columns: Sequence[str]) -> TimeColumn:
        """The column with this name, or two columns such as ``date+time``."""
        for place, mark in enumerate(given):
            pair = (given[:place], given[place + 1 :])
            if mark == JOIN and given not in columns and set(pair) <= set(columns):
                return cls(pair)
        return cls((given,))

    @property
    def name(self) -> str:
        """Its name in messages."""
        return JOIN.join(self.names)

    @property
    def is_joined(self) -> bool:
        """Whether it is two columns of the file."""
        return len(self.names) > 1

    def cells(self, frame: pl.DataFrame) -> pl.Series:
        """Its cells, row by row; null where either of two cells is missing."""
        if not self.is_joined:
            return _clock_as_text(frame[self.names[0]])
        date, clock = (_clock_as_text(frame[name]) for name in self.names)
        if isinstance(date.dtype, pl.Datetime):
            date = date.dt.date()
        # 18.00.00, as some write a clock, would begin another date
        clock = blank_missing(clock).str.replace(r"^(\d{1,2})\.(\d{2})\.(\d{2})$", "$1:$2:$3")
        return (blank_missing(date) + " " + clock).alias(self.name)


def _clock_as_text(cells: pl.Series) -> pl.Series:
    """Times of day as text; other columns unchanged."""
    return cells.dt.to_string("%H:%M:%S%.6f") if cells.dtype == pl.Time else cells


Found = tuple[TimeColumn, tuple[TimeForm, ...]]
"""A column, and the forms in which it can be read: several where its rows must decide."""


def find_time(
    source: Source, sample: Block, given: str | None, free: Sequence[str], written: str | None
) -> Found | None:
    """The time column of a file, named or detected; None without one.

    Parameters
    ----------
    source, sample
        The file, and its first rows.
    given
        The column, or two as ``date+time``; None to find it.
    free
        Columns that may be it.
    written
        The format of its cells; None to find it.
    """
    if given is not None:
        column = TimeColumn.of(given, source.columns)
        return column, forms_in(source, sample, column, written)
    columns = _candidates(sample, free, written)
    forms = {column: _forms(sample, column, written) for column in columns}
    known = {column: column_forms for column, column_forms in forms.items() if column_forms}
    if forms and not known:
        column = columns[0]
        return column, forms_in(source, sample, column, written)
    # dates are preferred to clocks, and clocks to counters
    clocks = [column for column in known if known[column][0].is_clock] or list(known)
    best = [column for column in clocks if known[column][0].has_date] or clocks
    if len(best) > 1:
        names = ", ".join(column.name for column in best)
        raise InputError(
            f"{source.name} must have one time column; {names} could each be the time: "
            "name the one to use"
        )
    if best:
        return best[0], known[best[0]]
    first_column = _first_as_time(source, sample, free, written)
    if first_column is None and written is not None:
        raise InputError(
            f"{source.name} must have a time column, since a format of times is given; none of "
            f"{listed(source.columns)} is called {', '.join(TIME_NAMES)}: "
            f"name the time column"
        )
    return first_column


def forms_in(
    source: Source, sample: Block, column: TimeColumn, written: str | None
) -> tuple[TimeForm, ...]:
    """The forms in which a file's times can be read; refuses other columns."""
    frame = sample.frame
    nested = not set(column.names) <= set(frame.columns)
    forms = () if nested else _forms(sample, column, written)
    if forms:
        return forms
    if nested or (written is None and column.cells(frame).dtype != pl.String):
        kind = source.schema[column.names[0]]
        raise InputError(
            f"{source.name} must have {EXAMPLES} in its time column {column.name!r}; "
            f"it holds {kind}: name another column as the time, or convert this one"
        )
    row = int(blank_missing(column.cells(frame)).is_not_null().arg_max() or 0)
    raise time_error(sample, row, column, TimeForm(written) if written else None)


def time_error(
    block: Block, row: int, column: TimeColumn, form: TimeForm | None = None
) -> InputError:
    """The error for a cell that cannot be read as a time."""
    cell = column.cells(block.frame).slice(row, 1)
    rule = f"must have {EXAMPLES}"
    remedy = (
        "correct it, give its format, as in time_format='%d/%m/%Y %H:%M', or name another column "
        "as the time"
    )
    if form is not None and form.is_format:
        rule = f"must be a time written as {form.kind!r}"
        remedy = "correct it, or give another format, as in time_format='%d/%m/%Y %H:%M'"
    elif form is not None:
        rule += f", all written alike ({form.kind})" * form.is_text
        remedy = "correct it, or name another column as the time"
    if cell.null_count() or (not cell.dtype.is_temporal() and not blank_missing(cell).count()):
        got, remedy = "it is empty", "fill it in, or delete that row"
    else:
        # polars cannot even show a date that Python does not have
        got = f"it holds {OUT_OF_RANGE if cell.dtype.is_temporal() else show(cell[0])}"
    return InputError.of(f"{block.place(row)}, column {column.name!r},", rule, got, remedy)


def _forms(sample: Block, column: TimeColumn, written: str | None) -> tuple[TimeForm, ...]:
    cells = column.cells(sample.frame)
    if written is None:
        return find_forms(cells, sample.marks)
    if cells.dtype.is_temporal():
        return find_forms(cells)
    form = text_form(written, cells)
    return (form,) if form.read(cells).count() else ()


def _candidates(sample: Block, free: Sequence[str], written: str | None) -> list[TimeColumn]:
    """Columns with a name or type of times; a date and a clock count as one."""
    # only once: a frame computes its schema anew, of all columns, at every access
    schema, may_be = sample.frame.schema, set(free)
    single = [
        TimeColumn((column,))
        for column, dtype in schema.items()
        if column in may_be
        and (column.lower() in TIME_NAMES or isinstance(dtype, (pl.Datetime, pl.Date)))
    ]
    flat = [column for column in free if column in schema]
    dates, clocks = columns_named((DATE_NAME,), flat), columns_named((CLOCK_NAME, HOUR_NAME), flat)
    for names in ((date, clock) for date in dates for clock in clocks):
        pair = TimeColumn(names)
        if _is_pair(sample, pair, written):
            return [pair, *(column for column in single if column.names[0] not in names)]
    return single


def _is_pair(sample: Block, pair: TimeColumn, written: str | None) -> bool:
    """Whether most rows of two columns are a date without a clock and a clock."""
    date, clock = (sample.frame[name] for name in pair.names)
    if isinstance(date.dtype, pl.Datetime) and (date != date.dt.truncate("1d")).any():
        return False
    counts = clock.dtype != pl.Time and read_numbers(blank_missing(clock))[1] is None
    if counts and pair.names[1].lower() != HOUR_NAME:
        return False
    if written is not None and any(
        _forms(sample, TimeColumn((name,)), written) for name in pair.names
    ):
        return False
    forms = _forms(sample, pair, written)
    cells = pair.cells(sample.frame)
    return bool(forms) and 2 * forms[0].read(cells).count() > len(cells)


def _first_as_time(
    source: Source, sample: Block, free: Sequence[str], written: str | None
) -> Found | None:
    """The first column, if its name says nothing and all its cells are times."""
    first = source.columns[0]
    if first not in free or sample.frame.schema.get(first) != pl.String:
        return None
    column = TimeColumn((first,))
    cells = column.cells(sample.frame)
    forms = _forms(sample, column, written)
    if not forms or forms[0].read(cells).null_count():
        return None
    form = forms[0]
    times = form.read(cells)
    rising = len(times) > 1 and bool((times.diff().drop_nulls().cast(float) > 0).all())
    # what looks like a clock may be how long something took
    by_text = form.is_text and read_numbers(cells)[1] is not None and (form.has_date or rising)
    # numbers only where no name says what they are
    nameless = first in source.unnamed or not source.has_header
    row_number = first in source.unnamed and counts_rows(cells)
    epoch = form.is_clock and nameless and rising
    return (column, forms) if by_text or written or epoch or row_number else None
