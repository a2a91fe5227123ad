"""The body of a request as rows of numbers: JSON, a JSON object a line, CSV, Parquet.

Shapes: B rows, C channels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.data.documents import RepeatedKeyError, read_json
from subadjacent.data.files import ENTITY, TIME, Columns, open_files
from subadjacent.data.names import LABEL_NAMES, TIME_NAMES
from subadjacent.errors import InputError
from subadjacent.service.body_limits import check_cells, check_table
from subadjacent.service.problems import Refusal
from subadjacent.service.times import TimeKind, check_dates, read_times

JSON, LINES, CSV, PARQUET = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.parquet",
)
TABLES = (CSV, PARQUET)
MAX_NAME_LENGTH = 200
"""Characters of the name of a channel, a series or a model."""


@dataclass(frozen=True, slots=True, eq=False)
class RowBatch:
    """Rows of one request, in the order of their times.

    ``left_out`` names columns that are not channels of the series, such as labels.
    """

    channels: tuple[str, ...]
    values: NDArray[np.float64]  # (B, C), NaN where a value is missing
    times: list[float] | None
    kind: TimeKind
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: slice) -> RowBatch:
        """Some of the rows."""
        times = None if self.times is None else self.times[rows]
        return replace(self, values=np.array(self.values[rows]), times=times)

    def of_channels(self, channels: tuple[str, ...]) -> RowBatch:
        """The same rows with these channels, in their order."""
        if channels == self.channels:
            return self
        values = np.full((len(self), len(channels)), np.nan)
        places = {channel: place for place, channel in enumerate(self.channels)}
        for place, channel in enumerate(channels):
            if channel in places:
                values[:, place] = self.values[:, places[channel]]
        known = set(channels)
        unknown = tuple(name for name in self.channels if name not in known)
        if len(unknown) == len(self.channels):
            raise InputError.of(
                "rows",
                f"must have channels of the series ({', '.join(channels[:5])})",
                f"got {', '.join(unknown[:5])}",
            )
        return replace(self, channels=channels, values=values, left_out=self.left_out + unknown)


def read_rows(
    body: bytes, media_type: str, *, max_rows: int, max_columns: int, folder: Path
) -> RowBatch:
    """The rows of a body; ``folder`` takes a table while it is read."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind in (JSON, ""):
        found = _records(_json(body, "the body"))
        return _in_order(_from_records(found, max_rows, max_columns))
    if kind == LINES:
        lines = [(n, line) for n, line in enumerate(body.splitlines(), 1) if line.strip()]
        _check_count(len(lines), max_rows)
        found = [_json(line, f"line {n}") for n, line in lines]
        return _in_order(_from_records(found, max_rows, max_columns))
    if kind in TABLES:
        # readers take files; this one is deleted in any case, also where the disk is full before it
        # is whole
        with tempfile.TemporaryDirectory(dir=folder, prefix="body-") as scratch:
            table = Path(scratch, "table")
            table.write_bytes(body)
            check_table(table, max_rows=max_rows, max_columns=max_columns)
            return read_table(table, max_rows=max_rows)
    raise unknown_type(kind)


def unknown_type(kind: str, known: Sequence[str] = (JSON, LINES, *TABLES)) -> Refusal:
    """The refusal of a content type that cannot be read."""
    return Refusal(415, f"Content-Type must be {' or '.join(known)}; got {kind[:100]!r}")


def read_table(path: Path, *, max_rows: int) -> RowBatch:
    """The rows of a CSV or Parquet file; messages call it "the body"."""
    import polars as pl

    try:
        rows = open_files([str(path)], Columns())
        # labels are not even read
        frame = rows.whole(labels="skip").frame
    except InputError as error:
        raise InputError(str(error).replace(str(path), "the body")) from error
    _check_count(len(frame), max_rows)
    if ENTITY in frame.columns:
        if frame[ENTITY].n_unique() > 1:
            raise InputError.of(
                "the body", "must hold one series", f"column {rows.entity!r} names several"
            )
        frame = frame.drop(ENTITY)
    times, kind = None, TimeKind.none
    if TIME in frame.columns:
        column = frame[TIME]
        if column.dtype.is_numeric():
            times, kind = column.cast(pl.Float64).to_list(), TimeKind.number
        else:
            zone = getattr(column.dtype, "time_zone", None)
            times = (column.cast(pl.Datetime("us", zone)).dt.epoch("us") / 1e6).to_list()
            kind = TimeKind.local if zone is None else TimeKind.utc
        frame = frame.drop(TIME)
    values = frame.to_numpy().astype(np.float64)
    left_out = () if rows.label is None else (rows.label,)
    return _in_order(_checked(RowBatch(tuple(frame.columns), values, times, kind, left_out)))


