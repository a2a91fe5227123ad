"""Options that several commands share, and the functions that evaluate them.

A value that cannot be right, whatever the files hold, is bad usage: it is refused while the
command line is read, before any file is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from subadjacent.cli.output import STANDARD_STREAM, ListFormat
from subadjacent.errors import InputError
from subadjacent.workflow.writing import TABLE_SUFFIXES

LARGEST_SEED = 2**32 - 1
OUTPUT = "'-o' / '--output'"
"""The option for the place of results, as messages name it."""


class Engine(StrEnum):
    """Where work is done."""

    local = "local"
    ray = "ray"


def checked(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An option callback that reports a value refused by ``check`` as bad usage."""

    def callback(value: Any) -> Any:
        if value is not None:
            with bad_usage():
                check(value)
        return value

    return callback


def _check_detector(short: str) -> None:
    from subadjacent.detectors.registry import entry

    entry(short)


def _complete_detector(incomplete: str) -> list[tuple[str, str]]:
    """Names and summaries of detectors for shell completion; imports nothing heavy."""
    from subadjacent.detectors.registry import REGISTRY

    return [
        (name, entry.summary) for name, entry in REGISTRY.items() if name.startswith(incomplete)
    ]


def _check_device(name: str) -> None:
    try:
        from subadjacent.training.device import resolve_device
    except ModuleNotFoundError:
        # without torch there is no network to need a device; what does need torch says so
        return
    resolve_device(name)


def _check_training_time(text: str) -> None:
    from subadjacent.data.clock import duration

    duration(text, name="max_training_time")


def _check_time_format(text: str) -> None:
    from subadjacent.data.times import pattern_of_format

    pattern_of_format(text)


def parse_false_alarms(text: str) -> str | float:
    """The ``contamination`` that an option names: "auto", a share of rows, or a budget."""
    from subadjacent.decision.threshold import choose_threshold

    number, _, rest = text.partition("%")
    try:
        contamination: str | float = float(number) / (100 if "%" in text else 1)
        known = not rest.strip()
    except ValueError:
        contamination, known = text, text == "auto" or "/" in text or "per" in text
    try:
        choose_threshold(contamination, interval=1.0)
    except InputError:
        known = False
    if not known:
        raise typer.BadParameter(
            "must be auto, a share of the rows such as 0.1% or 0.001, up to 50%, or false alarms "
            f"per time such as 1/week; got {text!r}"
        )
    return contamination


def check_share(share: float | None) -> float | None:
    """Refuse anything but a share above 0 and up to 1."""
    if share is not None and not 0 < share <= 1:
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
    from subadjacent.data.times import is_written_time

    try:
        moment = datetime.fromisoformat(text)
        # the first and last hours there are, with an offset, may lie outside all years in UTC
        return moment.tzinfo is None or bool(moment.astimezone(UTC))
    except OverflowError:
        return False
    except ValueError:
        return is_written_time(text)


def _check_model(path: Path) -> Path:
    if path.is_file():
        raise typer.BadParameter(
            f"must be a model folder, named before the files; {path} is a file"
        )
    return path


def check_table(target: str | None) -> str | None:
    """Refuse an output file that is neither CSV nor Parquet."""
    if target not in (None, STANDARD_STREAM) and not target.endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(
            f"must end in .csv or .parquet, or be -; got {target!r}", param_hint=OUTPUT
        )
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
        callback=checked(_check_time_format),
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
ModelFolder = Annotated[
    Path, typer.Argument(callback=_check_model, help="Model folder, before the files.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no remarks.")]
DetectorName = Annotated[
    str,
    typer.Option(
        "--detector",
        callback=checked(_check_detector),
        autocompletion=_complete_detector,
        help="Which detector; 'subadjacent list' has all.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(callback=checked(_check_device), help="Of a network: auto, cpu, cuda or mps."),
]
ScoringDevice = Annotated[
    str | None,
    typer.Option(
        callback=checked(_check_device), help="Where a model has a network: auto, cpu, cuda or mps."
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
MaxTrainingTime = Annotated[
    str | None,
    typer.Option(
        callback=checked(_check_training_time),
        help="Longest time to train a network, such as 2m; the best weights are kept.",
    ),
]
FalseAlarms = Annotated[
    Any,
    typer.Option(
        parser=parse_false_alarms,
        metavar="RATE",
        help="How many false alarms to accept: auto, per time such as 1/week (needs times), or "
        "a share of the rows such as 0.1%.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(help="TOML file of detector parameters, such as smoothing = 40. Options win."),
]
TrainFraction = Annotated[
    float,
    typer.Option(callback=check_share, help="Fit on this share of each series, from its start."),
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
FormatOption = Annotated[
    ListFormat | None,
    typer.Option(
        help="How to print the alarms: a table for people, a JSON object a line, or CSV. By "
        "default a table on a terminal, else JSON."
    ),
]
EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine", help="This machine, or a Ray cluster: that of RAY_ADDRESS, else a local one."
    ),
]
