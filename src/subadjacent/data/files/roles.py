"""Which column of a file plays which part: time, entity, label, or a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subadjacent.data.files.blocks import Block
from subadjacent.data.files.cells import blank_missing, show
from subadjacent.data.files.channels import (
    columns_of,
    counts_rows,
    refuse_none,
    row_numbers,
    say_left_out,
    some,
    without_numbers,
)
from subadjacent.data.files.delimited import Delimited
from subadjacent.data.files.parquet import Parquet
from subadjacent.data.files.timestamps import BEYOND, EXAMPLES, TimeForm, find_form
from subadjacent.data.names import ENTITY_NAMES, TIME_NAMES, columns_named, label_columns
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Source = Delimited | Parquet


@dataclass(frozen=True, slots=True)
class Columns:
    """What is said of the columns of files.

    Parameters
    ----------
    time, entity, label
        The columns that play these parts; None where they are to be found.
    ignore
        Columns to leave out, as if they were not there.
    only
        The columns to take for channels, and no others; all that can be where it is empty.
    known
        The channels of a model, which are taken where a file has them all.
    missing
        More words, or numbers, that stand for a missing value.
    """

    time: str | None = None
    entity: str | None = None
    label: str | None = None
    ignore: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays which part in a file, and what was decided on the way."""

    time: str | None
    form: TimeForm | None
    entity: str | None
    label: str | None
    channels: tuple[str, ...]
    notes: tuple[str, ...]


def assign(source: Source, sample: Block, given: Columns) -> Roles:
    """Give every column of a file its part, from names, types and a sample of rows."""
    ignored = columns_of(source.name, source.columns, given.ignore, "to be left out")
    _check_given(source, given, ignored)
    only = _only(source, sample, given)
    columns = [column for column in source.columns if column not in (*ignored, *only)]
    notes: list[str] = []
    entity = given.entity or next(iter(columns_named(ENTITY_NAMES, columns)), None)
    if entity is not None and given.entity is None:
        notes.append(f"column {entity!r} names the entities")

    free = [column for column in columns if column not in (entity, given.time, given.label)]
    labels = _labels(sample, free)
    label = given.label or next(iter(labels), None)
    if label is not None and given.label is None:
        notes.append(f"column {label!r} is taken for labels and kept out of the channels")
        labels = labels[1:]
    _refuse_nested(source, sample, entity, label)
    left_out = dict.fromkeys(labels, "it seems to hold labels")

    free = [column for column in free if column not in labels and column != label]
    time, form = _find_time(source, sample, given.time, free)
    if time is not None and form is not None:
        how = "given" if given.time else "found"
        notes.append(f"column {time!r} is the time ({how}): {form.said}")
    free = [column for column in free if column != time]
    if only:
        left_out |= {} if given.only else dict.fromkeys(free, "it is unknown to the model")
        free = only
    else:
        left_out |= _unusable(sample, free, has_time=time is not None)
        free = [column for column in free if column not in left_out]
        without = without_numbers(sample, free) | row_numbers(sample, free, source.unnamed)
        left_out |= without
        free = [column for column in free if column not in without]
    if not free:
        refuse_none(sample, without_numbers(sample, list(left_out)))
    return Roles(time, form, entity, label, tuple(free), (*notes, *say_left_out(left_out)))


def time_form(source: Source, sample: Block, column: str) -> TimeForm:
    """How a file writes the times of a column; refuses one that holds none."""
    import polars as pl

    nested = column not in sample.frame.columns
    form = None if nested else find_form(sample.frame[column], decimal_comma=source.decimal_comma)
    if form is not None:
        return form
    if nested or sample.frame.schema[column] != pl.String:
        kind = source.schema[column] if isinstance(source, Parquet) else "something else"
        raise InputError(
            f"{source.name} must have {EXAMPLES} in its time column {column!r}; it holds {kind}: "
            f"name another column as the time, or convert this one"
        )
    cells = blank_missing(sample.frame[column])
    row = int(cells.is_not_null().arg_max() or 0)
    raise unreadable_time(sample, row, column)


def unreadable_time(block: Block, row: int, column: str) -> InputError:
    """What to say of a cell that holds no time."""
    cell = block.frame[column].slice(row, 1)
    if cell.null_count() or (not cell.dtype.is_temporal() and not blank_missing(cell).count()):
        came = "it is empty: fill it in, or delete that row"
    else:
        # polars cannot even show a date that Python does not have
        held = BEYOND if cell.dtype.is_temporal() else show(cell[0])
        came = f"it holds {held}: correct it, or name another column as the time"
    return InputError(f"{block.place(row)}, column {column!r}, must have {EXAMPLES}; {came}")


