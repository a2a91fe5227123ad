"""Rows that come as lines of text, NDJSON or CSV: whatever is there is read in one go."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from subadjacent.data.documents import RepeatedKeyError, read_json
from subadjacent.data.files.cells import is_missing, show
from subadjacent.data.files.table_layout import is_data
from subadjacent.data.names import ENTITY_NAMES, LABEL_NAMES, TIME_NAMES, columns_named
from subadjacent.errors import InputError
from subadjacent.showing import listed

SEPARATORS = ",;\t|"
MAX_LINE_BYTES = 10_000_000
"""Bytes of a line: more than ten thousand channels take. A longer one is not waited for."""

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
"""A number where semicolons are between cells, which is so where commas are decimal marks."""

ARRAY = re.compile(rb"\[\s*([\[{]|$)")
"""How a JSON array of rows begins; a CSV header may have names in brackets."""


class Line(NamedTuple):
    """A row as a line holds it; ``wrong`` says why it cannot be read, else it is empty."""

    number: int
    values: Mapping[str, Any]
    time: Any = None
    entity: str | None = None
    wrong: str = ""


class LineReader:
    """Turns bytes as they come into rows.

    Lines are JSON objects if the first one begins with a brace; else CSV, whose first line names
    the columns.

    Parameters
    ----------
    time, entity
        The columns of times and entities, which every row must have then; None: recognised by their
        names, where they have such.
    """

    def __init__(self, time: str | None = None, entity: str | None = None) -> None:
        self._time = time
        self._entity = entity
        self._required = [name for name in (time, entity) if name is not None]
        self._left = b""
        self._number = 0
        self._is_json: bool | None = None
        self._header: list[str] | None = None
        self._separator = ","
        self._labels: list[str] | None = None

    def feed(self, data: bytes) -> list[Line]:
        """Rows of all lines that are whole now."""
        *whole, self._left = (self._left + data).split(b"\n")
        if len(self._left) > MAX_LINE_BYTES:
            raise InputError.of(
                "input",
                f"must have lines of at most {MAX_LINE_BYTES:,} bytes",
                f"line {self._number + len(whole) + 1} is longer",
            )
        return self._read(whole)

    def finish(self) -> list[Line]:
        """The row of a last line without an end."""
        last, self._left = self._left, b""
        return self._read([last]) if last.strip() else []

    def _read(self, lines: list[bytes]) -> list[Line]:
        first = self._number + 1
        self._number += len(lines)
        numbered = [(n, line) for n, line in enumerate(lines, first) if line.strip()]
        if not numbered:
            return []
        if self._is_json is None:
            if numbered[0][0] == 1:
                # a mark that some programs begin a file with
                numbered[0] = (1, numbered[0][1].removeprefix(b"\xef\xbb\xbf"))
            self._begin(numbered[0][1].strip())
        return self._json(numbered) if self._is_json else list(self._csv(numbered))

    def _begin(self, line: bytes) -> None:
        """Tell by the first line whether lines are JSON."""
        if ARRAY.match(line):
            raise InputError.of(
                "input",
                "must hold rows as JSON objects or CSV, one a line",
                "line 1 begins a JSON array",
                "jq -c '.[]' writes its objects one a line",
            )
        self._is_json = line.startswith(b"{")

    def _json(self, numbered: list[tuple[int, bytes]]) -> list[Line]:
        try:
            # as one document: twice as quick as line by line
            documents: list[Any] = read_json(b"[" + b",".join(line for _, line in numbered) + b"]")
        except (ValueError, RecursionError):
            documents = []
        if len(documents) != len(numbered) or not all(
            isinstance(document, dict) for document in documents
        ):
            return [self._json_line(number, line) for number, line in numbered]
        numbers = (number for number, _ in numbered)
        return [self._row(*pair) for pair in zip(numbers, documents, strict=True)]

    def _json_line(self, number: int, line: bytes) -> Line:
        try:
            found = read_json(line)
        except RepeatedKeyError as error:
            return Line(number, {}, wrong=f"must name every key once; {error}")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            return Line(number, {}, wrong='must be a JSON object such as {"a": 1.0}')
        return self._row(number, found)

    def _csv(self, numbered: list[tuple[int, bytes]]) -> Iterator[Line]:
        texts = [line.decode("utf-8", "replace").rstrip("\r") for _, line in numbered]
        if self._header is None:
            self._read_header(texts.pop(0))
            numbered = numbered[1:]
        header = self._header or []
        for (number, _), text, cells in zip(numbered, texts, self._cells(texts), strict=True):
            if len(cells) != len(header) or "\ufffd" in text:
                wrong = f"must have {len(header)} cells of UTF-8, as the first line has"
                yield Line(number, {}, wrong=f"{wrong}; got {show(text)}")
            else:
                yield self._row(number, dict(zip(header, cells, strict=True)))

    def _cells(self, texts: list[str]) -> list[list[Any]]:
        """The cells of each line, numbers as floats; no cells of a line that is not CSV."""
        try:
            rows = list(csv.reader(texts, delimiter=self._separator, strict=True))
        except csv.Error:
            rows = []
        if len(rows) != len(texts):
            # one of them is wrong, or a cell would go on in the next line
            rows = [_csv_line(text, self._separator) for text in texts]
        names = self._header or []
        plain = [place for place, name in enumerate(names) if name == self._entity]
        return [
            [
                cell if place in plain else _cell(cell, self._separator)
                for place, cell in enumerate(cells)
            ]
            for cells in rows
        ]

    def _read_header(self, line: str) -> None:
        self._separator = max(SEPARATORS, key=line.count)
        names = [name.strip() for name in _csv_line(line, self._separator)]
        is_text = "\ufffd" not in line
        if not is_text or not all(names) or len({*names}) < max(len(names), 1) or is_data(names):
            raise InputError.of(
                "input",
                "must begin with the names of its columns, in UTF-8",
                f"line 1 is {show(line)}",
            )
        if lacking := [name for name in self._required if name not in names]:
            raise InputError.of(
                "input",
                f"must have the column {lacking[0]!r}, which was requested",
                f"it has {listed(names)}",
            )
        self._header = names
        self._find_roles(names)

    def _row(self, number: int, row: dict[str, Any]) -> Line:
        for name in self._required:
            if name not in row:
                return Line(number, {}, wrong=f"must have {name!r}, which was requested")
        if self._labels is None:
            self._find_roles(row)
        time = row.pop(self._time, None) if self._time is not None else None
        entity = row.pop(self._entity, None) if self._entity is not None else None
        for label in self._labels or ():
            row.pop(label, None)
        return Line(number, row, time, None if entity is None else str(entity))

    def _find_roles(self, row: Iterable[str]) -> None:
        """Which names of the first row are those of time, entity and labels."""
        if self._time is None:
            self._time = next(iter(columns_named(TIME_NAMES, row)), None)
        if self._entity is None:
            self._entity = next(iter(columns_named(ENTITY_NAMES, row)), None)
        roles = (self._time, self._entity)
        self._labels = [name for name in columns_named(LABEL_NAMES, row) if name not in roles]

    @property
    def labels(self) -> list[str]:
        """Columns that are left out, for they hold labels."""
        return self._labels or []


def measurements(row: Mapping[str, Any]) -> list[str]:
    """The names of a row that hold a number, or nothing yet: channels of a new series."""
    return [
        name
        for name, value in row.items()
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    ]


def _csv_line(text: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _cell(text: str, separator: str) -> Any:
    """A number, None for a missing value, or the text itself."""
    try:
        return float(text)
    except ValueError:
        pass
    if separator == ";" and DECIMAL_COMMA.fullmatch(text.strip()):
        return float(text.replace(",", "."))
    return None if is_missing(text) else text.strip()