def _json(text: bytes, where: str) -> Any:
    try:
        # editors and shells of Windows put a mark before text
        return read_json(text.decode("utf-8-sig"))
    except RepeatedKeyError as error:
        raise InputError.of(where, "must name every key of an object once", str(error)) from error
    except (ValueError, RecursionError) as error:
        raise InputError.of(where, "must be JSON", str(error)[:200]) from error


def _records(document: Any) -> Any:
    return document.get("rows") if isinstance(document, dict) else document


def _from_records(records: Any, max_rows: int, max_columns: int) -> RowBatch:
    """Rows of JSON objects: one key is the time, all others are channels."""
    if not isinstance(records, list) or not all(isinstance(row, dict) for row in records):
        raise InputError.of(
            "the body",
            'must be a list of rows, or an object with one: {"rows": [{"time": 1, "a": 2.5}]}',
        )
    _check_count(len(records), max_rows)
    names: dict[str, None] = {}
    for row in records:
        names |= dict.fromkeys(row)
    check_cells(len(records), len(names), max_columns)
    time = _time_name(names)
    left_out = tuple(name for name in names if name.strip().lower() in LABEL_NAMES)
    channels = tuple(name for name in names if name != time and name not in left_out)
    for name in channels:
        check_name("a channel's name", name, is_in_address=False)
    times, kind = None, TimeKind.none
    if time is not None:
        if any(time not in row for row in records):
            raise InputError.of("rows", "must have a time each, or none", "some have none")
        times, kind = read_times([row[time] for row in records])
    cells = (_number(row, name) for row in records for name in channels)
    values = np.fromiter(cells, np.float64, len(records) * len(channels))
    return _checked(RowBatch(channels, values.reshape(len(records), -1), times, kind, left_out))


def _time_name(names: Mapping[str, None]) -> str | None:
    found = [name for name in names if name.strip().lower() in TIME_NAMES]
    if len(found) > 1:
        rule = "must have one time"
        raise InputError.of("rows", rule, f"got {', '.join(found)}", "rename the others")
    return found[0] if found else None


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    if value is None:
        return np.nan
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InputError.of(
            f"channel {name!r}", "must hold numbers, or null", f"got {str(value)[:50]!r}"
        )
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _checked(batch: RowBatch) -> RowBatch:
    """Refuse rows without channels and values that are too large; infinite ones are missing."""
    if not batch.channels:
        raise InputError.of("rows", "must have a channel beside the time", "got none")
    check_dates(batch.times, batch.kind)
    values = batch.values
    values[~np.isfinite(values)] = np.nan
    large = np.abs(values) > LARGEST
    if large.any():
        row, column = (int(place) for place in np.argwhere(large)[0])
        raise InputError.of(
            f"channel {batch.channels[column]!r}",
            f"must not exceed {LARGEST:g} in magnitude",
            f"got {values[row, column]:g} in row {row}",
        )
    return batch


def _in_order(batch: RowBatch) -> RowBatch:
    if batch.times is None or all(
        a <= b for a, b in zip(batch.times, batch.times[1:], strict=False)
    ):
        return batch
    order = np.argsort(batch.times, kind="stable")
    return replace(batch, values=batch.values[order], times=[batch.times[place] for place in order])


def _check_count(count: int, most: int) -> None:
    if count > most:
        raise Refusal(
            413, f"a request may hold {most:,} rows; this one has {count:,}: send it in parts"
        )
    if not count:
        raise InputError.of("rows", "must be at least one", "got none")


def check_name(what: str, name: str, *, is_in_address: bool = True) -> None:
    """Refuse a name that cannot be shown, or be part of an address."""
    has_slash = is_in_address and "/" in name
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable() or has_slash:
        without = " without '/'" if is_in_address else ""
        raise InputError.of(
            what,
            f"must be 1 to {MAX_NAME_LENGTH} visible characters{without}",
            f"got {name[:50]!r}",
        )


def check_series_name(name: str) -> None:
    """Refuse a name that looks like another in an address or to a reader."""
    check_name("the name of a series", name)
    # browsers take dots out of an address, nobody sees a space at an end, and all that is not UTF-8
    # in an address reads as the same mark
    if name in (".", "..") or name != name.strip() or "\ufffd" in name:
        raise InputError.of(
            "the name of a series",
            "must be UTF-8 and more than dots, without spaces at its ends",
            f"got {name[:50]!r}",
        )
