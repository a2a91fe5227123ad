"""Documents: JSON whose objects name every key once, TOML files, and values as JSON has them."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.errors import DataNotFound, InputError
from subadjacent.showing import visible

LONGEST_SHOWN = 50
"""Characters of a key that a message shows."""


class RepeatedKeyError(ValueError):
    """An object has a key more than once; its text names the key."""


def read_json(text: str | bytes) -> Any:
    """A document, as ``json.loads`` reads it, whose objects name every key once."""
    return json.loads(text, object_pairs_hook=_named_once)


def read_toml(path: Path) -> dict[str, Any]:
    """The settings that a TOML file holds."""
    if not path.is_file():
        raise DataNotFound(f"{path} is not a file: --config needs a TOML file")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} must be TOML ({error})") from error


def as_json(value: Any) -> Any:
    """A copy with JSON types alone: null for numbers that are not finite, times as text."""
    if isinstance(value, dict):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry) for entry in value]
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str | int | None) else str(value)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        ((key, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise RepeatedKeyError(f"{visible(key[:LONGEST_SHOWN])!r} is there more than once")
    return document
