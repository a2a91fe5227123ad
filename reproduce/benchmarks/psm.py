"""PSM as eBay published it: three CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from reproduce.benchmarks.sheets import Sheet, read_sheet
from subadjacent.errors import InputError

TIME = "timestamp_(min)"


def read_psm(folder: Path, source: Source) -> Benchmark:
    """`train.csv`, `test.csv` and `test_label.csv`, each with the minute in the first column.

    An empty cell takes the value above it, or 0 where there is none.
    """
    train, test = (_features(folder / f"{split}.csv", source) for split in ("train", "test"))
    labels = read_sheet(folder / "test_label.csv", lambda cells: "label" in cells, "label")
    if len(labels) != len(test):
        raise InputError(
            f"{labels.path} must have a label for each of the {len(test)} rows of {test.path}; "
            f"got {len(labels)}: get both again"
        )
    minutes, known = test.filled([TIME])[:, 0], labels.filled([TIME, "label"])
    if (apart := minutes != known[:, 0]).any():
        row = int(apart.argmax())
        raise InputError(
            f"{labels.place(row, TIME)} must be the minute of that row of {test.path}, "
            f"{minutes[row]:g}; got {known[row, 0]:g}: get both again"
        )
    if not (right := np.isin(known[:, 1], (0, 1))).all():
        row = int(right.argmin())
        raise InputError(f"{labels.place(row, 'label')} must be 0 or 1; got {known[row, 1]:g}")
    names = _names(train)
    return assemble(
        source,
        folder,
        [train.filled(names)],
        [test.filled(names)],
        [known[:, 1]],
        channels=tuple(names),
    )


def _features(path: Path, source: Source) -> Sheet:
    sheet = read_sheet(path, lambda cells: TIME in cells, TIME)
    expected = [f"feature_{number}" for number in range(source.channels)]
    if (names := _names(sheet)) != expected:
        raise InputError(
            f"{path}, line {sheet.first - 1} must name {TIME} and the {len(expected)} columns "
            f"{expected[0]} to {expected[-1]}; got {len(names)} columns: get it again"
        )
    return sheet


def _names(sheet: Sheet) -> list[str]:
    return [name for name in sheet.names if name != TIME]
