"""Options that several commands share, and the functions that evaluate them.

A value that cannot be right, whatever the files hold, is bad usage: it is refused while the
command line is read, before any file is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli.detector import complete_detector
from subadjacent.cli.output import STANDARD_OUTPUT
from subadjacent.cli.progress import say
from subadjacent.cli.wording import errors_about
from subadjacent.errors import InputError
from subadjacent.showing import visible
from subadjacent.workflow.writing import TABLE_SUFFIXES

if TYPE_CHECKING:
    from subadjacent.data.files import Columns, Rows

LARGEST_SEED = 2**32 - 1


class Engine(StrEnum):
    """Where work is done."""

    local = "local"
    ray = "ray"


class NetworkSize(StrEnum):
    """The networks that can be added."""

    small = "small"
    paper = "paper"


def _check_detector(short: str) -> str:
    from subadjacent.detectors.entries import class_name

    with bad_usage():
        class_name(short)
    return short


def _check_device(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        from subadjacent.training.device import resolve_device
    except ModuleNotFoundError:
        # without torch there is no network to need a device; what does need torch says so
        return name
    with bad_usage():
        resolve_device(name)
    return name


def _check_budget(text: str | None) -> str | None:
    if text is not None:
        from subadjacent.data.clock import duration

        with bad_usage():
            duration(text, name="budget")
    return text


def _check_false_alarms(text: str | None) -> str | None:
    if text is None:
        return None
    from subadjacent.scoring.threshold import BUDGET, CHANCE, choose_threshold

    try:
        choose_threshold(text, interval=1.0)
        known = BUDGET.fullmatch(text) or CHANCE.fullmatch(text)
    except InputError:
        known = None
    if not known:
        raise typer.BadParameter(
            f"must be alarms per time, such as 1/week, or a chance for each normal row, such as 1% "
            f"or '1% adaptive'; got {text!r}"
        )
    return text


def check_rate(share: float | None) -> float | None:
    """Refuse anything but a rate of false discoveries."""
    if share is not None:
        _check_fraction(share)
    return share


def _check_fraction(share: float) -> float:
    if not 0 < share <= 1:
        raise typer.BadParameter(f"must lie above 0 and be at most 1; got {share}")
    return share


def _check_until(text: str | None) -> str | None:
    """Refuse anything but a time or a number; which of them the data has is checked later."""
    if text is None:
        return None
    try:
        fine = math.isfinite(float(text))
    except ValueError:
        fine = _is_time(text)
    if not fine:
        raise typer.BadParameter(
            f"must be a time such as 2026-01-31T12:00, or a row number; got {text!r}"
        )
    return text


def _is_time(text: str) -> bool:
    from subadjacent.data.files.layouts import is_written_time

    try:
        moment = datetime.fromisoformat(text)
        # the first and last hours there are, with an offset, may lie outside all years in UTC
        return moment.tzinfo is None or bool(moment.astimezone(UTC))
    except OverflowError:
        return False
    except ValueError:
        return is_written_time(text)


def _check_time_format(text: str | None) -> str | None:
    if text is not None:
        from subadjacent.data.files.layouts import pattern_of_format

        with bad_usage():
            pattern_of_format(text)
    return text


def check_table(target: str) -> str:
    """Refuse a file name of another kind."""
    if target != STANDARD_OUTPUT and not target.endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(f"must end in .csv or .parquet, or be -; got {target!r}")
    return target


@contextmanager
def bad_usage() -> Iterator[None]:
    """Rephrase a library error about a value as bad usage of the option."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


