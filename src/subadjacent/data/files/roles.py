"""The role of each column of a file: time, entity, label, or channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subadjacent.data.files.blocks import Block, Source
from subadjacent.data.files.cells import blank_missing
from subadjacent.data.files.channels import (
    columns_of,
    refuse_none,
    row_numbers,
    say_left_out,
    some,
    without_numbers,
)
from subadjacent.data.files.time_column import TimeColumn, find_time
from subadjacent.data.files.timestamps import TimeForm
from subadjacent.data.names import ENTITY_NAMES, TIME_NAMES, columns_named, label_columns
from subadjacent.errors import InputError


@dataclass(frozen=True, slots=True)
class Columns:
    """The user's settings for the columns of files.

    Parameters
    ----------
    time, entity, label
        The columns with these roles; None where they are to be detected. The time may be two
        columns, of dates and of clocks, as ``date+time``.
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
    """The role of each column of a file, and notes on the decisions.

    ``forms`` are the ways in which the first times can be read; all rows tell which it is.
    """

    time: TimeColumn | None
    forms: tuple[TimeForm, ...]
    entity: str | None
    label: str | None
    channels: tuple[str, ...]
    notes: tuple[str, ...]


def assign(source: Source, sample: Block, given: Columns, time_format: str | None) -> Roles:
    """Give every column of a file its role, from names, types and a sample of rows."""
    ignored = columns_of(source.name, source.columns, given.ignore, "to be left out")
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
    time, forms = find_time(source, sample, given.time, free, time_format) or (None, ())
    free = [column for column in free if time is None or column not in time.names]
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
    return Roles(time, forms, entity, label, tuple(free), (*notes, *say_left_out(left_out)))


def _check_given(source: Source, given: Columns, ignored: Sequence[str]) -> None:
    named = [("time", column) for column in _time_names(source, given)]
    by_role = {"entity": given.entity, "label": given.label}
    named += [(role, column) for role, column in by_role.items() if column is not None]
    for role, column in named:
        if column not in source.columns:
            raise InputError(
                f"{source.name} must have the {role} column {column!r}; "
                f"it has {some(source.columns)}"
            )
    if len({column for _, column in named}) < len(named):
        raise InputError(
            f"{source.name} must have one column for each part; got "
            + ", ".join(f"{role}={column!r}" for role, column in named)
        )
    if twice := set(ignored) & {*(column for _, column in named), *given.only}:
        raise InputError(
            f"{source.name} must not have columns that are both named and left out; "
            f"got {some(sorted(map(repr, twice)))}: leave out one of the two"
        )


def _only(source: Source, sample: Block, given: Columns) -> list[str]:
    """The columns that the user named as channels, or that a model knows; none if all may be."""
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


def _unusable(sample: Block, free: Sequence[str], *, has_time: bool) -> dict[str, str]:
    """Columns that cannot be channels, though nothing is wrong with them; and why."""
    # a frame with such a column beside the one in use would be refused
    reserved = columns_named((*ENTITY_NAMES, *(TIME_NAMES if has_time else ())), free)
    out = dict.fromkeys(reserved, "another column has that part")
    schema = sample.frame.schema
    for column in free:
        if column in schema and schema[column].is_temporal():
            out[column] = f"it holds {schema[column]} and is not the time"
    return out
