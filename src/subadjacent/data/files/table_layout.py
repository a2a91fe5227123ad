"""The layout of a table of text: separator, header, units, decimal mark.

All of it is found in the first lines. The header is the fullest of the lines above the first row;
lines above it are titles, and lines between it and the first row are units.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from subadjacent.data.files.cells import (
    MISSING,
    Marks,
    find_marks,
    is_missing,
    is_number,
    show,
    unguard,
)
from subadjacent.data.files.opening import END_OF_FILE
from subadjacent.data.times import is_written_time
from subadjacent.errors import InputError
from subadjacent.showing import listed

SPACE = " "
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
HEAD_LINES = 50
UNIT_LINES = 2
"""Most lines of units or measurement methods below a header; loggers write two."""

MIN_SHARE_ALIKE = 0.9
"""Least share of lines with equal cell counts, for spaces to be the separator."""

Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table of text.

    ``first_line`` is the line of the first row, ``named_by`` the line that sets the number of
    cells.
    """

    separator: str
    columns: tuple[str, ...]
    unnamed: frozenset[str]
    has_header: bool
    named_by: int
    first_line: int
    marks: Marks
    notes: tuple[str, ...]

    def is_comment(self, line: str) -> bool:
        """Whether a line below the header begins with # and has another number of cells."""
        return _begins_with_hash(line) and _count(line, self.separator) != len(self.columns)


class _Record(NamedTuple):
    """The cells of one record, and the number of its first line."""

    line: int
    cells: list[str]

    @property
    def filled(self) -> int:
        """The number of non-empty cells."""
        return sum(bool(cell.strip()) for cell in self.cells)

    @property
    def is_row(self) -> bool:
        """Whether this is a data row: some cell holds a number or a time."""
        return any(map(_is_value, self.cells))


def find_layout(head: str, name: str) -> TableLayout:
    """The layout of a table, from its first lines."""
    lines = _numbered(head)
    plain = [line for line in lines if not _begins_with_hash(line[1])] or lines
    separator = _find_separator([text for _, text in plain])
    widths = Counter(_count(text, separator) for _, text in plain)
    likely = widths.most_common(1)[0][0]
    begin = next((number for number, text in plain if _count(text, separator) == likely), 0)
    comments = [
        (number, text)
        for number, text in lines
        if _begins_with_hash(text) and (number < begin or _count(text, separator) != likely)
    ]
    kept = [line for line in lines if line not in comments]
    records = _records(kept, separator, name)
    notes = []
    if separator != ",":
        separator_name = "spaces" if separator == SPACE else SEPARATORS[separator]
        notes.append(f"columns are separated by {separator_name}")
    if comments:
        notes.append("lines that begin with # are left out")

    place, first = _find_header(records)
    header = None if place is None else records[place]
    if header is None and (named := _commented_header(comments, records[0], separator, name)):
        header = named
        notes.append(f"line {header.line} is the header, though it begins with #")
    if place:
        notes.append(f"{_lines(records[:place])} above the header {_verb(place)} left out")
    if place is not None and first - place > 1:
        units = records[place + 1 : first]
        notes.append(f"{_lines(units)} below the header {_verb(len(units))} left out: no numbers")
    if header is None:
        columns = tuple(f"column_{number}" for number in range(1, len(records[0].cells) + 1))
        unnamed: frozenset[str] = frozenset()
        notes.append("the first line holds data, so columns are called column_1, column_2, …")
    else:
        columns = _names(header, name)
        unnamed = frozenset(
            column for column, cell in zip(columns, header.cells, strict=True) if not cell.strip()
        )
    cells = [cell for record in records[first:] for cell in record.cells]
    marks = find_marks(cells, separator)
    if marks.decimal == ",":
        notes.append("commas are read as decimal marks")
    first_line = records[first].line if first < len(records) else kept[-1][0] + 1
    named_by = records[0].line if header is None else header.line
    return TableLayout(
        separator, columns, unnamed, header is not None, named_by, first_line, marks,
        tuple(notes),
    )  # fmt: skip


def join_spaces(line: str, separator: str) -> str:
    """A line with runs of spaces collapsed, if spaces are the separator."""
    return SPACE.join(line.split()) if separator == SPACE else line


def _numbered(head: str) -> list[Line]:
    lines = (line.rstrip("\n" + END_OF_FILE) for line in io.StringIO(head, newline=None))
    filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip(" "))
    numbered: list[Line] = []
    for line in filled:
        numbered.append(line)
        if sum(not _begins_with_hash(text) for _, text in numbered) >= HEAD_LINES:
            break
    return numbered


