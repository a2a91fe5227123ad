"""WADI as iTrust sends it, in the version of 2017 (A1) and in that of 2019 (A2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from subadjacent.data.benchmarks.attacks import attack_labels
from subadjacent.data.benchmarks.benchmark import Benchmark, Source, assemble
from subadjacent.data.benchmarks.tables import FileTable, read_table
from subadjacent.errors import DataNotFound, InputError

ROW, DATE, TIME = "Row", "Date", "Time"
LABEL = "Attack LABLE (1:No Attack, -1:Attack)"
EMPTY = ("2_LS_001_AL", "2_LS_002_AL", "2_P_001_STATUS", "2_P_002_STATUS")
ATTACKS = "WADI_attacks.csv"


def read_wadi_2017(folder: Path, source: Source) -> Benchmark:
    r"""`WADI_14days.csv`, `WADI_attackdata.csv`, and a table of attacks.

    The long `\\…\LOG_DATA\` before each sensor's name is dropped. The files have no label
    column: `WADI_attacks.csv` (columns date, start, end) says when attacks went on.
    """
    if not (folder / ATTACKS).is_file():
        raise DataNotFound(
            f"{folder / ATTACKS} is not there: the files of 2017 have no labels, so copy date, "
            "start and end of every attack from iTrust's table into a CSV file of that name, "
            "with the header date,start,end and lines such as 2017-10-09,19:25:00,19:50:16"
        )
    train = _table(folder / "WADI_14days.csv")
    test = _table(folder / "WADI_attackdata.csv")
    labels = attack_labels(folder / ATTACKS, test, DATE, TIME)
    return _benchmark(folder, source, train, test, labels)


def read_wadi_2019(folder: Path, source: Source) -> Benchmark:
    """`WADI_14days_new.csv` and `WADI_attackdataLABLE.csv`, whose last two rows are empty."""
    train = _table(folder / "WADI_14days_new.csv")
    test = _table(folder / "WADI_attackdataLABLE.csv")
    said = test.texts(LABEL)
    rows = len(said)
    while rows and not said[rows - 1]:
        rows -= 1
    meaning = {"1": 0, "1.0": 0, "-1": 1, "-1.0": 1}
    for row, text in enumerate(said[:rows]):
        if text not in meaning:
            raise InputError(f"{test.place(row, LABEL)} must be 1 or -1; got {text!r}")
    labels = np.array([meaning[text] for text in said[:rows]], np.uint8)
    return _benchmark(folder, source, train, test.head(rows), labels)


def _table(path: Path) -> FileTable:
    table = read_table(
        path,
        lambda cells: tuple(cells[:3]) == (ROW, DATE, TIME),
        f"{ROW}, {DATE} and {TIME}",
        text=(DATE, TIME),
    )
    names = tuple(name.rpartition("\\")[2].strip() for name in table.names)
    return FileTable(path, names, table.frame, table.first)


def _benchmark(
    folder: Path, source: Source, train: FileTable, test: FileTable, labels: np.ndarray
) -> Benchmark:
    names = _sensors(train, source)
    if names != _sensors(test, source):
        raise InputError(f"{test.path} must have the columns of {train.path}, in their order")
    return assemble(
        source,
        folder,
        [train.filled(names)],
        [test.filled(names)],
        [labels],
        channels=tuple(names),
    )


def _sensors(table: FileTable, source: Source) -> list[str]:
    """The sensors less those four that were never filled."""
    others = (ROW, DATE, TIME, LABEL, "", *EMPTY)
    names = [name for name in table.names if name not in others]
    if len(names) != source.channels:
        raise InputError(
            f"{table.path}, line {table.first - 1} must name {source.channels} sensors besides "
            f"{', '.join(EMPTY)}; got {len(names)}: get it again"
        )
    return names
