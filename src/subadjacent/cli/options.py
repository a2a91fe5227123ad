"""Options that several commands share, and the functions that evaluate them.

A value that cannot be right, whatever the files hold, is bad usage: it is refused while the
command line is read, before any file is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from subadjacent.cli.detector import build_detector, complete_detector
from subadjacent.cli.output import STANDARD_OUTPUT
from subadjacent.cli.progress import say
from subadjacent.cli.wording import errors_about
from subadjacent.errors import InputError
from subadjacent.showing import visible
from subadjacent.workflow.writing import TABLE_SUFFIXES

if TYPE_CHECKING:
    from subadjacent.data.files import Columns, Rows
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.workflow.fit import TrainingRows

LARGEST_SEED = 2**32 - 1


class Engine(StrEnum):
    """Where work is done."""

    local = "local"
    ray = "ray"


class Format(StrEnum):
    """How alarms are printed."""

    json = "json"
    csv = "csv"


class NetworkSize(StrEnum):
    """The networks that can be added."""

    small = "small"
    paper = "paper"


def _check_detector(short: str) -> str:
    from subadjacent.detectors.registry import entry

    with bad_usage():
        entry(short)
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


def _check_training_time(text: str | None) -> str | None:
    if text is not None:
        from subadjacent.data.clock import duration

        with bad_usage():
            duration(text, name="max_training_time")
    return text


def parse_false_alarms(text: str) -> str | float:
    """The ``contamination`` that an option names: "auto", a share of rows, or a budget."""
    from subadjacent.scoring.threshold import choose_threshold

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


def _check_model(path: Path) -> Path:
    if path.is_file():
        raise typer.BadParameter(
            f"must be a model folder, named before the files; {path} is a file"
        )
    return path


def check_table(target: str | None) -> str | None:
    """Refuse a file name of another kind."""
    if target not in (None, STANDARD_OUTPUT) and not target.endswith(TABLE_SUFFIXES):
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
ModelFolder = Annotated[
    Path, typer.Argument(callback=_check_model, help="Model folder, before the files.")
]
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
MaxTrainingTime = Annotated[
    str | None,
    typer.Option(
        callback=_check_training_time,
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
FormatOption = Annotated[
    Format, typer.Option(help="How to print the alarms: a JSON object a line, or CSV.")
]
EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine", help="This machine, or a Ray cluster: that of RAY_ADDRESS, else a local one."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Input:
    """The files that a command reads, and the roles of their columns."""

    files: Files
    time: Time = None
    time_format: TimeFormat = None
    entity: Entity = None
    label: Label = None
    ignore: Ignore = None
    columns: Take = None
    missing: Missing = None

    @property
    def title(self) -> str:
        """The names of the files, as the title of a page."""
        return visible(", ".join(Path(file).name for file in self.files))

    def roles(self, channels: Sequence[str] = ()) -> Columns:
        """The columns that options name; ``channels`` are those of a model."""
        from subadjacent.data.files import Columns

        return Columns(
            time=self.time,
            entity=self.entity,
            label=self.label,
            ignore=tuple(self.ignore or ()),
            only=tuple(self.columns or ()),
            known=tuple(channels),
            missing=tuple(self.missing or ()),
        )

    def open(self, channels: Sequence[str] = (), *, quiet: bool) -> Rows:
        """Open the files, and print notes on them."""
        from subadjacent.data.files import open_files

        with errors_about(self.files):
            rows = open_files(self.files, self.roles(channels), time_format=self.time_format)
        for note in rows.notes:
            say(note, quiet=quiet)
        return rows


@dataclass(frozen=True, kw_only=True)
class Training:
    """Which rows to fit on."""

    train_fraction: TrainFraction = 0.5
    train_until: TrainUntil = None

    @property
    def rows(self) -> TrainingRows:
        """The rule, as the library has it."""
        from subadjacent.workflow.fit import TrainingRows

        return TrainingRows(self.train_fraction, self.train_until)


@dataclass(frozen=True, kw_only=True)
class TrainingOnAll(Training):
    """Which rows to fit on: all of them, unless an option says otherwise."""

    train_fraction: TrainFraction = 1.0


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The detector to fit, and its settings."""

    detector: DetectorName = "default"
    false_alarms: FalseAlarms = None
    config: Config = None
    network: NetworkOption = None
    max_training_time: MaxTrainingTime = None
    device: Device = None
    seed: Seed = None

    def build(self) -> BaseDetector:
        """The detector; settings that are wrong for any data are refused."""
        return build_detector(
            self.detector,
            config=self.config,
            false_alarms=self.false_alarms,
            network=self.network,
            max_training_time=self.max_training_time,
            device=self.device,
            seed=self.seed,
        )


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Spread the fields of a command's dataclass parameters into options of their own.

    Commands share options by sharing a dataclass, so an option is declared once.
    """
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group: Any = parameter.annotation
        if not hasattr(group, "__dataclass_fields__"):
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group
        hints = get_type_hints(group, include_extras=True)
        defaults = inspect.signature(group).parameters
        options += [
            defaults[field.name].replace(annotation=hints[field.name]) for field in fields(group)
        ]

    def run(**values: Any) -> None:
        built = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **built)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run
