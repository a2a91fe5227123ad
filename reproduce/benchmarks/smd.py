"""SMD as published: folders of text files, one for each machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from reproduce.benchmarks.benchmark import Benchmark, Source, assemble
from subadjacent.errors import DataNotFound, InputError

FOLDERS = ("train", "test", "test_label")
_NAME = re.compile(r"machine-(\d+)-(\d+)")


def read_machines(folder: Path, source: Source) -> Benchmark:
    """`{train,test,test_label}/machine-G-I.txt`, comma-separated, without a header.

    Every machine that is there is read, in the order of group and number.
    """
    names = {
        file.stem
        for split in FOLDERS
        for file in (folder / split).iterdir()
        if _name(file) is not None
    }
    machines = sorted(names, key=_number)
    if not machines:
        raise DataNotFound(f"{folder} has no file such as train/machine-1-1.txt")
    for file in (folder / split / f"{name}.txt" for name in machines for split in FOLDERS):
        if not file.is_file():
            raise DataNotFound(f"{file} is not there, but others of its machine are: get it again")
    return assemble(
        source,
        folder,
        [read_numbers(folder / "train" / f"{name}.txt", source.channels) for name in machines],
        [read_numbers(folder / "test" / f"{name}.txt", source.channels) for name in machines],
        [read_numbers(folder / "test_label" / f"{name}.txt", 1)[:, 0] for name in machines],
        entities=machines,
    )


def _name(file: Path) -> re.Match[str] | None:
    return _NAME.fullmatch(file.stem) if file.suffix == ".txt" else None


def _number(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split("-")[1:]))


def read_numbers(path: Path, width: int) -> NDArray[np.float32]:
    """Lines of ``width`` finite numbers with commas between them; the first bad one is named."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be text; it is not: get it again") from error
    if not text.strip():
        raise InputError(f"{path} must have lines of {width} numbers; it is empty: get it again")
    try:
        values = np.loadtxt(
            text.splitlines(), dtype=np.float32, delimiter=",", ndmin=2, comments=None
        )
    except ValueError as error:
        _refuse_first_bad(path, text, width, error)
    if values.shape[1] != width or not np.isfinite(values).all():
        _refuse_first_bad(path, text, width)
    return values


def _refuse_first_bad(
    path: Path, text: str, width: int, error: Exception | None = None
) -> NoReturn:
    """Name the first line that breaks the rule; slow, and only called when one does."""
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split(",")
        if line.strip() and len(cells) != width:
            raise InputError(
                f"{path}, line {number} must have {width} numbers; got {len(cells)}: get it again"
            ) from error
        for column, cell in enumerate(cells if line.strip() else (), start=1):
            try:
                finite = np.isfinite(float(cell))
            except ValueError:
                finite = False
            if not finite:
                raise InputError(
                    f"{path}, line {number}, column {column} must be a finite number; "
                    f"got {cell[:40]!r}: get it again"
                ) from error
    raise InputError(f"{path} must have lines of {width} numbers: get it again") from error
