"""WADI as iTrust sends it, in the version of 2017 (A1) and in that of 2019 (A2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduce.benchmarks.attacks import attack_labels
from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from reproduce.benchmarks.sheets import Sheet, read_sheet
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
    train = _sheet(folder / "WADI_14days.csv")
    test = _sheet(folder / "WADI_attackdata.csv")
    labels = attack_labels(folder / ATTACKS, test, DATE, TIME)
    return _benchmark(folder, source, train, test, labels)


def read_wadi_2019(folder: Path, source: Source) -> Benchmark:
    """`WADI_14days_new.csv` and `WADI_attackdataLABLE.csv`, whose last two rows are empty."""
    train = _sheet(folder / "WADI_14days_new.csv")
    test = _sheet(folder / "WADI_attackdataLABLE.csv")
    marks = test.texts(LABEL)
    rows = len(marks)
    while rows and not marks[rows - 1]:
        rows -= 1
    meaning = {"1": 0, "1.0": 0, "-1": 1, "-1.0": 1}
    for row, text in enumerate(marks[:rows]):
        if text not in meaning:
            raise InputError(f"{test.place(row, LABEL)} must be 1 or -1; got {text!r}")
    labels = np.array([meaning[text] for text in marks[:rows]], np.uint8)
    return _benchmark(folder, source, train, test.head(rows), labels)


def _sheet(path: Path) -> Sheet:
    sheet = read_sheet(
        path,
        lambda cells: tuple(cells[:3]) == (ROW, DATE, TIME),
        f"{ROW}, {DATE} and {TIME}",
        text=(DATE, TIME),
    )
    names = tuple(name.rpartition("\\")[2].strip() for name in sheet.names)
    return Sheet(path, names, sheet.frame, sheet.first)


def _benchmark(
    folder: Path, source: Source, train: Sheet, test: Sheet, labels: np.ndarray
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


def _sensors(sheet: Sheet, source: Source) -> list[str]:
    """The sensors without the four that are empty throughout."""
    no_sensors = (ROW, DATE, TIME, LABEL, "", *EMPTY)
    names = [name for name in sheet.names if name not in no_sensors]
    if len(names) != source.channels:
        raise InputError(
            f"{sheet.path}, line {sheet.first - 1} must name {source.channels} sensors besides "
            f"{', '.join(EMPTY)}; got {len(names)}: get it again"
        )
    return names
