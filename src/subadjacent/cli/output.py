"""What commands write: whole files or none, and results on standard output."""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from subadjacent.errors import InputError, SubadjacentError

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.detectors.base import BaseDetector
    from subadjacent.scoring.alarms import Alarm

STANDARD_OUTPUT = "-"
SUFFIXES = (".csv", ".parquet")


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
        raise InputError(f"{path} cannot be written: {_reason(error)}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse a place that nothing can be written to, before any work is done for it."""
    # the folder is made with what goes into it; until then the one it will be in must do
    place = next(one for one in Path(os.path.realpath(path)).parents if one.exists())
    probe = place / f".{path.name}.{secrets.token_hex(4)}"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {_reason(error)}") from error


def check_model_place(folder: Path) -> None:
    """Refuse a place for a model folder that would be refused once the model is there."""
    from subadjacent.detectors.persist import check_place

    check_place(folder.resolve())
    check_writable(folder)


@contextmanager
def filled_folder(folder: Path) -> Iterator[None]:
    """A folder to write to, made before any work is done for it; gone if nothing came of it."""
    there = folder.exists()
    if there and not folder.is_dir():
        raise InputError(f"{folder} must be a folder; it is a file: name another with --output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from error
    try:
        yield
    except BaseException:
        if not there:
            # only where it is empty
            with suppress(OSError):
                folder.rmdir()
        raise


def save_model(detector: BaseDetector, folder: Path) -> None:
    """Write a model folder, whole or not at all."""
    from safetensors import SafetensorError

    try:
        detector.save(folder)
    except (OSError, SafetensorError) as error:
        # errors of ours are of other kinds, but for folders that are not there
        if isinstance(error, SubadjacentError):
            raise
        raise InputError(f"{folder} cannot be written: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What the system says, without what libraries say around it."""
    return (getattr(error, "strerror", None) or str(error)).rpartition("rror: ")[2]


def write_frame(frame: pl.DataFrame, target: str) -> None:
    """Write a table to a CSV or Parquet file, or as CSV to standard output."""
    if target == STANDARD_OUTPUT:
        sys.stdout.write(frame.write_csv())
        return
    from polars.exceptions import ComputeError

    with whole_file(Path(target)) as unfinished:
        try:
            if target.endswith(".parquet"):
                frame.write_parquet(unfinished)
            else:
                frame.write_csv(unfinished)
        except ComputeError as error:
            # a full disk, in the words of the writer of Parquet files
            raise InputError(f"{target} cannot be written: {_reason(error)}") from error


def write_text(text: str, path: Path) -> None:
    """Write a text file."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def print_json(document: Any) -> None:
    """One JSON document on one line of standard output."""
    typer.echo(json.dumps(_defined(document), default=_plain, ensure_ascii=False))


def alarm_record(alarm: Alarm) -> dict[str, Any]:
    """An alarm as nested JSON."""
    return asdict(alarm)


def alarm_rows(alarms: Sequence[Alarm]) -> pl.DataFrame:
    """Alarms as a flat table, the causes in one readable column."""
    import polars as pl

    rows = [
        {
            "entity": alarm.entity,
            "start": str(_plain(alarm.start)),
            "end": str(_plain(alarm.end)),
            "peak": str(_plain(alarm.peak)),
            "rows": alarm.duration,
            "severity": round(alarm.severity, 3),
            "channel": alarm.causes[0].channel,
            "seen": alarm.causes[0].seen,
            "expected": alarm.causes[0].expected,
            "channels": " ".join(cause.channel for cause in alarm.causes),
        }
        for alarm in alarms
    ]
    schema = {
        "entity": pl.String, "start": pl.String, "end": pl.String, "peak": pl.String,
        "rows": pl.Int64, "severity": pl.Float64, "channel": pl.String, "seen": pl.Float64,
        "expected": pl.Float64, "channels": pl.String,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema)
    return frame if any(alarm.entity for alarm in alarms) else frame.drop("entity")


def _defined(document: Any) -> Any:
    """The same with null for what is not a number, which JSON has no word for."""
    if isinstance(document, dict):
        return {name: _defined(value) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [_defined(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


def _plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return str(value)
