"""Names of detectors for the shell, and files of their settings."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from subadjacent.errors import DataNotFound, InputError

NEVER = "never"
"""What a configuration says for no adaptation at all."""


def complete_detector(incomplete: str) -> list[tuple[str, str]]:
    """Names and summaries of detectors for shell completion; imports nothing heavy."""
    from subadjacent.detectors.registry import REGISTRY

    return [
        (name, entry.summary) for name, entry in REGISTRY.items() if name.startswith(incomplete)
    ]


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
