"""SWaT as iTrust sends it: two workbooks, or the CSV files that people make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from subadjacent.data.benchmarks.benchmark import Benchmark, Source, assemble
from subadjacent.data.benchmarks.tables import FileTable, read_table
from subadjacent.errors import InputError

TIME, LABEL = "Timestamp", "Normal/Attack"
TRAIN, TEST = "SWaT_Dataset_Normal_v1", "SWaT_Dataset_Attack_v0"


def read_swat(folder: Path, source: Source, *, suffix: str) -> Benchmark:
    """`SWaT_Dataset_Normal_v1` and `SWaT_Dataset_Attack_v0`, `.xlsx` or `.csv`.

    A first row of stage names is passed over, spaces around names are dropped, and anything
    but `Normal` in the last column is an attack: `A ttack` occurs.
    """
    train, test = (_table(folder / f"{name}{suffix}", source) for name in (TRAIN, TEST))
    names = _sensors(train)
    if names != _sensors(test):
        raise InputError(f"{test.path} must have the columns of {train.path}, in their order")
    said = test.texts(LABEL)
    if "" in said:
        raise InputError(f"{test.place(said.index(''), LABEL)} must say Normal or Attack")
    labels = np.array([text != "Normal" for text in said])
    return assemble(
        source,
        folder,
        [train.filled(names)],
        [test.filled(names)],
        [labels],
        channels=tuple(names),
    )


def _table(path: Path, source: Source) -> FileTable:
    table = read_table(
        path,
        lambda cells: TIME in cells and LABEL in cells,
        f"{TIME} and {LABEL}",
        text=(TIME, LABEL),
    )
    if len(found := _sensors(table)) != source.channels:
        raise InputError(
            f"{path}, line {table.first - 1} must name {source.channels} sensors between {TIME} "
            f"and {LABEL}; got {len(found)}: get it again"
        )
    return table


def _sensors(table: FileTable) -> list[str]:
    return [name for name in table.names if name not in (TIME, LABEL, "")]
