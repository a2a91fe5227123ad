"""Whole files or none: whatever ends the work, no file is left half-written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from subadjacent.errors import InputError, SubadjacentError

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.detectors.base import BaseDetector

TABLE_SUFFIXES = (".csv", ".parquet")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write to; the file appears under its own name only once it is whole."""
    # a link is followed, so that what it points to is written and the link stays
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise InputError(f"{path} must be an ordinary file to be written; it is something else")
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield unfinished
        # on disk before it gets its name: a crash must not leave an empty file under it
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())
        unfinished.replace(target)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def filled_folder(folder: Path) -> Iterator[None]:
    """A folder to write to, made before any work is done for it; gone if the work fails."""
    existed = folder.exists()
    if existed and not folder.is_dir():
        raise InputError(f"{folder} must be a folder; it is a file: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from error
    try:
        yield
    except BaseException:
        if not existed:
            # only where it is empty
            with suppress(OSError):
                folder.rmdir()
        raise


def check_writable(path: Path) -> None:
    """Refuse a place that nothing can be written to, before any work is done for it."""
    # the folder is made with what goes into it; until then the one it will be in must do
    parent = next(folder for folder in Path(os.path.realpath(path)).parents if folder.exists())
    probe = parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def check_model_place(folder: Path) -> None:
    """Refuse a place for a model folder that would be refused once the model is there."""
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
        if isinstance(error, SubadjacentError):
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


def as_csv(table: pl.DataFrame) -> str:
    """A table as the text of a CSV file."""
    return _guarded(table).write_csv()


def _guarded(table: pl.DataFrame) -> pl.DataFrame:
    """A table of which a spreadsheet runs no cell as a formula; ``data.files`` reads it back."""
    import polars as pl
    import polars.selectors as cs

    from subadjacent.data.files.formulas import guard, guard_name

    guarded = table.with_columns(cs.by_dtype(pl.String).map_batches(guard))
    return guarded.rename({name: guard_name(name) for name in table.columns})


def write_text(text: str, path: Path) -> None:
    """Write a text file; what is no character, as in a file name that is not UTF-8, as escapes."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")


def _unwritable(path: Path, error: Exception) -> InputError:
    # what the system says, without what libraries say around it
    reason = (getattr(error, "strerror", None) or str(error)).rpartition("rror: ")[2]
    return InputError(f"{path} cannot be written: {reason}")
