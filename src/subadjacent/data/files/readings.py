"""Which of several readings of a column of times fits all rows of all files.

01/02/2024 has the day or the month first; 20240131 is a date or counts. The first rows may leave
that open, so all rows are gone through, a block at a time. One reading is chosen where only it
reads every cell, or else where only with it the times increase; otherwise the user is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import polars as pl

from subadjacent.data.files.blocks import BLOCK_ROWS, Block, Source, TimeOrder
from subadjacent.data.files.cells import show
from subadjacent.data.files.paths import only_our_errors
from subadjacent.data.files.time_column import TimeColumn, time_error
from subadjacent.data.files.timestamps import TimeForm
from subadjacent.data.times import DIGITS, format_of
from subadjacent.errors import InputError


class FileForms(NamedTuple):
    """A file, and the forms in which the first of its times can be read."""

    source: Source
    forms: tuple[TimeForm, ...]

    def form(self, kind: str) -> TimeForm:
        """The form of a kind."""
        return next(form for form in self.forms if form.kind == kind)


def choose_forms(
    files: Sequence[FileForms], column: TimeColumn, entity: str | None
) -> tuple[list[TimeForm], str]:
    """The form of every file's times, and a remark on the choice, if any.

    Files that can all be read in one way are: one of them may tell what others leave open.
    """
    common = [
        form.kind
        for form in files[0].forms
        if all(form.kind in {candidate.kind for candidate in file.forms} for file in files)
    ]
    if not common:
        settled = [choose_forms([file], column, entity) for file in files]
        return [forms[0] for forms, _ in settled], next(
            (remark for _, remark in settled if remark), ""
        )
    if len(common) == 1:
        kind, remark = common[0], ""
    elif DIGITS in common:
        kind, remark = _dates_or_counter(files, column)
    else:
        kind, remark = _Comparison(common, column, entity).of(files)
    return [file.form(kind) for file in files], remark


def _dates_or_counter(files: Sequence[FileForms], column: TimeColumn) -> tuple[str, str]:
    """Choose dates where every row of every file is one, else a counter."""
    for source, forms in files:
        with only_our_errors(source.name):
            for block in source.blocks(BLOCK_ROWS, column.names):
                cells = column.cells(block.frame)
                times = forms[0].read(cells)
                if times.null_count():
                    row = int(times.is_null().arg_max() or 0)
                    return "counter", f", since {show(cells[row])} ({block.place(row)}) is no date"
    return DIGITS, ""


class _Example(NamedTuple):
    """A cell that two readings take for different times."""

    place: str
    cell: str
    times: tuple[str, str]


class _Comparison:
    """Compares readings: which can read all cells, and which have increasing times."""

    def __init__(self, kinds: Sequence[str], column: TimeColumn, entity: str | None) -> None:
        self._column, self._entity = column, entity
        self._alive = list(kinds)
        self._orders: dict[str, TimeOrder] = {kind: TimeOrder(column.name) for kind in kinds}
        self._examples: dict[tuple[str, str], _Example] = {}

    def of(self, files: Sequence[FileForms]) -> tuple[str, str]:
        """The reading that fits all files, and a remark on it."""
        wanted = (*self._column.names, *([] if self._entity is None else [self._entity]))
        for file in files:
            with only_our_errors(file.source.name):
                for block in file.source.blocks(BLOCK_ROWS, wanted):
                    self._see(block, file)
                    if len(self._alive) == 1:
                        return self._alive[0], ""
        rising = [kind for kind in self._alive if kind in self._orders]
        if len(rising) == 1:
            rejected = " or ".join(kind for kind in self._alive if kind not in rising)
            return rising[0], f" (times would not increase with the {rejected})"
        distinct: list[str] = []
        for kind in rising or self._alive:
            if all((rival, kind) in self._examples for rival in distinct):
                distinct.append(kind)
        if len(distinct) == 1:
            return distinct[0], ""
        raise self._ask(distinct[0], distinct[1], increasing=bool(rising))

    def _see(self, block: Block, file: FileForms) -> None:
        cells = self._column.cells(block.frame)
        times = {kind: file.form(kind).read(cells) for kind in self._alive}
        readable = [kind for kind in self._alive if not times[kind].null_count()]
        if not readable:
            stops = {kind: int(times[kind].is_null().arg_max() or 0) for kind in self._alive}
            last = max(stops, key=stops.__getitem__)
            raise time_error(block, stops[last], self._column, file.form(last))
        self._alive = readable
        names = None if self._entity is None else block.entities(self._entity)
        for kind in [kind for kind in readable if kind in self._orders]:
            try:
                self._orders[kind].check(block, _comparable(times[kind]), names)
            except InputError:
                del self._orders[kind]
        for pair in combinations(readable, 2):
            differ = times[pair[0]] != times[pair[1]]
            if pair not in self._examples and differ.any():
                row = int(differ.arg_max() or 0)
                moments = (str(times[pair[0]][row]), str(times[pair[1]][row]))
                self._examples[pair] = _Example(block.place(row), str(cells[row]), moments)

    def _ask(self, first: str, second: str, *, increasing: bool) -> InputError:
        example = self._examples[first, second]
        formats = " or ".join(
            f"time_format={format_of(kind, example.cell)!r}" for kind in (first, second)
        )
        return InputError.of(
            f"{example.place}, column {self._column.name!r},",
            "must be readable as a time in one way",
            f"{show(example.cell)} is {example.times[0]} ({first}) or "
            f"{example.times[1]} ({second}), and the times of all rows increase "
            f"{'both ways' if increasing else 'neither way'}",
            f"give {formats}",
        )


def _comparable(times: pl.Series) -> pl.Series:
    """Times of files that are written more and less finely, in one unit."""
    return times.cast(pl.Datetime("us", getattr(times.dtype, "time_zone", None)))
