"""Read CSV files and Excel sheets whose header is somewhere near the top.

polars is imported when a file is read: the bare GPU image has none.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import DataNotFound, InputError

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "NaN", "nan", "NA", "null", "NULL", "None")
HEAD_LINES = 20
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")

IsHeader = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """The rows below the header of one file; ``first`` is the line of the first of them."""

    path: Path
    names: tuple[str, ...]
    frame: pl.DataFrame
    first: int

    def __len__(self) -> int:
        return len(self.frame)

    def place(self, row: int, name: str) -> str:
        """Where a cell is, as messages say it."""
        return f"{self.path}, line {self.first + row}, column {name}"

    def column(self, name: str) -> pl.Series:
        """A column by its name, without the spaces around it."""
        if name not in self.names:
            raise InputError(
                f"{self.path} must have a column {name!r}; it has {', '.join(self.names)[:200]}"
            )
        return self.frame.to_series(self.names.index(name))

    def texts(self, name: str) -> list[str]:
        """The cells of a column as text, without spaces around them; "" where empty."""
        cells = self.column(name).to_list()
        return ["" if cell is None else str(cell).strip() for cell in cells]

    def head(self, rows: int) -> Sheet:
        """The first rows."""
        return Sheet(self.path, self.names, self.frame.head(rows), self.first)

    def filled(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Columns as numbers; an empty cell takes the value above it, or 0 where there is none."""
        import polars as pl

        values = np.empty((len(self), len(names)), np.float32)
        for place, name in enumerate(names):
            column = self.column(name)
            if not column.dtype.is_numeric() and column.dtype != pl.Null:
                column = self._parsed(name, column)
            numbers = column.cast(pl.Float64).fill_nan(None).forward_fill().fill_null(0)
            values[:, place] = numbers.to_numpy()
        if not np.isfinite(values).all():
            row, place = np.argwhere(~np.isfinite(values))[0]
            raise InputError(f"{self.place(int(row), names[place])} must be a finite number")
        return values

    def _parsed(self, name: str, column: pl.Series) -> pl.Series:
        """A column of text as numbers."""
        import polars as pl

        text = column.cast(pl.String).str.strip_chars()
        numbers = text.cast(pl.Float64, strict=False)
        bad = (numbers.is_null() & text.is_not_null() & ~text.is_in(list(MISSING))).arg_true()
        if len(bad):
            row = int(bad[0])
            raise InputError(f"{self.place(row, name)} must be a number; got {text[row][:40]!r}")
        return numbers


def read_sheet(path: Path, is_header: IsHeader, what: str, text: Sequence[str] = ()) -> Sheet:
    """The rows of a CSV file or of an Excel workbook's first sheet.

    Separator, decimal comma and the line of the header are detected.

    Parameters
    ----------
    path
        The file; `.xlsx` is a workbook.
    is_header
        Whether some cells, without spaces around them, are the header.
    what
        The header in words, for messages.
    text
        Columns that are no numbers.
    """
    if not path.is_file():
        raise DataNotFound(f"{path} is not there")
    if path.suffix.lower() == ".xlsx":
        return _read_workbook(path, is_header, what)
    lines = _head(path)
    for number, line in enumerate(lines, start=1):
        for separator in (",", ";", "\t"):
            names = tuple(cell.strip() for cell in next(csv.reader([line], delimiter=separator)))
            if is_header(names):
                comma = separator != "," and any(
                    _DECIMAL_COMMA.fullmatch(cell.strip())
                    for row in lines[number:]
                    for cell in row.split(separator)
                )
                return _read_csv(path, names, number, separator, comma, text)
    raise _no_header(path, what)


def _head(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [line.rstrip("\r\n") for line in islice(file, HEAD_LINES)]
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be text; it is not: export it as CSV in UTF-8") from error


def _no_header(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} must have a header with {what} in its first {HEAD_LINES} lines; there is none"
    )


def _read_csv(
    path: Path,
    names: tuple[str, ...],
    header: int,
    separator: str,
    comma: bool,
    text: Sequence[str],
) -> Sheet:
    import polars as pl

    _check_widths(path, header, separator, len(names))
    options: dict[str, Any] = {
        "has_header": False,
        "skip_lines": header,
        "separator": separator,
        "null_values": list(MISSING),
        "truncate_ragged_lines": True,
    }
    columns = [str(number) for number in range(len(names))]
    kinds = [pl.String if name in text else pl.Float64 for name in names]
    try:
        frame = pl.read_csv(
            path, schema=dict(zip(columns, kinds, strict=True)), decimal_comma=comma, **options
        )
    except pl.exceptions.NoDataError as error:
        raise InputError(f"{path} must have rows below its header; there are none") from error
    except pl.exceptions.PolarsError:
        # once more as text, to find out which cell is no number, or has spaces around it
        frame = pl.read_csv(path, schema=dict.fromkeys(columns, pl.String), **options)
        if comma:
            frame = frame.select(
                pl.all().str.replace(r"^\s*(-?\d+),(\d+)\s*$", "${1}.${2}", literal=False)
            )
    if frame.is_empty():
        raise InputError(f"{path} must have rows below its header; there are none")
    return Sheet(path, names, frame, header + 1)


def _check_widths(path: Path, header: int, separator: str, width: int) -> None:
    """Refuse the first line of another width: a file that was cut off, as a rule."""
    mark = separator.encode()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if number <= header or line.count(mark) == width - 1 or not line.strip():
                continue
            cells = len(next(csv.reader([line.decode("utf-8", "replace")], delimiter=separator)))
            if cells != width:
                raise InputError(
                    f"{path}, line {number} must have {width} cells, as the header has; "
                    f"got {cells}: get the file again"
                )


def _read_workbook(path: Path, is_header: IsHeader, what: str) -> Sheet:
    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{path} needs the package fastexcel: install the extra subadjacent[datasets], "
            "or export the sheet as CSV"
        ) from error
    try:
        book = fastexcel.read_excel(path)
        top = book.load_sheet(0, header_row=None, n_rows=HEAD_LINES, dtypes="string").to_polars()
        for number, row in enumerate(top.rows(), start=1):
            names = tuple(str(cell or "").strip() for cell in row)
            if is_header(names):
                columns = [str(place) for place in range(len(names))]
                # a column's type is that of all its cells: what does not fit the first ones would
                # come as empty, or be cut to a whole number
                sheet = book.load_sheet(
                    0,
                    header_row=None,
                    skip_rows=number,
                    column_names=columns,
                    schema_sample_rows=None,
                ).to_polars()
                return Sheet(path, names, sheet, number + 1)
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0][:100]
        raise InputError(
            f"{path} is not a workbook that can be read ({reason}): get it again"
        ) from error
    raise _no_header(path, what)
