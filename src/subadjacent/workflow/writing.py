"""Files are written whole or not at all: no interruption leaves one half-written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from subadjacent import durable
from subadjacent.errors import InputError, SubAdjacentError

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.detectors.base import BaseDetector

TABLE_SUFFIXES = (".csv", ".parquet")
OUTPUT = ("model", "scores.csv", "alarms.csv", "report.html")
"""What ``detect`` writes."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write to; the file appears under its own name once complete."""
    try:
        with durable.whole_file(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def whole_output(folder: Path) -> Iterator[Path]:
    """A folder to fill; once complete, it replaces an older one of ours."""
    check_output_place(folder)
    draft = folder
    try:
        with durable.whole_folder(folder, is_output) as draft:
            yield draft
    except OSError as error:
        if isinstance(error, SubAdjacentError):
            raise
        raise _unwritable(folder, error) from error
    except InputError as error:
        # an error about a file in it names the final path
        raise InputError(str(error).replace(str(draft), str(folder))) from error


def is_output(name: str) -> bool:
    """Whether a file or folder has a name that ``detect`` writes."""
    from subadjacent.detectors.folder import FILES

    return name in OUTPUT or name in FILES


def check_output_place(folder: Path) -> None:
    """Refuse a folder that cannot be replaced, or holds anything not written by ``detect``."""
    from subadjacent.detectors.folder import check_place

    rule = "must be a new folder, or hold nothing but what was written by detect"
    check_folder(folder, rule, lambda name: name.startswith(".") or is_output(name))
    durable.check_replaceable(folder, "the output folder")
    check_place(folder / "model")


def check_folder(folder: Path, rule: str, ours: Callable[[str], bool]) -> None:
    """Refuse a folder for results that is a file, holds files of others, or cannot be written."""
    names = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    foreign = [name for name in names if not ours(name)]
    if foreign or folder.is_file():
        held = f"holds {', '.join(foreign[:3])}" if foreign else "is a file"
        raise InputError(f"{folder} {rule}; it {held}: name another folder, or one within it")
    check_writable(folder)


def check_writable(path: Path) -> None:
    """Refuse a place that nothing can be written to, before any work is done for it."""
    # the folder is made later; its nearest existing parent is tested in its place
    target = Path(os.path.realpath(path))
    parent = next(folder for folder in target.parents if folder.exists())
    try:
        durable.try_writing(parent / target.name)
    except OSError as error:
        raise _unwritable(path, error) from error


def check_model_place(folder: Path) -> None:
    """Refuse a place for a model folder, before the fit, that saving would refuse after it."""
    from subadjacent.detectors.folder import check_place

    check_place(folder.resolve())
    check_writable(folder)


def save_model(detector: BaseDetector, folder: Path) -> None:
    """Write a model folder, whole or not at all."""
    from safetensors import SafetensorError

    try:
        detector.save(folder)
    except (OSError, SafetensorError) as error:
        # errors of ours are of other kinds, but for folders that are not there
        if isinstance(error, SubAdjacentError):
            raise
        raise _unwritable(folder, error) from error


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a CSV or Parquet file, by its suffix."""
    from polars.exceptions import ComputeError

    with whole_file(path) as unfinished:
        try:
            # a stream: polars takes no name that is not UTF-8
            with unfinished.open("wb") as stream:
                if path.suffix == ".parquet":
                    table.write_parquet(stream)
                else:
                    _guarded(table).write_csv(stream)
        except ComputeError as error:
            # a full disk, in the words of the writer of Parquet files
            raise _unwritable(path, error) from error


def as_csv(table: pl.DataFrame, *, header: bool = True) -> str:
    """A table as the text of a CSV file."""
    return _guarded(table).write_csv(include_header=header)


def _guarded(table: pl.DataFrame) -> pl.DataFrame:
    """A table of which a spreadsheet runs no cell as a formula; ``data.files`` reads it back."""
    import polars as pl
    import polars.selectors as cs

    from subadjacent.data.files.cells import guard

    guarded = table.with_columns(cs.by_dtype(pl.String).map_batches(guard))
    return guarded.rename(
        dict(zip(table.columns, guard(pl.Series(table.columns, dtype=pl.String)), strict=True))
    )


def write_text(text: str, path: Path) -> None:
    """Write a text file; bytes that are not UTF-8, as in some file names, become escapes."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")


def _unwritable(path: Path, error: Exception) -> InputError:
    # what the system says, without what libraries say around it
    reason = (getattr(error, "strerror", None) or str(error)).rpartition("rror: ")[2]
    return InputError(f"{path} cannot be written: {reason}")
