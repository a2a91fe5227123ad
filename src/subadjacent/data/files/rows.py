"""CSV, Parquet and Arrow files → frames of times, entities and channels."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from subadjacent.data.files.blocks import BLOCK_ROWS, Block, Source, TimeOrder
from subadjacent.data.files.cells import is_signed
from subadjacent.data.files.paths import only_our_errors, open_sources
from subadjacent.data.files.readings import FileForms, choose_forms
from subadjacent.data.files.roles import Columns, Roles, assign
from subadjacent.data.files.time_column import forms_in, time_error
from subadjacent.data.files.timestamps import TimeForm, find_forms, in_common
from subadjacent.data.times import pattern_of_format
from subadjacent.errors import InputError, require_whole
from subadjacent.showing import listed

log = logging.getLogger(__name__)

SAMPLE_ROWS = 1000
"""First rows of a file, from which its format and roles are found."""

TIME, ENTITY = "timestamp", "item_id"

Labels = Literal["need", "take", "skip"]
"""How to read labels: refuse a cell that is not one; drop all labels then; or skip them."""


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
    """The rows of one or several files, and the roles of their columns.

    ``time``, ``entity`` and ``label`` are the names of the columns in the files, ``date+time``
    that of two; ``notes`` says in plain words what was detected rather than given.
    """

    def __init__(self, sources: Sequence[Source], given: Columns) -> None:
        self._sources = tuple(sources)
        roles, self._forms, notes = _agree(self._sources, given)
        self._time = roles.time
        self.time = None if roles.time is None else roles.time.name
        self.entity, self.label = roles.entity, roles.label
        self.channels = roles.channels
        self._narrow = _narrow(self._sources, self.channels)
        self._missing = given.missing
        self._signed = self.label is not None and self._has_signs(self.label)
        self.notes = (*_source_notes(self._sources), *notes)
        if self._signed:
            self.notes += (f"labels in {self.label!r} are -1 for anomalous and 1 for normal",)
        for note in self.notes:
            log.info("%s", note)

    @property
    def named(self) -> Columns:
        """The column of each role; None for a time that is joined from two columns."""
        joined = self._time is not None and self._time.is_joined
        return Columns(time=None if joined else self.time, entity=self.entity, label=self.label)

    def read_time(self, text: str) -> Any:
        """A moment that is written as those of the files; None where it is not."""
        cell = pl.Series([text])
        likely = {form.kind for form in find_forms(cell)}
        # a small number may be a date though it could be seconds since 1970
        forms = [form for form in self._forms if form.kind in likely or form.is_format]
        times = (form.read(cell)[0] for form in forms if form.is_clock)
        return next((time for time in times if time is not None), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files in messages."""
        return tuple(source.name for source in self._sources)

    @property
    def count(self) -> int:
        """About how many rows there are; text files are gone through once to count lines."""
        return sum(source.length for source in self._sources)

    def entity_names(self, rows: int) -> Iterator[pl.Series]:
        """The entity of every row, at most ``rows`` at a time; no other column is read."""
        assert self.entity is not None
        for source in self._sources:
            with only_our_errors(source.name):
                for block in self._blocks(source, rows, (self.entity,)):
                    yield block.entities(self.entity)

    def whole(self, labels: Labels = "need") -> FileRows:
        """Everything, in memory."""
        chunks = list(self.chunks(BLOCK_ROWS, labels))
        frame = pl.concat([chunk.frame for chunk in chunks])
        return FileRows(frame, joined_labels(chunks))

    def chunks(self, rows: int, labels: Labels = "need") -> Iterator[FileRows]:
        """Everything in order, at most ``rows`` at a time; a chunk never spans two files.

        Optional labels are None from the chunk on where one cannot be read.
        """
        require_whole("rows", rows, least=1)
        return self._chunks(rows, labels)

    def _chunks(self, rows: int, labels: Labels) -> Iterator[FileRows]:
        label = None if labels == "skip" else self.label
        named = [column for column in (self.entity, label) if column is not None]
        named += [] if self._time is None else self._time.names
        order = TimeOrder(self.time or "", dated=all(form.has_date for form in self._forms))
        forms = self._forms or (None,) * len(self._sources)
        for source, form in zip(self._sources, forms, strict=True):
            with only_our_errors(source.name):
                for block in self._blocks(source, rows, (*named, *self.channels)):
                    chunk = self._part(block, form)
                    if chunk.times is not None:
                        names = chunk.frame[ENTITY] if self.entity is not None else None
                        order.check(block, chunk.times, names)
                    if label is not None:
                        try:
                            chunk = replace(chunk, labels=block.labels(label, signed=self._signed))
                        except InputError as error:
                            if labels == "need":
                                raise
                            log.warning("there are no labels, since one cannot be read: %s", error)
                            label = None
                    yield chunk

    def _blocks(self, source: Source, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        for block in source.blocks(rows, columns):
            yield block.without(self._missing)

    def _has_signs(self, label: str) -> bool:
        """Whether the labels contain -1; reads on while all labels are 1."""
        for source in self._sources:
            with only_our_errors(source.name):
                for block in self._blocks(source, BLOCK_ROWS, (label,)):
                    if (signed := is_signed(block.frame[label])) is not None:
                        return signed
        return False

    def _part(self, block: Block, form: TimeForm | None) -> FileRows:
        columns: list[pl.Series] = []
        if self._time is not None and form is not None:
            times = form.read(self._time.cells(block.frame))
            if times.null_count():
                row = int(times.is_null().arg_max() or 0)
                raise time_error(block, row, self._time, form)
            columns.append(times.alias(TIME))
        if self.entity is not None:
            columns.append(block.entities(self.entity).alias(ENTITY))
        for channel in self.channels:
            dtype = pl.Float32 if channel in self._narrow else pl.Float64
            columns.append(block.numbers(channel).cast(dtype))
        return FileRows(pl.DataFrame(columns))


def open_files(
    paths: Sequence[str],
    columns: Columns = Columns(),  # noqa: B008 — frozen
) -> Rows:
    """Look at files, and give their rows.

    Parameters
    ----------
    paths
        Files or patterns such as ``"plant/*.csv"``, taken in this order, those of a pattern by
        name; ``-`` is CSV from standard input. They must have the same columns.
    columns
        The columns' roles and format of times, where they are not to be detected.

    Raises
    ------
    DataNotFound
        When a file is not there, or no file matches a pattern.
    InputError
        When a file is not what it should be; the message names it, the line and the rule.
    """
    if columns.time_format is not None:
        pattern_of_format(columns.time_format)
    return Rows(open_sources(paths), columns)


def _agree(
    sources: tuple[Source, ...], given: Columns
) -> tuple[Roles, tuple[TimeForm, ...], tuple[str, ...]]:
    """The roles of the first file's columns, which must fit all other files.

    Also the form of every file's times, where there are any, and what to note.
    """
    first = sources[0]
    samples = []
    for source in sources:
        with only_our_errors(source.name):
            samples.append(source.sample(SAMPLE_ROWS).without(given.missing))
        _check_columns(first, source)
    with only_our_errors(first.name):
        roles = assign(first, samples[0], given)
    time = roles.time
    if time is None:
        return roles, (), roles.notes
    files = [FileForms(first, roles.forms)]
    for source, sample in zip(sources[1:], samples[1:], strict=True):
        with only_our_errors(source.name):
            files.append(FileForms(source, forms_in(source, sample, time, given.time_format)))
    forms, remark = choose_forms(files, time, roles.entity)
    common = in_common(forms)
    if common is None:
        written = "; ".join(dict.fromkeys(form.description for form in forms))
        raise InputError(
            f"column {time.name!r} must hold times of one kind in all files; "
            f"got {written}: write them alike"
        )
    how = "found" if given.time is None else "given"
    columns = " and ".join(map(repr, time.names))
    is_time = f"columns {columns}, joined, are" if time.is_joined else f"column {columns} is"
    note = f"{is_time} the time ({how}): {common[0].description}{remark}"
    return roles, tuple(common), (note, *roles.notes)


def _check_columns(first: Source, source: Source) -> None:
    if set(source.columns) != set(first.columns):
        differing = sorted(map(repr, set(source.columns) ^ set(first.columns)))
        raise InputError(
            f"{source.name} must have the same columns as {first.name}; "
            f"only one of them has {listed(differing)}: "
            f"read them apart, or make them alike"
        )


def _narrow(sources: tuple[Source, ...], channels: tuple[str, ...]) -> frozenset[str]:
    """Channels that have 32 bits in every file, and keep them."""
    return frozenset(
        channel
        for channel in channels
        if all(source.schema[channel] == pl.Float32 for source in sources)
    )


def _source_notes(sources: tuple[Source, ...]) -> tuple[str, ...]:
    """The notes on all files, each once."""
    files_of: dict[str, list[str]] = {}
    for source in sources:
        for note in source.notes:
            files_of.setdefault(note, []).append(source.name)
    notes = []
    for note, names in files_of.items():
        everywhere = len(names) == len(sources) > 1
        notes.append(f"{'every file' if everywhere else ', '.join(names)}: {note}")
    return tuple(notes)


def joined_labels(chunks: Sequence[FileRows]) -> NDArray[np.int8] | None:
    """The labels of all rows; None unless every chunk has them."""
    labels = [chunk.labels for chunk in chunks if chunk.labels is not None]
    return np.concatenate(labels) if chunks and len(labels) == len(chunks) else None
