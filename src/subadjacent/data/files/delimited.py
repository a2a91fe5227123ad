"""Text files of a table (CSV and its relatives) → frames of text, with the line of every row.

Encoding, separator, decimal mark and header are found in the first lines, and said in ``notes``.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from subadjacent.data.files.blocks import Block, is_missing, show
from subadjacent.data.files.formulas import unguard_name
from subadjacent.data.files.timestamps import PATTERNS
from subadjacent.errors import InputError

if TYPE_CHECKING:
    pass

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
HEAD_BYTES = 1 << 16
HEAD_LINES = 50
LONGEST_LINE = 1 << 24

BOMS = {
    codecs.BOM_UTF8: ("utf-8-sig", "text begins with a byte order mark, which is left out"),
    codecs.BOM_UTF16_LE: ("utf-16", "text is read as UTF-16"),
    codecs.BOM_UTF16_BE: ("utf-16", "text is read as UTF-16"),
}
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
# polars names a group (?<name>), Python (?P<name>)
_TIMES = [re.compile(pattern.replace("(?<", "(?P<")) for pattern in PATTERNS.values()]

Line = tuple[int, str]


class Delimited:
    """One text file of a table; ``name`` is what messages call it."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        notes = []
        head, self.encoding, said = self._read_head()
        notes += said
        self.separator = _find_separator(head)
        if self.separator != ",":
            notes.append(f"columns are separated by {SEPARATORS[self.separator]}")
        records = self._head_records(head)
        self.has_header = not _is_data(records[0])
        if self.has_header:
            self.columns = self._names(records[0])
        else:
            self.columns = tuple(f"column_{number}" for number in range(1, len(records[0]) + 1))
            notes.append("the first line holds data, so columns are called column_1, column_2, …")
        self.unnamed = {
            name
            for name, cell in zip(self.columns, records[0], strict=True)
            if self.has_header and not cell.strip()
        }
        self.decimal_comma = self.separator != "," and _has_decimal_commas(
            records[self.has_header :]
        )
        if self.decimal_comma:
            notes.append("commas are read as decimal marks")
        self.notes = tuple(notes)

    @property
    def length(self) -> int:
        """About how many rows there are: the lines, counted without taking them apart."""
        with self._open() as file:
            lines = sum(1 for _ in file)
        return max(lines - self.has_header, 0)

    def sample(self, rows: int) -> Block:
        """The first rows; refuses a file that has none."""
        for block in self.blocks(rows, self.columns):
            return block
        raise InputError(f"{self.name} must have rows of data; it has a header and nothing else")

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        with self._open() as file:
            lines = self._lines(file)
            if self.has_header:
                next(csv.reader((text for _, text in lines), delimiter=self.separator), None)
            while batch := list(islice(lines, rows)):
                yield self._block(batch, lines, columns)

    def _block(self, batch: list[Line], more: Iterator[Line], columns: tuple[str, ...]) -> Block:
        import polars as pl

        width = len(self.columns)
        if any('"' in text for _, text in batch):
            numbers, records = self._quoted(batch, more)
            for number, record in zip(numbers, records, strict=True):
                self._check_width(number, len(record), more)
            cells = zip(*records, strict=True)
            data = dict(zip(self.columns, map(list, cells), strict=True))
            frame = pl.DataFrame(data, schema=dict.fromkeys(self.columns, pl.String))
            return Block(frame.select(columns), self.name, numbers)
        numbers = [number for number, _ in batch]
        text = pl.Series([text for _, text in batch], dtype=pl.String)
        marks = text.str.count_matches(self.separator, literal=True)
        if (bad := marks != width - 1).any():
            row = int(bad.arg_max() or 0)
            last = row == len(batch) - 1
            self._check_width(numbers[row], int(marks[row]) + 1, more if last else iter(batch))
        fields = text.str.split_exact(self.separator, width - 1).struct.unnest()
        fields.columns = list(self.columns)
        return Block(fields.select(columns), self.name, numbers)

    def _quoted(self, batch: list[Line], more: Iterator[Line]) -> tuple[list[int], list[list[str]]]:
        """Records of lines with quotes; one that is open after the last line takes further ones."""
        fed = 0
        seen = [number for number, _ in batch]

        def feed() -> Iterator[str]:
            nonlocal fed
            for _, text in batch:
                fed += 1
                yield text + "\n"
            for number, text in more:
                fed += 1
                seen.append(number)
                yield text + "\n"

        reader = csv.reader(feed(), delimiter=self.separator, strict=True)
        numbers: list[int] = []
        records: list[list[str]] = []
        while fed < len(batch):
            number = seen[fed]
            try:
                records.append(next(reader))
            except csv.Error as error:
                raise InputError(
                    f'{self.name}, line {number}, must have its quotes (") in pairs around a cell; '
                    f"{error}: close or remove them"
                ) from error
            numbers.append(number)
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
            f"{self.name}, line {number}, must have {width} cells as its first line has; "
            f"it has {cells}: {way_out}"
        )

    def _open_bytes(self) -> gzip.GzipFile | io.BufferedReader:
        with self.path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        return gzip.open(self.path, "rb") if zipped else self.path.open("rb")

    def _open(self) -> IO[str]:
        return io.TextIOWrapper(self._open_bytes(), encoding=self.encoding)

    def _lines(self, file: IO[str]) -> Iterator[Line]:
        """Numbered lines without their ends; empty ones only inside a file of one column."""
        number = 0
        empty: list[Line] = []
        keep = len(getattr(self, "columns", "..")) == 1
        try:
            for number, text in enumerate(file, 1):
                line = text.rstrip("\n")
                if line.strip(" "):
                    yield from empty
                    empty.clear()
                    yield number, line
                elif keep and number > 1:
                    empty.append((number, ""))
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name}, after line {number}, must be {self.encoding} text as its first "
                f"lines are; it holds {show(error.object[error.start : error.end])}: "
                f"save the file as UTF-8"
            ) from error

    def _read_head(self) -> tuple[str, str, list[str]]:
        with self._open_bytes() as file:
            head = file.read(HEAD_BYTES)
            # up to the end of a line, so that the last one is not cut
            head += file.readline(LONGEST_LINE)
        notes: list[str] = []
        encoding = "utf-8"
        for mark, (known, said) in BOMS.items():
            if head.startswith(mark):
                encoding = known
                notes.append(said)
        if encoding != "utf-16":
            _refuse_binary(head, self.name)
        if encoding == "utf-8":
            try:
                codecs.getincrementaldecoder("utf-8")().decode(head)
            except UnicodeDecodeError:
                encoding = "latin-1"
                notes.append("text is read as Latin-1, since it is not UTF-8")
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)
        if not text.strip():
            raise InputError(f"{self.name} must have a header and rows of data; it is empty")
        return text, encoding, notes

    def _head_records(self, head: str) -> list[list[str]]:
        lines = (line + "\n" for line in _first_lines(head))
        reader = csv.reader(lines, delimiter=self.separator)
        try:
            return list(reader)
        except csv.Error as error:
            raise InputError(
                f"{self.name} must begin with a table of text; {error}: export it as CSV"
            ) from error

    def _names(self, cells: list[str]) -> tuple[str, ...]:
        names = tuple(
            unguard_name(cell.strip()) or f"column_{place}" for place, cell in enumerate(cells, 1)
        )
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(
                f"{self.name} must name every column once; line 1 has "
                f"{', '.join(map(show, twice[:5]))} more than once: rename or remove the others"
            )
        return names


