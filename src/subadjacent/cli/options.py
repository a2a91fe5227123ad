"""Options that several commands share, and what they come to."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.errors import DataNotFound, InputError

if TYPE_CHECKING:
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

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
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Decides the initial weights and the order of training.")
]
Budget = Annotated[
    str | None, typer.Option(help="Longest time to train, such as 2m; the best weights are kept.")
]
FalseAlarms = Annotated[
    str | None,
    typer.Option(help="False alarms to tolerate, such as 1/week. Needs times in the data."),
]
Config = Annotated[
    Path | None,
    typer.Option(help="TOML file of detector parameters, such as window = 50. Options win."),
]
TrainFraction = Annotated[
    float,
    typer.Option(min=0, max=1, help="Fit on this share of each series, from its start."),
]
TrainUntil = Annotated[
    str | None,
    typer.Option(help="Fit on the rows before this time (or row number, where there are none)."),
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

    if false_alarms is not None:
        _check_false_alarms(false_alarms)
    parameters = {} if config is None else read_config(config)
    given = {
        "budget": budget,
        "contamination": false_alarms,
        "device": device,
        "random_state": seed,
    }
    parameters |= {name: value for name, value in given.items() if value is not None}
    return SubAdjacentDetector(**parameters)


def _check_false_alarms(text: str) -> None:
    from subadjacent.scoring.threshold import AlarmBudget, choose_threshold

    try:
        known = isinstance(choose_threshold(text, interval=1.0), AlarmBudget)
    except InputError:
        known = False
    if not known:
        raise InputError(f"--false-alarms must be alarms per time, such as 1/week; got {text!r}")


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
