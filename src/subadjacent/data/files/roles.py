"""Which column of a file plays which part: time, entity, label, or a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subadjacent.data.files.blocks import Block, blank_missing, read_numbers, show
from subadjacent.data.files.delimited import Delimited
from subadjacent.data.files.parquet import Parquet
from subadjacent.data.files.time_column import TimeColumn, counts_rows, find_time
from subadjacent.data.files.timestamps import TimeForm
from subadjacent.data.names import ENTITY_NAMES, LABEL_NAMES, TIME_NAMES, columns_named
from subadjacent.errors import InputError

Source = Delimited | Parquet


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that play a part, by name; None where it is to be found.

    ``time`` may name two columns, of dates and of clocks, as ``date+time``.
    """

    time: str | None = None
    entity: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays which part in a file, and what was decided on the way.

    ``forms`` are the ways in which the first times can be read; all rows tell which it is.
    """

    time: TimeColumn | None
    forms: tuple[TimeForm, ...]
    entity: str | None
    label: str | None
    channels: tuple[str, ...]
    notes: tuple[str, ...]


def assign(source: Source, sample: Block, given: Columns, time_format: str | None) -> Roles:
    """Give every column of a file its part, from names, types and a sample of rows."""
    _check_given(source, given)
    columns = source.columns
    notes: list[str] = []
    entity = given.entity or next(iter(columns_named(ENTITY_NAMES, columns)), None)
    if entity is not None and given.entity is None:
        notes.append(f"column {entity!r} names the entities")

    named = (entity, given.label, *_time_names(source, given))
    free = [column for column in columns if column not in named]
    labels = columns_named(LABEL_NAMES, free)
    label = given.label or next(iter(labels), None)
    if label is not None and given.label is None:
        notes.append(f"column {label!r} is taken for labels and kept out of the channels")
        labels = labels[1:]
    _refuse_nested(source, sample, entity, label)
    left_out = dict.fromkeys(labels, "its name is that of labels")

    free = [column for column in free if column not in labels and column != label]
    time, forms = find_time(source, sample, given.time, free, time_format) or (None, ())
    free = [column for column in free if time is None or column not in time.names]
    left_out |= _unusable(source, sample, free, has_time=time is not None)
    notes += [f"column {column!r} is left out: {why}" for column, why in left_out.items()]
    channels = tuple(column for column in free if column not in left_out)
    _check_channels(source, sample, channels)
    return Roles(time, forms, entity, label, channels, tuple(notes))


def _check_given(source: Source, given: Columns) -> None:
    named = [("time", column) for column in _time_names(source, given)]
    others = {"entity": given.entity, "label": given.label}
    named += [(part, column) for part, column in others.items() if column is not None]
    for part, column in named:
        if column not in source.columns:
            raise InputError(
                f"{source.name} must have the {part} column {column!r}; "
                f"it has {_some(source.columns)}"
            )
    if len({column for _, column in named}) < len(named):
        raise InputError(
            f"{source.name} must have one column for each part; got "
            + ", ".join(f"{part}={column!r}" for part, column in named)
        )


def _time_names(source: Source, given: Columns) -> tuple[str, ...]:
    return () if given.time is None else TimeColumn.of(given.time, source.columns).names


def _refuse_nested(source: Source, sample: Block, *columns: str | None) -> None:
    for column in columns:
        # a sample leaves nested columns out
        if column is not None and column not in sample.frame.columns:
            raise InputError(
                f"{source.name} must have plain values in column {column!r}; each holds several: "
                f"name another column, or convert this one"
            )


def _unusable(
    source: Source, sample: Block, free: Sequence[str], *, has_time: bool
) -> dict[str, str]:
    """Columns that cannot be channels, though nothing is wrong with them; and why."""
    # a frame with such a column beside the one in use would be refused
    reserved = columns_named((*ENTITY_NAMES, *(TIME_NAMES if has_time else ())), free)
    out = dict.fromkeys(reserved, "another column has that part")
    for column in free:
        if column in sample.frame.columns and sample.frame.schema[column].is_temporal():
            out[column] = f"it holds {sample.frame.schema[column]} and is not the time"
        elif column in source.unnamed:
            cells = blank_missing(sample.frame[column])
            if column == source.columns[-1] and cells.null_count() == len(cells):
                out[column] = "it has no name and nothing in it"
            elif column == source.columns[0] and has_time and counts_rows(sample.frame[column]):
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
