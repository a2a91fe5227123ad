"""Tables as people export them, read by three libraries with their own detection and by this one.

    pip install duckdb pandas
    python benchmarks/table_readers.py --output benchmarks/reports/table_readers.csv

Every kind of file holds the same times and channels. A reader is called without any hint. It is
"right" where it returns the times as times and the channels as numbers, "text times" where the
channels are right and the times are left as text, "wrong" where numbers or rows differ
although nothing was said, and "refused" where it raises an error.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

BEGIN = datetime(2024, 1, 20)
MOMENTS = [BEGIN + timedelta(hours=6 * row) for row in range(60)]
NAMES = ("flow", "heat")
VALUES = np.round(np.random.default_rng(0).normal(1500, 300, (len(MOMENTS), 2)), 2)
VALUES[7, 1] = np.nan


def text(
    separator: str = ",",
    *,
    header: str | None = "time,flow,heat",
    time: str = "%Y-%m-%d %H:%M:%S",
    number: Callable[[float], str] = str,
    missing: str = "",
    above: str = "",
    below: str = "",
    after: str = "",
    quote: str = "",
) -> str:
    """The table as text."""
    lines = [] if header is None else [header.replace(",", separator)]
    for moment, row in zip(MOMENTS, VALUES, strict=True):
        cells = [missing if np.isnan(value) else number(float(value)) for value in row]
        # strftime would count seconds from the zone of this machine
        seconds = str(int(moment.replace(tzinfo=UTC).timestamp()))
        written = [moment.strftime(time.replace("%s", seconds)), *cells]
        lines.append(separator.join(f"{quote}{cell}{quote}" for cell in written))
    lines[1:1] = [below] if below else []
    return above + "\n".join(lines) + "\n" + after


def frame() -> pl.DataFrame:
    return pl.DataFrame({"time": MOMENTS, **dict(zip(NAMES, VALUES.T, strict=True))})


def binary(write: str, **options: object) -> bytes:
    stream = io.BytesIO()
    getattr(frame(), write)(stream, **options)
    return stream.getvalue()


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table.csv", text())
    return stream.getvalue()


def ndjson() -> str:
    rows = zip(MOMENTS, VALUES.tolist(), strict=True)
    return "".join(
        json.dumps(
            {"time": str(moment), "flow": row[0], "heat": row[1] if row[1] == row[1] else None}
        )
        + "\n"
        for moment, row in rows
    )


def comma(value: float) -> str:
    return str(value).replace(".", ",")


def grouped(mark: str, point: str = ".") -> Callable[[float], str]:
    return lambda value: f"{value:,.2f}".replace(",", "_").replace(".", point).replace("_", mark)


KINDS: dict[str, tuple[str, str | bytes]] = {
    "CSV": (".csv", text()),
    "semicolons": (".csv", text(";")),
    "tabs": (".tsv", text("\t")),
    "bars": (".txt", text("|")),
    "several spaces": (".txt", text("   ", time="%Y-%m-%dT%H:%M:%S", missing="NaN")),
    "semicolons, decimal commas": (".csv", text(";", number=comma)),
    "decimal commas in quotes": (".csv", text(number=comma, quote='"')),
    "thousands by commas, in quotes": (".csv", text(number=grouped(","), quote='"')),
    "thousands by points": (".csv", text(";", number=grouped(".", ","))),
    "thousands by apostrophes": (".csv", text(number=grouped("'"))),
    "thousands by narrow spaces": (".csv", text(";", number=grouped("\u202f", ","))),
    "per cent": (".csv", text(number=lambda value: f"{value} %")),
    "everything in quotes": (".csv", text(quote='"')),
    "byte order mark": (".csv", text().encode("utf-8-sig")),
    "UTF-16": (".csv", text("\t").encode("utf-16")),
    "UTF-16 without a mark": (".csv", text("\t").encode("utf-16-le")),
    "Latin-1": (".csv", text(header="time,d\u00e9bit,heat").encode("latin-1")),
    "Windows line ends": (".csv", text().replace("\n", "\r\n")),
    "a title above": (".csv", text(above="Plant 7\nexported 2024\n")),
    "a title above, empty cells": (".csv", text(above="Plant 7,,\n,,\n")),
    "comment lines": (".csv", text(above="# plant 7\n# made by hand\n")),
    "a header behind #": (".csv", text(header="# time,flow,heat")),
    "no header": (".csv", text(header=None)),
    "a row of units": (".csv", text(below=",m3/h,\u00b0C")),
    "empty lines at the end": (".csv", text(after=",,\n,,\n\n")),
    "row numbers": (
        ".csv", "".join(f"{row or ''},{line}\n" for row, line in enumerate(text().splitlines()))
    ),
    "NA": (".csv", text(missing="NA")),
    "#N/A": (".csv", text(missing="#N/A")),
    "a dash for missing": (".csv", text(missing="-")),
    "ISO 8601 with Z": (".csv", text(time="%Y-%m-%dT%H:%M:%SZ")),
    "offset": (".csv", text(time="%Y-%m-%d %H:%M:%S+00:00")),
    "day first": (".csv", text(time="%d/%m/%Y %H:%M")),
    "day first with dots": (".csv", text(time="%d.%m.%Y %H:%M:%S")),
    "month first": (".csv", text(time="%m/%d/%Y %H:%M")),
    "AM and PM": (".csv", text(time="%m/%d/%Y %I:%M:%S %p")),
    "name of month": (".csv", text(time="%d %b %Y %H:%M")),
    "digits": (".csv", text(time="%Y%m%d%H%M%S")),
    "Unix seconds": (".csv", text(time="%s")),
    "date and clock in two columns": (
        ".csv", text(header="date,time,flow,heat", time="%d/%m/%Y,%H:%M:%S")
    ),
    "gzip": (".csv.gz", gzip.compress(text().encode())),
    "zip": (".zip", zipped()),
    "Parquet": (".parquet", binary("write_parquet")),
    "Arrow": (".arrow", binary("write_ipc")),
    "NDJSON": (".ndjson", ndjson()),
}  # fmt: skip


def read_polars(path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path)
    return (
        pl.read_ndjson(path)
        if path.suffix == ".ndjson"
        else pl.read_csv(path, try_parse_dates=True)
    )


def read_duckdb(path: Path) -> pl.DataFrame:
    import duckdb

    connection = duckdb.connect()
    if path.suffix == ".parquet":
        return connection.read_parquet(str(path)).pl()
    return (connection.read_json if path.suffix == ".ndjson" else connection.read_csv)(
        str(path)
    ).pl()


def read_pandas(path: Path) -> pl.DataFrame:
    import pandas as pd

    if path.suffix == ".parquet":
        return pl.from_pandas(pd.read_parquet(path))
    if path.suffix == ".arrow":
        return pl.from_pandas(pd.read_feather(path))
    if path.suffix == ".ndjson":
        return pl.from_pandas(pd.read_json(path, lines=True))
    return pl.from_pandas(pd.read_csv(path, sep=None, engine="python"))


def read_ours(path: Path) -> pl.DataFrame:
    from subadjacent.data.files import open_files

    return open_files([str(path)]).whole().frame


READERS = {"polars": read_polars, "duckdb": read_duckdb, "pandas": read_pandas, "ours": read_ours}


def outcome(reader: Callable[[Path], pl.DataFrame], path: Path) -> str:
    """How a reader fares with a file."""
    try:
        table = reader(path)
    except Exception:
        return "refused"
    channels = [column for column in table.get_columns() if column.dtype.is_numeric()]
    values = [column.cast(pl.Float64).fill_null(np.nan).to_numpy() for column in channels]
    if len(values) != 2 or not all(
        len(found) == len(expected) and np.array_equal(found, expected, equal_nan=True)
        for found, expected in zip(values, VALUES.T, strict=True)
    ):
        return "wrong"
    times = [column for column in table.get_columns() if isinstance(column.dtype, pl.Datetime)]
    if len(times) != 1 or len(table.columns) != 3:
        return "text times"
    found = times[0].dt.replace_time_zone(None).to_list()
    return "right" if found == MOMENTS else "wrong"


def main() -> None:
    """Write a row for each kind of file and reader."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = {name: Counter() for name in options.readers}
    with (
        warnings.catch_warnings(action="ignore"),
        tempfile.TemporaryDirectory() as folder,
        options.output.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", *options.readers])
        for number, (kind, (suffix, content)) in enumerate(KINDS.items()):
            path = Path(folder, f"{number}{suffix}")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            found = {name: outcome(READERS[name], path) for name in options.readers}
            for name, result in found.items():
                totals[name][result] += 1
            writer.writerow([kind, *found.values()])
        shares = [f"{counts['right']} of {len(KINDS)}" for counts in totals.values()]
        writer.writerow(["all right", *shares])
    for name, counts in totals.items():
        print(name, dict(counts))


if __name__ == "__main__":
    main()