Files = Annotated[
    list[str],
    typer.Argument(help="CSV or Parquet files, or globs of them; - for standard input (CSV)."),
]
Time = Annotated[
    str | None,
    typer.Option(help="Column of times, or DATE+CLOCK for two. Found by itself where it is plain."),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(
        callback=_check_time_format,
        help="How times are written, such as '%d/%m/%Y %H:%M'. Found by itself where all rows "
        "can be read in one way only.",
    ),
]
Entity = Annotated[
    str | None, typer.Option(help="Column that says which machine, plant or series a row is of.")
]
Label = Annotated[
    str | None, typer.Option(help="Column of labels. Kept out of fitting and scoring.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="Columns to leave out, with commas between them. May be repeated."),
]
Take = Annotated[
    list[str] | None,
    typer.Option("--columns", help="Columns to take, and no others. May be repeated."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="A further word, or number, for a missing value, such as 'Bad Input' or -999. "
        "May be repeated."
    ),
]
Model = Annotated[Path, typer.Option("-m", "--model", help="Model folder.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no remarks.")]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        callback=_check_detector,
        autocompletion=complete_detector,
        help="Which detector; 'subadjacent list' has all.",
    ),
]
NetworkOption = Annotated[
    NetworkSize | None,
    typer.Option(
        "--network", help="Add a network to the default detector: small, or as in the paper."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(callback=_check_device, help="Of a network: auto, cpu, cuda or mps."),
]
ScoringDevice = Annotated[
    str | None,
    typer.Option(
        callback=_check_device, help="Where a model has a network: auto, cpu, cuda or mps."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_SEED,
        help="Decides a network's initial weights, and all else that a detector leaves to chance.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        callback=_check_budget,
        help="Longest time to train a network, such as 2m; the best weights are kept.",
    ),
]
FalseAlarms = Annotated[
    str | None,
    typer.Option(
        callback=_check_false_alarms,
        help="False alarms to tolerate, such as 1/week, which needs times in the data; or the "
        "chance for each normal row, such as 1%, or '1% adaptive' where data drift.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(help="TOML file of detector parameters, such as smoothing = 40. Options win."),
]
TrainFraction = Annotated[
    float,
    typer.Option(
        callback=_check_fraction, help="Fit on this share of each series, from its start."
    ),
]
TrainUntil = Annotated[
    str | None,
    typer.Option(
        callback=_check_until,
        help="Fit on the rows before this time (or row number, where there are none).",
    ),
]
Table = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        callback=check_table,
        help="CSV or Parquet file; - for standard output.",
    ),
]
EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine", help="This machine, or a Ray cluster: that of RAY_ADDRESS, else a local one."
    ),
]


def title_of(files: Sequence[str]) -> str:
    """The names of files, as the title of a page."""
    return visible(", ".join(Path(file).name for file in files))


def open_rows(
    files: Sequence[str],
    *,
    time: str | None,
    time_format: str | None,
    entity: str | None,
    label: str | None,
    ignore: Sequence[str] | None,
    missing: Sequence[str] | None,
    take: Sequence[str] | None = None,
    known: Sequence[str] = (),
    quiet: bool,
) -> Rows:
    """Open files, and print notes on them; ``known`` are a model's channels."""
    columns = columns_given(
        time=time,
        entity=entity,
        label=label,
        ignore=ignore,
        take=take,
        known=known,
        missing=missing,
    )
    return open_given(files, columns, time_format, quiet=quiet)


def open_given(
    files: Sequence[str], columns: Columns, time_format: str | None, *, quiet: bool
) -> Rows:
    """Open files whose columns were given, and print notes on them."""
    from subadjacent.data.files import open_files

    with errors_about(files):
        rows = open_files(files, columns, time_format=time_format)
    for note in rows.notes:
        say(note, quiet=quiet)
    return rows


def columns_given(
    *,
    time: str | None,
    entity: str | None,
    label: str | None,
    ignore: Sequence[str] | None,
    missing: Sequence[str] | None,
    take: Sequence[str] | None,
    known: Sequence[str],
) -> Columns:
    """The columns that options name."""
    from subadjacent.data.files import Columns

    return Columns(
        time=time,
        entity=entity,
        label=label,
        ignore=tuple(ignore or ()),
        only=tuple(take or ()),
        known=tuple(known),
        missing=tuple(missing or ()),
    )
