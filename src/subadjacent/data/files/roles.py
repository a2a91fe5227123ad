"""Which column of a file plays which part: time, entity, label, or a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from subadjacent.data.files.blocks import Block, blank_missing, read_numbers, show
from subadjacent.data.files.delimited import Delimited
from subadjacent.data.files.parquet import Parquet
from subadjacent.data.files.timestamps import BEYOND, EXAMPLES, TimeForm, find_form
from subadjacent.data.names import ENTITY_NAMES, LABEL_NAMES, TIME_NAMES, columns_named
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Source = Delimited | Parquet


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that play a part, by name; None where it is to be found."""

    time: str | None = None
    entity: str | None = None
    label: str | None = None


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
    _check_given(source, given)
    columns = source.columns
    notes: list[str] = []
    entity = given.entity or next(iter(columns_named(ENTITY_NAMES, columns)), None)
    if entity is not None and given.entity is None:
        notes.append(f"column {entity!r} names the entities")

    free = [column for column in columns if column not in (entity, given.time, given.label)]
    labels = columns_named(LABEL_NAMES, free)
    label = given.label or next(iter(labels), None)
    if label is not None and given.label is None:
        notes.append(f"column {label!r} is taken for labels and kept out of the channels")
        labels = labels[1:]
    _refuse_nested(source, sample, entity, label)
    left_out = dict.fromkeys(labels, "its name is that of labels")

    free = [column for column in free if column not in labels and column != label]
    time, form = _find_time(source, sample, given.time, free)
    if time is not None and form is not None:
        how = "given" if given.time else "found"
        notes.append(f"column {time!r} is the time ({how}): {form.said}")
    free = [column for column in free if column != time]
    left_out |= _unusable(source, sample, free, has_time=time is not None)
    notes += [f"column {column!r} is left out: {why}" for column, why in left_out.items()]
    channels = tuple(column for column in free if column not in left_out)
    _check_channels(source, sample, channels)
    return Roles(time, form, entity, label, channels, tuple(notes))


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


def _check_given(source: Source, given: Columns) -> None:
    named = {field.name: getattr(given, field.name) for field in fields(given)}
    named = {part: column for part, column in named.items() if column is not None}
    for part, column in named.items():
        if column not in source.columns:
            raise InputError(
                f"{source.name} must have the {part} column {column!r}; "
                f"it has {_some(source.columns)}"
            )
    if len(set(named.values())) < len(named):
        raise InputError(
            f"{source.name} must have one column for each part; got "
            + ", ".join(f"{part}={column!r}" for part, column in named.items())
        )


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
    candidates = set(free)
    forms = {
        column: find_form(frame[column], decimal_comma=source.decimal_comma)
        # made once: a frame makes its schema anew, of all columns, whenever it is asked for
        for column, dtype in frame.schema.items()
        if column in candidates and (column.lower() in TIME_NAMES or isinstance(dtype, dates))
    }
    known = {column: form for column, form in forms.items() if form is not None}
    if forms and not known:
        column = next(iter(forms))
        return column, time_form(source, sample, column)
    # a counter gives way to dates
    clocks = {column: form for column, form in known.items() if form.is_clock} or known
    if len(clocks) > 1:
        raise InputError(
            f"{source.name} must have one time column; {_some(tuple(clocks))} could all be it: "
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
    row_number = column.name in source.unnamed and _counts_rows(column)
    epoch = form.is_clock and nameless and rising
    return (column.name, form) if by_text or epoch or row_number else (None, None)


def _counts_rows(column: pl.Series) -> bool:
    numbers, bad = read_numbers(column)
    return bad is None and len(numbers) > 1 and bool((numbers.diff().drop_nulls() == 1).all())


def _unusable(
    source: Source, sample: Block, free: Sequence[str], *, has_time: bool
) -> dict[str, str]:
    """Columns that cannot be channels, though nothing is wrong with them; and why."""
    # a frame with such a column beside the one in use would be refused
    reserved = columns_named((*ENTITY_NAMES, *(TIME_NAMES if has_time else ())), free)
    out = dict.fromkeys(reserved, "another column has that part")
    schema = sample.frame.schema
    for column in free:
        if column in schema and schema[column].is_temporal():
            out[column] = f"it holds {schema[column]} and is not the time"
        elif column in source.unnamed:
            cells = blank_missing(sample.frame[column])
            if column == source.columns[-1] and cells.null_count() == len(cells):
                out[column] = "it has no name and nothing in it"
            elif column == source.columns[0] and has_time and _counts_rows(sample.frame[column]):
                out[column] = "it has no name and counts the rows"
    return out


def _check_channels(source: Source, sample: Block, channels: tuple[str, ...]) -> None:
    import polars as pl

    if isinstance(source, Parquet):
        types = {column: source.schema[column] for column in channels}
        wrong = [
            f"{column!r} ({dtype})"
            for column, dtype in types.items()
            if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null))
        ]
        if wrong:
            raise InputError(
                f"{source.name} must have plain numbers in its channels; these columns do not: "
                f"{_some(wrong)}: remove or convert them, or name the time and entity columns"
            )
    else:
        reads = (
            read_numbers(sample.frame[column], decimal_comma=source.decimal_comma)[1]
            for column in channels
        )
        if channels and all(bad is not None for bad in reads) and len(sample.frame) > 1:
            raise InputError(
                f"{source.name} must have at least one column of numbers; "
                f"{_some(channels)} all hold text, such as {show(sample.frame[channels[0]][0])}: "
                f"check the separator and the header, or name the time and entity columns"
            )
    if not channels:
        raise InputError(
            f"{source.name} must have at least one column of numbers beside time, entity and "
            f"label; it has only {_some(source.columns)}: add the measurements"
        )


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