def _check_given(source: Source, given: Columns, ignored: Sequence[str]) -> None:
    named = {part: getattr(given, part) for part in ("time", "entity", "label")}
    named = {part: column for part, column in named.items() if column is not None}
    for part, column in named.items():
        if column not in source.columns:
            raise InputError(
                f"{source.name} must have the {part} column {column!r}; "
                f"it has {some(source.columns)}"
            )
    if len(set(named.values())) < len(named):
        raise InputError(
            f"{source.name} must have one column for each part; got "
            + ", ".join(f"{part}={column!r}" for part, column in named.items())
        )
    if both := set(ignored) & {*named.values(), *given.only}:
        raise InputError(
            f"{source.name} must not have columns that are both named and left out; "
            f"got {some(sorted(map(repr, both)))}: leave out one of the two"
        )


def _only(source: Source, sample: Block, given: Columns) -> list[str]:
    """The columns that were named as the channels, or that a model knows; none if all may be."""
    if not given.only:
        return list(given.known) if set(given.known) <= set(source.columns) else []
    only = columns_of(source.name, source.columns, given.only, "to be taken")
    labels = _labels(sample, only)
    if labels:
        raise InputError(
            f"{source.name} must not give labels to a detector; column {labels[0]!r} seems to "
            f"hold them: rename it if it is a measurement"
        )
    without = without_numbers(sample, only)
    if nested := set(without) - set(sample.frame.columns):
        column = min(nested)
        raise InputError(
            f"{source.name} must have numbers in column {column!r}; {without[column]}: "
            f"take others, or convert it"
        )
    return only


def _labels(sample: Block, columns: Sequence[str]) -> list[str]:
    def values(column: str) -> list[str]:
        if column not in sample.frame.columns:
            return []
        return blank_missing(sample.frame[column]).drop_nulls().unique().to_list()

    return label_columns(columns, values)


def _refuse_nested(source: Source, sample: Block, *columns: str | None) -> None:
    for column in columns:
        # a sample leaves nested columns out
        if column is not None and column not in sample.frame.columns:
            raise InputError(
                f"{source.name} must have plain values in column {column!r}; each holds several: "
                f"name another column, or convert this one"
            )


def _find_time(
    source: Source, sample: Block, given: str | None, free: Sequence[str]
) -> tuple[str | None, TimeForm | None]:
    import polars as pl

    if given is not None:
        return given, time_form(source, sample, given)
    frame = sample.frame
    dates = (pl.Datetime, pl.Date)
    forms = {
        column: find_form(frame[column], decimal_comma=source.decimal_comma)
        for column in frame.columns
        if column in free
        and (column.lower() in TIME_NAMES or isinstance(frame.schema[column], dates))
    }
    known = {column: form for column, form in forms.items() if form is not None}
    if forms and not known:
        column = next(iter(forms))
        return column, time_form(source, sample, column)
    # a counter gives way to dates
    clocks = {column: form for column, form in known.items() if form.is_clock} or known
    if len(clocks) > 1:
        raise InputError(
            f"{source.name} must have one time column; {some(tuple(clocks))} could all be it: "
            f"name the one to use"
        )
    if clocks:
        return next(iter(clocks.items()))
    first = source.columns[0]
    if first in free and first in frame.columns and frame.schema[first] == pl.String:
        return _first_as_time(source, frame[first])
    return None, None


def _first_as_time(source: Source, column: pl.Series) -> tuple[str | None, TimeForm | None]:
    """A first column whose name tells nothing is the time when all its cells are times."""
    form = find_form(column, decimal_comma=source.decimal_comma)
    if form is None or form.read(column).null_count():
        return None, None
    times = form.read(column)
    by_text = form.is_clock and form.kind in ("year first", "day first")
    # numbers only where no name says what they are
    nameless = column.name in source.unnamed or not source.has_header
    rising = len(times) > 1 and bool((times.diff().drop_nulls().cast(float) > 0).all())
    row_number = column.name in source.unnamed and counts_rows(column)
    epoch = form.is_clock and nameless and rising
    return (column.name, form) if by_text or epoch or row_number else (None, None)


def _unusable(sample: Block, free: Sequence[str], *, has_time: bool) -> dict[str, str]:
    """Columns that cannot be channels, though nothing is wrong with them; and why."""
    # a frame with such a column beside the one in use would be refused
    reserved = columns_named((*ENTITY_NAMES, *(TIME_NAMES if has_time else ())), free)
    out = dict.fromkeys(reserved, "another column has that part")
    for column in free:
        if column in sample.frame.columns and sample.frame.schema[column].is_temporal():
            out[column] = f"it holds {sample.frame.schema[column]} and is not the time"
    return out
