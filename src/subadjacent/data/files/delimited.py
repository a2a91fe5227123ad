"""Text files of a table, such as CSV → blocks of text cells with line numbers."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO

import polars as pl

from subadjacent.data.files.blocks import Block, Source
from subadjacent.data.files.cells import show
from subadjacent.data.files.columnar import FORMATS
from subadjacent.data.files.opening import (
    END_OF_FILE,
    HEAD_BYTES,
    MAX_LINE_BYTES,
    find_encoding,
    open_bytes,
)
from subadjacent.data.files.table_layout import SPACE, Line, find_layout, join_spaces
from subadjacent.errors import InputError

JSON_ROWS = re.compile(r'\s*(\[\s*)?\{\s*("[^"\n]*"\s*:|\})')
"""How rows as JSON begin, one a line or in an array: no CSV has a name in a brace and a colon."""


class Delimited(Source):
    """One text file of a table.

    Encoding and layout are found in the first lines, and described in ``notes``.
    """

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path, name)
        head, self.encoding, notes = self._read_head()
        self.layout = layout = find_layout(head, name)
        self.columns, self.unnamed = layout.columns, layout.unnamed
        self.schema = dict.fromkeys(layout.columns, pl.String())
        self.has_header = layout.has_header
        self.notes = (*notes, *layout.notes)

    @classmethod
    def accepts(cls, path: Path) -> bool:  # noqa: ARG003 — any
        """Any file may be text: one that is not is refused when it is read."""
        return True

    @property
    def length(self) -> int:
        """About how many rows there are: the lines, counted without taking them apart."""
        with self._open() as file:
            lines = sum(1 for _ in file)
        return max(lines - self.layout.first_line + 1, 0)

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        with self._open() as file:
            lines = self._lines(file)
            while batch := list(islice(lines, rows)):
                yield self._block(batch, lines, columns)

    def _block(self, batch: list[Line], more: Iterator[Line], columns: tuple[str, ...]) -> Block:
        width, separator = len(self.columns), self.layout.separator
        if any('"' in text for _, text in batch):
            numbers, records = self._quoted(batch, more)
            for number, record in zip(numbers, records, strict=True):
                self._check_width(number, len(record), more)
            cells = zip(*records, strict=True)
            data = dict(zip(self.columns, map(list, cells), strict=True))
            frame = pl.DataFrame(data, schema=dict.fromkeys(self.columns, pl.String))
        else:
            numbers = [number for number, _ in batch]
            text = pl.Series([text for _, text in batch], dtype=pl.String)
            marks = text.str.count_matches(separator, literal=True)
            if (bad := marks != width - 1).any():
                row = int(bad.arg_max() or 0)
                last = row == len(batch) - 1
                self._check_width(numbers[row], int(marks[row]) + 1, more if last else iter(batch))
            frame = text.str.split_exact(separator, width - 1).struct.unnest()
            frame.columns = list(self.columns)
        return Block(frame.select(columns), self.name, numbers, marks=self.layout.marks)

    def _quoted(self, batch: list[Line], more: Iterator[Line]) -> tuple[list[int], list[list[str]]]:
        """The records of lines with quotes; an open quote continues on further lines."""
        texts = (text + "\n" for _, text in chain(batch, more))
        reader = csv.reader(texts, delimiter=self.layout.separator, strict=True)
        numbers: list[int] = []
        records: list[list[str]] = []
        while reader.line_num < len(batch):
            numbers.append(batch[reader.line_num][0])
            try:
                records.append(next(reader))
            except csv.Error as error:
                raise InputError(
                    f'{self.name}, line {numbers[-1]}, must have its quotes (") in pairs around a '
                    f"cell; {error}: close or remove them"
                ) from error
        return numbers, records

    def _check_width(self, number: int, cells: int, following: Iterator[Line]) -> None:
        width = len(self.columns)
        if cells == width:
            return
        cut = cells < width and next(following, None) is None
        way_out = (
            "the file seems to be cut off there; get it whole, or delete that line"
            if cut
            else "correct that line, or put cells that hold a separator in quotes"
        )
        raise InputError(
            f"{self.name}, line {number}, must have {width} cells as line {self.layout.named_by} "
            f"has; it has {cells}: {way_out}"
        )

    def _open(self) -> IO[str]:
        return io.TextIOWrapper(open_bytes(self.path, self.name), encoding=self.encoding)

    def _lines(self, file: IO[str]) -> Iterator[Line]:
        """Numbered lines of rows without their ends.

        Those without anything in any cell are left out at the end, where spreadsheets write them.
        Elsewhere they are rows; but an empty line is one only in a file of one column.
        """
        number = 0
        nothing: list[Line] = []
        layout = self.layout
        single, separator = len(self.columns) == 1, layout.separator
        blanks = SPACE + separator
        try:
            for number, text in enumerate(file, 1):
                if number < layout.first_line:
                    continue
                line = text.rstrip("\n" + END_OF_FILE)
                if line[:1] == "#" and layout.is_comment(line):
                    continue
                if line.strip(blanks):
                    yield from nothing
                    nothing.clear()
                    yield number, join_spaces(line, separator)
                elif single or line.strip(SPACE):
                    nothing.append((number, line.strip(SPACE)))
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name}, after line {number}, must be {self.encoding} text as its first "
                f"lines are; it holds {show(error.object[error.start : error.end])}: "
                f"save the file as UTF-8"
            ) from error

    def _read_head(self) -> tuple[str, str, tuple[str, ...]]:
        with open_bytes(self.path, self.name) as file:
            head = file.read(HEAD_BYTES)
            # up to the end of a line, so that the last one is not cut
            head += file.readline(MAX_LINE_BYTES)
        for kind in FORMATS:
            if head.startswith(kind.mark):
                raise InputError(
                    f"{self.name} must be text; it is a packed {kind.name} file: unpack it"
                )
        encoding, notes = find_encoding(head, self.name)
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)
        if not text.strip(f"{END_OF_FILE} \t\r\n\ufeff"):
            raise InputError(f"{self.name} must have a header and rows of data; it is empty")
        if JSON_ROWS.match(text):
            raise InputError(
                f"{self.name} must be a table, CSV or Parquet; it holds rows as JSON: "
                f"'subadjacent stream' takes them, one a line, else write them as CSV"
            )
        return text, encoding, notes
