"""Options that several commands share, and what they come to.

A value that cannot be right, whatever the files hold, is bad usage: it is refused while the
command line is read, before any file is.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli.output import STANDARD_OUTPUT, SUFFIXES
from subadjacent.errors import DataNotFound, InputError

if TYPE_CHECKING:
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

LARGEST_SEED = 2**32 - 1


def _check_device(name: str | None) -> str | None:
    if name is not None:
        from subadjacent.training.device import resolve_device

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
    from subadjacent.scoring.threshold import AlarmBudget, choose_threshold

    try:
        known = isinstance(choose_threshold(text, interval=1.0), AlarmBudget)
    except InputError:
        known = False
    if not known:
        raise typer.BadParameter(f"must be alarms per time, such as 1/week; got {text!r}")
    return text


def _check_fraction(share: float) -> float:
    if not 0 < share <= 1:
        raise typer.BadParameter(f"must lie above 0 and be at most 1; got {share}")
    return share


def _check_until(text: str | None) -> str | None:
    """Whether it is a time or a number; which of them the data asks for shows later."""
    if text is None:
        return None
    try:
        fine = math.isfinite(float(text))
    except ValueError:
        fine = True
        try:
            datetime.fromisoformat(text)
        except ValueError:
            fine = False
    if not fine:
        raise typer.BadParameter(
            f"must be a time such as 2026-01-31T12:00, or a row number; got {text!r}"
        )
    return text


def check_table(target: str) -> str:
    """Refuse a file name of another kind."""
    if target != STANDARD_OUTPUT and not target.endswith(SUFFIXES):
        raise typer.BadParameter(f"must end in .csv or .parquet, or be -; got {target!r}")
    return target


@contextmanager
def bad_usage() -> Iterator[None]:
    """What the library says of a value is said of the option that it was given with."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


Files = Annotated[
    list[str],
    typer.Argument(help="CSV or Parquet files, or globs of them; - for standard input (CSV)."),
]
Time = Annotated[
    str | None, typer.Option(help="Column of times. Found by itself where it is plain.")
]
Entity = Annotated[
    str | None, typer.Option(help="Column that says which machine, plant or series a row is of.")
]
Label = Annotated[
    str | None, typer.Option(help="Column of labels (0 or 1). Kept out of fitting and scoring.")
]
Model = Annotated[Path, typer.Option("-m", "--model", help="Model folder.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no remarks.")]
Device = Annotated[str | None, typer.Option(callback=_check_device, help="auto, cpu, cuda or mps.")]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_SEED,
        help="Decides the initial weights and the order of training.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        callback=_check_budget,
        help="Longest time to train, such as 2m; the best weights are kept.",
    ),
]
FalseAlarms = Annotated[
    str | None,
    typer.Option(
        callback=_check_false_alarms,
        help="False alarms to tolerate, such as 1/week. Needs times in the data.",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(help="TOML file of detector parameters, such as window = 50. Options win."),
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


def build_detector(
    *,
    config: Path | None,
    budget: str | None,
    false_alarms: str | None,
    device: str | None,
    seed: int | None,
) -> SubAdjacentDetector:
    """A detector from a settings file and the options that were given."""
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

    parameters = {} if config is None else read_config(config)
    given = {
        "budget": budget,
        "contamination": false_alarms,
        "device": device,
        "random_state": seed,
    }
    parameters |= {name: value for name, value in given.items() if value is not None}
    detector = SubAdjacentDetector(**parameters)
    # settings that are wrong for any data are refused before any is read
    try:
        detector.check()
    except InputError as error:
        raise error if config is None else InputError(f"{config}: {error}") from error
    return detector


def read_config(path: Path) -> dict[str, Any]:
    """Detector parameters from a TOML file; an unknown name is refused."""
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

    if not path.is_file():
        raise DataNotFound(f"{path} is not a file: --config needs a TOML file")
    try:
        parameters = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} must be TOML ({error})") from error
    known = SubAdjacentDetector().get_params()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise InputError(
            f"{path} must name parameters of the detector ({', '.join(known)}); "
            f"got {', '.join(unknown)}"
        )
    return parameters
