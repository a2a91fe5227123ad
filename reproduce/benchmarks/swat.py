"""SWaT as iTrust sends it: two workbooks, or the CSV files that people make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from reproduce.benchmarks.sheets import Sheet, read_sheet
from subadjacent.errors import InputError

TIME, LABEL = "Timestamp", "Normal/Attack"
TRAIN, TEST = "SWaT_Dataset_Normal_v1", "SWaT_Dataset_Attack_v0"


def read_swat(folder: Path, source: Source, *, suffix: str) -> Benchmark:
    """`SWaT_Dataset_Normal_v1` and `SWaT_Dataset_Attack_v0`, `.xlsx` or `.csv`.

    A first row of stage names is skipped, spaces around names are dropped, and everything but
    `Normal` in the last column is an attack: `A ttack` occurs.
    """
    train, test = (_sheet(folder / f"{name}{suffix}", source) for name in (TRAIN, TEST))
    names = _sensors(train)
    if names != _sensors(test):
        raise InputError(f"{test.path} must have the columns of {train.path}, in their order")
    words = test.texts(LABEL)
    if "" in words:
        raise InputError(f"{test.place(words.index(''), LABEL)} must say Normal or Attack")
    labels = np.array([text != "Normal" for text in words])
    return assemble(
        source,
        folder,
        [train.filled(names)],
        [test.filled(names)],
        [labels],
        channels=tuple(names),
    )


def _sheet(path: Path, source: Source) -> Sheet:
    sheet = read_sheet(
        path,
        lambda cells: TIME in cells and LABEL in cells,
        f"{TIME} and {LABEL}",
        text=(TIME, LABEL),
    )
    if len(sensors := _sensors(sheet)) != source.channels:
        raise InputError(
            f"{path}, line {sheet.first - 1} must name {source.channels} sensors between {TIME} "
            f"and {LABEL}; got {len(sensors)}: get it again"
        )
    return sheet


def _sensors(sheet: Sheet) -> list[str]:
    return [name for name in sheet.names if name not in (TIME, LABEL, "")]