def _refuse_binary(head: bytes, name: str) -> None:
    if head.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name} must be text or Parquet; it is a zip or spreadsheet file: "
            f"export the sheet as CSV"
        )
    strange = sum(head.count(bytes([code])) for code in range(32) if code not in b"\t\n\r\f")
    if strange:
        raise InputError(
            f"{name} must be text or Parquet; it holds binary data: export the data as CSV"
        )


def _first_lines(head: str) -> list[str]:
    lines = (line.rstrip("\n") for line in io.StringIO(head, newline=None))
    return list(islice((line for line in lines if line.strip(" ")), HEAD_LINES))


def _find_separator(head: str) -> str:
    """The mark that cuts the first line into several cells, and most others into as many."""
    lines = [re.sub('"[^"]*"', "", line) for line in _first_lines(head)]
    best, likeliest = (0.0, False, 1), ","
    for separator in SEPARATORS:
        counts = [line.count(separator) + 1 for line in lines]
        if counts[0] > 1:
            alike = sum(count == counts[0] for count in counts) / len(counts)
            # a comma between other marks is a decimal one
            if (rank := (alike, separator != ",", counts[0])) > best:
                best, likeliest = rank, separator
    return likeliest


def _is_data(cells: list[str]) -> bool:
    """Whether a first line holds values rather than names."""
    bare = [cell.strip() for cell in cells]
    numbers = [cell for cell in bare if _NUMBER.fullmatch(cell)]
    # names that libraries give columns without names: 0, 1, 2, … after an empty one or none
    counting = [str(place) for place in range(len(bare))]
    if bare == ["", *counting[:-1]] or (len(bare) > 2 and bare == counting):
        return False
    return bool(numbers) and all(
        _NUMBER.fullmatch(cell)
        or is_missing(cell)
        or any(pattern.match(cell) for pattern in _TIMES)
        for cell in bare
    )


def _has_decimal_commas(records: list[list[str]]) -> bool:
    cells = [cell.strip() for record in records for cell in record]
    commas = any(_COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return commas and not any(_POINT_NUMBER.fullmatch(cell) for cell in cells)
