"""The detector of a command: a name, a settings file, options that override it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from subadjacent.errors import DataNotFound, InputError

if TYPE_CHECKING:
    from subadjacent.detectors.base import BaseDetector

NEVER = "never"
"""What a configuration says for no adaptation at all."""


def complete_detector(incomplete: str) -> list[tuple[str, str]]:
    """Names and summaries of detectors for shell completion; imports nothing heavy."""
    from subadjacent.detectors.registry import REGISTRY

    return [
        (name, entry.summary) for name, entry in REGISTRY.items() if name.startswith(incomplete)
    ]


def build_detector(
    name: str,
    *,
    config: Path | None,
    false_alarms: str | None,
    max_training_time: str | None,
    device: str | None,
    seed: int | None,
) -> BaseDetector:
    """The detector of a short name, from a settings file and the options that were given.

    An option that the detector does not have is bad usage: it would be ignored silently.
    """
    from subadjacent.detectors.registry import create

    detector = create(name)
    known = list(detector.get_params())
    parameters = {} if config is None else read_config(config, known)
    options: dict[str, tuple[str, Any]] = {
        "contamination": ("--false-alarms", false_alarms),
        "max_training_time": ("--max-training-time", max_training_time),
        "device": ("--device", device),
        "random_state": ("--seed", seed),
    }
    for parameter, (option, value) in options.items():
        if value is None:
            continue
        if parameter not in known:
            raise typer.BadParameter(
                f"the detector {name} has no use for it: leave it out", param_hint=f"'{option}'"
            )
        parameters[parameter] = value
    # settings that are wrong for any data are refused before any is read
    try:
        detector.set_params(**parameters).check()
    except InputError as error:
        raise error if config is None else InputError(f"{config}: {error}") from error
    return detector


def read_config(path: Path, known: list[str]) -> dict[str, Any]:
    """Detector parameters from a TOML file; a name that is not ``known`` is refused."""
    if not path.is_file():
        raise DataNotFound(f"{path} is not a file: --config needs a TOML file")
    try:
        parameters = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} must be TOML ({error})") from error
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
