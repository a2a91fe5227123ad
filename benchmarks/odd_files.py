"""Files that someone damaged, packed or made up: each is read, or refused with one sentence.

    python benchmarks/odd_files.py --each 20 --jobs 2 --output benchmarks/reports/odd_files.csv

A small table is written as people have it (CSV, with semicolons, Latin-1, UTF-16, Parquet, packed)
and then spoiled at random: cut off, bytes changed, lines repeated or torn, cells replaced by odd
ones. The real command fits a model on each, with a limit on memory and time. It must end with 0 or
1, without a traceback, and leave a whole model or nothing at all.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import io
import lzma
import random
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

ROWS = 120
# bytes of address space, and seconds; a whole file takes a second and a few hundred MB
MEMORY, SECONDS = 6 << 30, 120
ODD_CELLS = (
    "", "NaN", "inf", "-inf", "1e400", "1e308", "-", "#N/A", "Bad Input", "1,5", "1.234.567",
    "\N{MINUS SIGN}3", "\N{FULLWIDTH DIGIT ONE}", "0x1F", "=cmd|' /C calc'!A0", "\x1b[2J", "\x00",
    '"', "'", ";", "é", "2024-13-45", "99999999999999999999", "true", "normal",
)  # fmt: skip
OUTCOMES = ("fitted", "refused", "unhandled", "time", "left-overs")


def table(rng: random.Random) -> list[list[str]]:
    """A header and rows of a time and three channels."""
    begin = datetime(2024, 1, 31)
    rows = [
        [str(begin + timedelta(minutes=row)), *(f"{rng.gauss(10, 3):.3f}" for _ in range(3))]
        for row in range(ROWS)
    ]
    return [["time", "flow", "heat", "load"], *rows]


def text_of(rows: list[list[str]], separator: str = ",") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def binary(rows: list[list[str]], write: str) -> bytes:
    """The same table; cells that are no numbers make a column of text."""
    columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    kept: dict[str, list[str] | list[float]] = {}
    for name, cells in columns.items():
        try:
            kept[name] = [float(cell) for cell in cells]
        except ValueError:
            kept[name] = list(cells)
    stream = io.BytesIO()
    getattr(pl.DataFrame(kept), write)(stream)
    return stream.getvalue()


def zipped(rows: list[list[str]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", text_of(rows))
    return stream.getvalue()


FORMS: dict[str, tuple[str, Callable[[list[list[str]]], bytes]]] = {
    "CSV": (".csv", lambda rows: text_of(rows).encode()),
    "semicolons, Latin-1": (".csv", lambda rows: text_of(rows, ";").encode("latin-1", "replace")),
    "tabs, UTF-16": (".txt", lambda rows: text_of(rows, "\t").encode("utf-16")),
    "gzip": (".csv.gz", lambda rows: gzip.compress(text_of(rows).encode())),
    "bzip2": (".csv.bz2", lambda rows: bz2.compress(text_of(rows).encode())),
    "xz": (".csv.xz", lambda rows: lzma.compress(text_of(rows).encode())),
    "zip": (".zip", zipped),
    "Parquet": (".parquet", lambda rows: binary(rows, "write_parquet")),
    "Arrow": (".arrow", lambda rows: binary(rows, "write_ipc")),
}


def odd_cells(rows: list[list[str]], rng: random.Random) -> list[list[str]]:
    """With some cells, the header's too, replaced by odd ones."""
    for _ in range(rng.choice((1, 1, 5, 60))):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(ODD_CELLS)
    return rows


def torn_rows(rows: list[list[str]], rng: random.Random) -> list[list[str]]:
    """With rows repeated, swapped, shortened, or lines put in between."""
    for _ in range(rng.choice((1, 1, 4))):
        at = rng.randrange(len(rows))
        change = rng.choice(("repeat", "swap", "short", "title", "units"))
        if change == "repeat":
            rows.insert(at, list(rows[at]))
        elif change == "swap":
            rows[at], rows[-1] = rows[-1], rows[at]
        elif change == "short":
            rows[at] = rows[at][: rng.randrange(len(rows[at]) + 1)]
        else:
            rows.insert(1, ["# written by hand"] if change == "title" else ["", "m3/h", "°C", "%"])
    return rows


def cut_off(data: bytes, rng: random.Random) -> bytes:
    """Without its end."""
    return data[: rng.randrange(len(data))]


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """With some bytes changed."""
    spoiled = bytearray(data)
    for _ in range(rng.choice((1, 3, 50))):
        spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
    return bytes(spoiled)


def made(form: str, number: int) -> bytes:
    """The file of a number: the same whenever it is made."""
    rng = random.Random(f"{form} {number}")
    rows = table(rng)
    # binary files have no torn rows
    of_rows = (odd_cells,) if form in ("Parquet", "Arrow") else (odd_cells, torn_rows)
    spoil = rng.choice((*of_rows, cut_off, changed_bytes))
    if spoil in of_rows:
        rows = spoil(rows, rng)
    data = FORMS[form][1](rows)
    return data if spoil in of_rows else spoil(data, rng)


def attempt(form: str, number: int) -> str:
    """What comes of fitting on one file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = f"odd{FORMS[form][0]}"
        (folder / name).write_bytes(made(form, number))
        command = [sys.executable, "-m", "subadjacent.cli.start", "fit", name, "-o", "model"]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace",
                timeout=SECONDS, preexec_fn=_limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "time"
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            return "unhandled"
        expected = {name, "model"} if done.returncode == 0 else {name}
        if {file.name for file in folder.iterdir()} != expected:
            return "left-overs"
        return "refused" if done.returncode else "fitted"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Write a row for each form of file, and print those that ended otherwise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=20, help="files of each form")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {form: Counter() for form in options.forms}
    wanted = [(form, number) for form in options.forms for number in range(options.each)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for (form, number), outcome in zip(
            wanted, pool.map(lambda one: attempt(*one), wanted), strict=True
        ):
            counts[form][outcome] += 1
            if outcome not in ("fitted", "refused"):
                print(f"{form} {number}: {outcome}", flush=True)
    with options.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["form", "files", *OUTCOMES])
        for form, found in counts.items():
            writer.writerow([form, found.total(), *(found[outcome] for outcome in OUTCOMES)])


if __name__ == "__main__":
    main()
