"""CSV and Parquet files → frames of times, entities and channels; whole, or part by part."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.files.blocks import Block, TimeOrder
from subadjacent.data.files.parquet import Parquet
from subadjacent.data.files.paths import only_our_errors, open_sources
from subadjacent.data.files.roles import Columns, Roles, Source, assign, time_form, unreadable_time
from subadjacent.data.files.timestamps import TimeForm, in_common
from subadjacent.errors import InputError, require_whole

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Columns", "FileRows", "Rows", "open_files"]

log = logging.getLogger(__name__)

SAMPLE = 1000
"""Rows that are looked at to find out how a file is written."""

AT_ONCE = 20_000
"""Rows that are read at a time when everything is wanted."""

TIME, ENTITY = "timestamp", "item_id"


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """Some rows in order.

    ``frame`` holds the time as ``timestamp``, the entity as ``item_id`` (each where there is
    one) and the channels as floats; ``labels`` are 0 or 1, one a row, and never in the frame.
    """

    frame: pl.DataFrame
    labels: NDArray[np.int8] | None = None

    @property
    def times(self) -> pl.Series | None:
        """The time of every row, where the files have one."""
        return self.frame[TIME] if TIME in self.frame.columns else None

    def __len__(self) -> int:
        return self.frame.height


class Rows:
    """The rows of one or several files, and what was decided about them.

    ``time``, ``entity`` and ``label`` are the names of the columns in the files; ``notes`` says
    in plain words what was found out rather than told.
    """

    def __init__(self, sources: Sequence[Source], given: Columns) -> None:
        self._sources = tuple(sources)
        roles, self._forms = _agree(self._sources, given)
        self.time, self.entity, self.label = roles.time, roles.entity, roles.label
        self.channels = roles.channels
        self._narrow = _narrow(self._sources, self.channels)
        self.notes = _gather_notes(self._sources, roles)
        for note in self.notes:
            log.info("%s", note)

    @property
    def named(self) -> Columns:
        """Which column of the files plays which part."""
        return Columns(time=self.time, entity=self.entity, label=self.label)

    @property
    def count(self) -> int:
        """About how many rows there are; text files are gone through once to count lines."""
        return sum(source.length for source in self._sources)

    def whole(self) -> FileRows:
        """Everything, in memory."""
        import polars as pl

        parts = list(self.chunks(AT_ONCE))
        labels = [part.labels for part in parts if part.labels is not None]
        frame = pl.concat([part.frame for part in parts])
        return FileRows(frame, np.concatenate(labels) if labels else None)

    def chunks(self, rows: int) -> Iterator[FileRows]:
        """Everything in order, at most ``rows`` at a time; a part never spans two files."""
        require_whole("rows", rows, least=1)
        return self._chunks(rows)

    def _chunks(self, rows: int) -> Iterator[FileRows]:
        named = [column for column in (self.time, self.entity, self.label) if column is not None]
        order = TimeOrder(self.time or "")
        for source, form in zip(self._sources, self._forms, strict=True):
            with only_our_errors(source.name):
                for block in source.blocks(rows, (*named, *self.channels)):
                    part = self._part(block, form, source.decimal_comma)
                    if part.times is not None:
                        names = part.frame[ENTITY] if self.entity is not None else None
                        order.check(block, part.times, names)
                    yield part

    def _part(self, block: Block, form: TimeForm | None, decimal_comma: bool) -> FileRows:
        import polars as pl

        columns: list[pl.Series] = []
        if self.time is not None and form is not None:
            times = form.read(block.frame[self.time])
            if times.null_count():
                raise unreadable_time(block, int(times.is_null().arg_max() or 0), self.time)
            columns.append(times.alias(TIME))
        if self.entity is not None:
            columns.append(block.entities(self.entity).alias(ENTITY))
        for channel in self.channels:
            dtype = pl.Float32 if channel in self._narrow else pl.Float64
            columns.append(block.numbers(channel, decimal_comma=decimal_comma).cast(dtype))
        labels = None
        if self.label is not None:
            labels = block.labels(self.label, decimal_comma=decimal_comma)
        return FileRows(pl.DataFrame(columns), labels)


def open_files(paths: Sequence[str], columns: Columns = Columns()) -> Rows:  # noqa: B008 — frozen
    """Look at files, and give their rows.

    Parameters
    ----------
    paths
        Files or patterns such as ``"plant/*.csv"``, taken in this order, those of a pattern by
        name; ``-`` is CSV from standard input. They must have the same columns.
    columns
        The columns that play a part, where they are not to be found.

    Raises
    ------
    DataNotFound
        When a file is not there, or no file matches a pattern.
    InputError
        When a file is not what it should be; the message names it, the line and the rule.
    """
    return Rows(open_sources(paths), columns)


def _agree(
    sources: tuple[Source, ...], given: Columns
) -> tuple[Roles, tuple[TimeForm | None, ...]]:
    """The parts that the first file gives to columns, which must fit all others."""
    first = sources[0]
    samples = []
    for source in sources:
        with only_our_errors(source.name):
            samples.append(source.sample(SAMPLE))
        if set(source.columns) != set(first.columns):
            other = sorted(set(source.columns) ^ set(first.columns))
            raise InputError(
                f"{source.name} must have the same columns as {first.name}; "
                f"only one of them has {', '.join(map(repr, other[:5]))}: "
                f"read them apart, or make them alike"
            )
    with only_our_errors(first.name):
        roles = assign(first, samples[0], given)
    if roles.time is None or len(sources) == 1:
        return roles, (roles.form,) * len(sources)
    forms = [
        time_form(source, sample, roles.time)
        for source, sample in zip(sources, samples, strict=True)
    ]
    common = in_common(forms)
    if common is None:
        said = "; ".join(dict.fromkeys(form.said for form in forms))
        raise InputError(
            f"column {roles.time!r} must hold times of one kind in all files; "
            f"got {said}: write them alike"
        )
    return roles, tuple(common)


def _narrow(sources: tuple[Source, ...], channels: tuple[str, ...]) -> frozenset[str]:
    """Channels that have 32 bits in every file, and keep them."""
    import polars as pl

    return frozenset(
        channel
        for channel in channels
        if all(
            isinstance(source, Parquet) and source.schema[channel] == pl.Float32
            for source in sources
        )
    )


def _gather_notes(sources: tuple[Source, ...], roles: Roles) -> tuple[str, ...]:
    where: dict[str, list[str]] = {}
    for source in sources:
        for note in source.notes:
            where.setdefault(note, []).append(source.name)
    notes = []
    for note, names in where.items():
        everywhere = len(names) == len(sources) > 1
        notes.append(f"{'every file' if everywhere else ', '.join(names)}: {note}")
    return (*notes, *roles.notes)