def _begins_with_hash(line: str) -> bool:
    """Whether a line begins with #, and not with a missing-value word such as #N/A."""
    start = line.lstrip()[:12].lower()
    words = tuple(word for word in MISSING if word.startswith("#"))
    return start.startswith("#") and not start.startswith(words)


def _count(line: str, separator: str) -> int:
    bare = re.sub('"[^"]*"', "_", line)
    return len(bare.split()) if separator == SPACE else bare.count(separator) + 1


def _find_separator(lines: Sequence[str]) -> str:
    """The separator that cuts most lines into the same number of cells."""
    best, likeliest = (0.0, False, 1), ""
    for separator in SEPARATORS:
        width, alike = _commonest_width(lines, separator)
        # a comma between other marks is a decimal one
        if width > 1 and (rank := (alike, separator != ",", width)) > best:
            best, likeliest = rank, separator
    if likeliest:
        return likeliest
    width, alike = _commonest_width(lines, SPACE)
    return SPACE if width > 1 and alike >= MIN_SHARE_ALIKE else ","


def _commonest_width(lines: Sequence[str], separator: str) -> tuple[int, float]:
    """The commonest number of cells, and the share of lines that have it."""
    counts = [_count(line, separator) for line in lines]
    width, times = Counter(counts).most_common(1)[0]
    return width, times / len(counts)


def _records(lines: Sequence[Line], separator: str, name: str) -> list[_Record]:
    reader = csv.reader(
        (join_spaces(text, separator) + "\n" for _, text in lines), delimiter=separator
    )
    records = []
    try:
        while reader.line_num < len(lines):
            line = lines[reader.line_num][0]
            records.append(_Record(line, next(reader)))
    except csv.Error as error:
        raise InputError(
            f"{name} must begin with a table of text; {error}: export it as CSV"
        ) from error
    return records


def _find_header(records: Sequence[_Record]) -> tuple[int | None, int]:
    """The index of the header, or None, and of the first row."""
    width = Counter(len(record.cells) for record in records).most_common(1)[0][0]
    wide = [place for place, record in enumerate(records) if len(record.cells) == width]
    row = next((place for place in wide if records[place].is_row), None)
    if row is None:
        return 0, 1
    above = [place for place in wide if place < row]
    if above:
        header = max(above, key=lambda place: records[place].filled)
        first = header + 1
        last = min(row, first + UNIT_LINES)
        while first < last and _are_units(records[first], records[row]):
            first += 1
        return header, first
    if not is_data(records[row].cells):
        # some of the names are numbers
        return row, row + 1
    # lines above do not belong to the table, and the reader notes that
    return (0, 1) if row else (None, 0)


def _are_units(record: _Record, row: _Record) -> bool:
    """Whether a record has units: text where a row has values."""
    return len(record.cells) == len(row.cells) and any(
        _is_value(value) and not is_missing(unit)
        for unit, value in zip(record.cells, row.cells, strict=True)
    )


def _commented_header(
    comments: Sequence[Line], row: _Record, separator: str, name: str
) -> _Record | None:
    """The last comment above the rows, if it names every column."""
    above = [line for line in comments if line[0] < row.line]
    if not above:
        return None
    number, text = above[-1]
    (record,) = _records([(number, text.strip().lstrip("# "))], separator, name)
    fits = len(record.cells) == len(row.cells) and not is_data(record.cells)
    return record if fits else None


def _is_value(cell: str) -> bool:
    return is_number(cell) or is_written_time(cell.strip())


def is_data(cells: Sequence[str]) -> bool:
    """Whether a first line holds values rather than names."""
    bare = [cell.strip() for cell in cells]
    # names that libraries give columns without names: 0, 1, 2, … after an empty one or none
    counting = [str(place) for place in range(len(bare))]
    if bare == ["", *counting[:-1]] or (len(bare) > 2 and bare == counting):
        return False
    return any(map(is_number, bare)) and all(_is_value(cell) or is_missing(cell) for cell in bare)


def _names(header: _Record, name: str) -> tuple[str, ...]:
    import polars as pl

    names = tuple(
        cell or f"column_{place}"
        for place, cell in enumerate(
            unguard(pl.Series([cell.strip() for cell in header.cells], dtype=pl.String)), 1
        )
    )
    twice = [show(repeated) for repeated, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{name} must name every column once; line {header.line} has "
            f"{listed(twice)} more than once: rename or remove the others"
        )
    return names


def _lines(records: Sequence[_Record]) -> str:
    first, last = records[0].line, records[-1].line
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"
