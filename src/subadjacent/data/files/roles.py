"""The role of each column of a file: time, entity, label, or channel."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from subadjacent.data.files.blocks import Block, Source, is_numbers
from subadjacent.data.files.cells import blank_missing, counts_rows
from subadjacent.data.files.time_column import TimeColumn, find_time
from subadjacent.data.files.timestamps import TimeForm
from subadjacent.data.names import (
    ENTITY_NAMES,
    ROW_NAMES,
    TIME_NAMES,
    columns_named,
    label_columns,
)
from subadjacent.errors import InputError
from subadjacent.showing import listed

TEXT = "it holds text"


@dataclass(frozen=True, slots=True)
class Columns:
    """The user's settings for the columns of files.

    Parameters
    ----------
    time, entity, label
        The columns with these roles; None: detected. The time may be two columns, of dates and of
        clocks, as ``date+time``.
    time_format
        How times are written, in the words of ``strptime``, such as ``"%d/%m/%Y %H:%M"``; None:
        found out where all rows agree on one reading.
    ignore
        Columns to leave out, as if they were not there.
    only
        The columns that are channels; empty: all that can be.
    known
        The channels of a model, which are used where a file has them all.
    missing
        More words, or numbers, that stand for a missing value.
    """

    time: str | None = None
    entity: str | None = None
    label: str | None = None
    time_format: str | None = None
    ignore: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roles:
    """The role of each column of a file, and notes on the decisions.

    ``forms`` are the ways in which the first times can be read; all rows together decide.
    """

    time: TimeColumn | None
    forms: tuple[TimeForm, ...]
    entity: str | None
    label: str | None
    channels: tuple[str, ...]
    notes: tuple[str, ...]


def assign(source: Source, sample: Block, given: Columns) -> Roles:
    """Assign a role to every column, from names, types and a sample of rows."""
    ignored = _find_columns(source, given.ignore, "to be left out")
    _check_given(source, given, ignored)
    only = _only(source, sample, given)
    columns = [column for column in source.columns if column not in (*ignored, *only)]
    notes: list[str] = []
    entity = given.entity or next(iter(columns_named(ENTITY_NAMES, columns)), None)
    if entity is not None and given.entity is None:
        notes.append(f"column {entity!r} names the entities")

    named = (entity, given.label, *_time_names(source, given))
    free = [column for column in columns if column not in named]
    labels = _labels(sample, free)
    label = given.label or next(iter(labels), None)
    if label is not None and given.label is None:
        notes.append(f"column {label!r} is taken for labels and kept out of the channels")
        labels = labels[1:]
    _refuse_nested(source, sample, entity, label)
    left_out = dict.fromkeys(labels, "it seems to hold labels")

    free = [column for column in free if column not in labels and column != label]
    time, forms = find_time(source, sample, given.time, free, given.time_format) or (None, ())
    free = [column for column in free if time is None or column not in time.names]
    if only:
        left_out |= {} if given.only else dict.fromkeys(free, "it is unknown to the model")
        free = only
    else:
        left_out |= _reserved(sample, free, has_time=time is not None)
        free = [column for column in free if column not in left_out]
        without = _without_numbers(sample, free) | _row_numbers(sample, free, source.unnamed)
        left_out |= without
        free = [column for column in free if column not in without]
    if not free:
        _refuse_no_channels(sample, _without_numbers(sample, list(left_out)))
    return Roles(time, forms, entity, label, tuple(free), (*notes, *_left_out_notes(left_out)))


def _find_columns(source: Source, names: Sequence[str], purpose: str) -> list[str]:
    """The columns that a user named, one or several with commas between them."""
    chosen: list[str] = []
    for name in names:
        # a name may have commas of its own
        known = name in source.columns
        candidates = [name] if known else [piece.strip() for piece in name.split(",")]
        for candidate in filter(None, candidates):
            if candidate not in source.columns:
                raise InputError(
                    f"{source.name} must have the columns {purpose}; it has no {candidate!r}: "
                    f"{_nearest(candidate, source.columns)}"
                )
            chosen.append(candidate)
    return list(dict.fromkeys(chosen))


def _check_given(source: Source, given: Columns, ignored: Sequence[str]) -> None:
    named = [("time", column) for column in _time_names(source, given)]
    by_role = {"entity": given.entity, "label": given.label}
    named += [(role, column) for role, column in by_role.items() if column is not None]
    for role, column in named:
        if column not in source.columns:
            raise InputError(
                f"{source.name} must have the {role} column {column!r}; "
                f"it has {listed(source.columns)}"
            )
    if len({column for _, column in named}) < len(named):
        raise InputError(
            f"{source.name} must have one column for each part; got "
            + ", ".join(f"{role}={column!r}" for role, column in named)
        )
    if twice := set(ignored) & {*(column for _, column in named), *given.only}:
        raise InputError(
            f"{source.name} must not have columns that are both named and left out; "
            f"got {listed(sorted(map(repr, twice)))}: leave out one of the two"
        )


def _only(source: Source, sample: Block, given: Columns) -> list[str]:
    """The channels that the user named, or that a model knows; empty for all."""
    if not given.only:
        return list(given.known) if set(given.known) <= set(source.columns) else []
    only = _find_columns(source, given.only, "to be taken")
    if labels := _labels(sample, only):
        raise InputError(
            f"{source.name} must not give labels to a detector; column {labels[0]!r} seems to "
            f"hold them: rename it if it is a measurement"
        )
    without = _without_numbers(sample, only)
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


def _reserved(sample: Block, free: Sequence[str], *, has_time: bool) -> dict[str, str]:
    """Columns whose name or type is that of another role, and the reason."""
    # a frame with such a column beside the one in use would be refused
    reserved = columns_named((*ENTITY_NAMES, *(TIME_NAMES if has_time else ())), free)
    out = dict.fromkeys(reserved, "another column has that part")
    schema = sample.frame.schema
    for column in free:
        if column in schema and schema[column].is_temporal():
            out[column] = f"it holds {schema[column]} and is not the time"
    return out


def _without_numbers(sample: Block, columns: Sequence[str]) -> dict[str, str]:
    """The columns that hold no numbers, and what each holds instead.

    A column is text when fewer than half of its filled cells are numbers; otherwise a cell that
    is not a number is an error.
    """
    reasons, flat = {}, set(sample.frame.columns)
    for column in columns:
        if column not in flat:
            reasons[column] = "it holds several values in each cell"
            continue
        cells = sample.frame[column]
        dtype = cells.dtype
        if not (is_numbers(dtype) or dtype in (pl.String, pl.Categorical, pl.Enum)):
            reasons[column] = f"it holds {dtype}"
        elif not blank_missing(cells).count():
            reasons[column] = f"it is empty in the first {len(cells):,} rows"
        elif sample.holds_text(column):
            reasons[column] = TEXT
    return reasons


def _row_numbers(sample: Block, columns: Sequence[str], unnamed: Collection[str]) -> dict[str, str]:
    """Columns that count the rows, with no name or one such as ``index``."""
    called, flat = columns_named(ROW_NAMES, columns), set(sample.frame.columns)
    maybe = [column for column in columns if column in flat and column in (*called, *unnamed)]
    counting = [column for column in maybe if counts_rows(sample.frame[column])]
    return dict.fromkeys(counting, "it counts the rows")


def _refuse_no_channels(sample: Block, left_out: Mapping[str, str]) -> None:
    texts = [sample.first_text(column) for column, why in left_out.items() if why == TEXT]
    if texts:
        raise InputError(
            f"{sample.file} must have at least one column of numbers; "
            f"{listed(texts)}: check the separator and the header"
        )
    raise InputError(
        f"{sample.file} must have at least one column of numbers beside time, entity and "
        f"label; it has none: add the measurements"
    )


def _left_out_notes(left_out: Mapping[str, str]) -> list[str]:
    """One note per reason, on all columns that are ignored for it."""
    notes = []
    for why in dict.fromkeys(left_out.values()):
        columns = [repr(column) for column, reason in left_out.items() if reason == why]
        if len(columns) == 1:
            notes.append(f"column {columns[0]} is left out: {why}")
        else:
            reason_of_each = why.replace("it ", "each ", 1)
            notes.append(f"columns {listed(columns)} are left out: {reason_of_each}")
    return notes


def _nearest(name: str, columns: Sequence[str]) -> str:
    by_case = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), by_case, n=3)
    if near:
        return "the nearest are " + ", ".join(repr(by_case[match]) for match in near)
    return f"it has {listed([repr(column) for column in columns])}"
