"""Groups of options that several commands share: files, training rows, the detector."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import tell
from subadjacent.cli.wording import errors_about
from subadjacent.errors import InputError
from subadjacent.showing import visible

if TYPE_CHECKING:
    from subadjacent.data.files import Columns, Rows
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.runtime import Map
    from subadjacent.workflow.fit import TrainingRows

NEVER = "never"
"""The value of ``adapt_after`` in a settings file that stands for None."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """The files that a command reads, and the roles of their columns."""

    files: option.Files
    time: option.Time = None
    time_format: option.TimeFormat = None
    entity: option.Entity = None
    label: option.Label = None
    ignore: option.Ignore = None
    columns: option.Take = None
    missing: option.Missing = None

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
            time_format=self.time_format,
            ignore=tuple(self.ignore or ()),
            only=tuple(self.columns or ()),
            known=tuple(channels),
            missing=tuple(self.missing or ()),
        )

    def open(self, channels: Sequence[str] = (), *, quiet: bool) -> Rows:
        """Open the files, and print notes on them."""
        from subadjacent.data.files import open_files

        with errors_about(self.files):
            rows = open_files(self.files, self.roles(channels))
        for note in rows.notes:
            tell(note, quiet=quiet)
        return rows


@dataclass(frozen=True, kw_only=True)
class ScoredFiles(Input):
    """Files with scores and labels."""

    # required: a bare annotation would keep the default of the base class
    label: Annotated[str, typer.Option(help="Column of labels.")] = field()


@dataclass(frozen=True, kw_only=True)
class Training:
    """Which rows to fit on."""

    train_fraction: option.TrainFraction = 0.5
    train_until: option.TrainUntil = None

    @property
    def rows(self) -> TrainingRows:
        """The rule, as the library has it."""
        from subadjacent.workflow.fit import TrainingRows

        return TrainingRows(self.train_fraction, self.train_until)


@dataclass(frozen=True, kw_only=True)
class TrainingOnAll(Training):
    """Which rows to fit on: all of them, unless an option says otherwise."""

    train_fraction: option.TrainFraction = 1.0


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The detector to fit, and its settings."""

    detector: option.DetectorName = "default"
    false_alarms: option.FalseAlarms = None
    config: option.Config = None
    max_training_time: option.MaxTrainingTime = None
    device: option.Device = None
    seed: option.Seed = None

    def build(self) -> BaseDetector:
        """The detector, from a settings file and the options that were given.

        Settings that are wrong for any data are refused. So is an option that the detector does
        not have: it would be ignored silently.
        """
        from subadjacent.detectors.registry import create

        detector = create(self.detector)
        known = list(detector.get_params())
        parameters = {} if self.config is None else _read_config(self.config, known)
        options: dict[str, tuple[str, Any]] = {
            "contamination": ("--false-alarms", self.false_alarms),
            "max_training_time": ("--max-training-time", self.max_training_time),
            "device": ("--device", self.device),
            "random_state": ("--seed", self.seed),
        }
        for parameter, (name, value) in options.items():
            if value is None:
                continue
            if parameter not in known:
                raise typer.BadParameter(
                    f"the detector {self.detector} has no use for it: leave it out",
                    param_hint=f"'{name}'",
                )
            parameters[parameter] = value
        try:
            detector.set_params(**parameters).check()
        except InputError as error:
            raise error if self.config is None else InputError(f"{self.config}: {error}") from error
        return detector


def _read_config(path: Path, known: list[str]) -> dict[str, Any]:
    """Detector parameters from a TOML file, of which all names must be ``known``."""
    from subadjacent.data.documents import read_toml

    parameters = read_toml(path)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise InputError(
            f"{path} must name parameters of the detector ({', '.join(known)}); "
            f"got {', '.join(unknown)}"
        )
    # None in Python, for which TOML has no word
    if parameters.get("adapt_after") == NEVER:
        parameters["adapt_after"] = None
    return parameters


@contextmanager
def spread_over(engine: option.Engine) -> Iterator[Map]:
    """Connect to what does the work: all cores, or a cluster."""
    if engine is option.Engine.local:
        from subadjacent.runtime import over_processes

        yield over_processes
    else:
        from subadjacent.workflow.cluster import connected, over_cluster

        with connected():
            yield over_cluster


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
