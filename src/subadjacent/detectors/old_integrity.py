"""Whether a model folder is what was saved: sizes, hashes, and values that make sense."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers, Scaler
from subadjacent.errors import InputError, ModelFileError, require_number, require_whole
from subadjacent.networks.config import TransformerConfig

# what comes of reading values that are missing or of another kind; torch raises RuntimeError
BAD_VALUES = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError)


def identity(file: Path) -> dict[str, Any]:
    """Size and hash of a file."""
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": file.stat().st_size, "sha256": digest}


def seal(learned: dict[str, Any]) -> dict[str, str]:
    """A hash of each part of what was learned, the same for any layout of the JSON."""
    return {
        name: hashlib.sha256(
            json.dumps(part, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()
        for name, part in learned.items()
    }


def damage(where: Path, error: Exception) -> ModelFileError:
    """The error to raise when reading ``where`` ended in ``error``."""
    reason = str(error)
    if isinstance(error, KeyError):
        reason = f"{error} is missing"
    elif not isinstance(error, InputError):
        reason = f"{type(error).__name__} while reading it ({error})"
    return ModelFileError(f"{where} is damaged: {reason}")


def check_schema(file: Path, facts: dict[str, Any], newest: int) -> None:
    """Refuse facts of no schema, or of one that is yet to come."""
    if "schema" not in facts:
        raise ModelFileError(f"{file} has no schema: it is damaged, or no part of a model folder")
    schema = facts["schema"]
    try:
        require_whole("schema", schema, least=1)
    except InputError as error:
        raise damage(file, error) from error
    if schema > newest:
        raise ModelFileError(
            f"{file} has schema {schema}; this version of subadjacent reads up to {newest}: "
            f"upgrade it to load the model"
        )


def check_files(folder: Path, facts_file: str, files: Any, names: Collection[str]) -> None:
    """Refuse files that are not those whose size and hash were noted."""
    for name in names:
        noted = files.get(name) if isinstance(files, dict) else None
        if not (
            isinstance(noted, dict)
            and type(noted.get("bytes")) is int
            and isinstance(noted.get("sha256"), str)
        ):
            raise ModelFileError(
                f"{folder / facts_file} is damaged: files must hold bytes and sha256 of {name}; "
                f"got {noted!r}"
            )
        found = identity(folder / name)
        if found["bytes"] < noted["bytes"]:
            raise ModelFileError(
                f"{folder / name} is truncated, or of another model: {found['bytes']} of "
                f"{noted['bytes']} bytes are there"
            )
        if found != {"bytes": noted["bytes"], "sha256": noted["sha256"]}:
            raise ModelFileError(
                f"{folder / name} is not the file that {facts_file} was saved with"
            )


def check_seal(file: Path, facts: dict[str, Any]) -> None:
    """Refuse what was learned when any part of it differs from what was saved."""
    for name in ("learned", "learned_sha256"):
        if not isinstance(facts.get(name), dict):
            raise ModelFileError(
                f"{file} is damaged: {name} must be a JSON object; got {facts.get(name)!r}"
            )
    found, noted = seal(facts["learned"]), facts["learned_sha256"]
    names = found.keys() | noted.keys()
    changed = sorted(name for name in names if found.get(name) != noted.get(name))
    if changed:
        raise ModelFileError(
            f"{file} is damaged: {', '.join(changed)} under learned is not what was saved; "
            f"only threshold may be changed by hand"
        )


def check_facts(facts: dict[str, Any]) -> None:
    """Refuse facts that no fitted detector has, whatever its kind."""
    for name in ("threshold", "typical_score", "score_spread"):
        require_number(name, facts[name])
        if abs(facts[name]) > sys.float_info.max:
            raise InputError(f"{name} must be a number of usual size; got one far larger")
    for name in ("named_channels", "named_series", "entities_by_position"):
        if not isinstance(facts[name], bool):
            raise InputError(f"{name} must be true or false; got {facts[name]!r}")
    for name in ("channels", "entities"):
        names = facts[name]
        texts = isinstance(names, list) and all(isinstance(one, str) for one in names)
        if not texts or len(set(names)) < len(names):
            raise InputError(f"{name} must be a list of different names; got {names!r}")


def check_learned(
    learned: dict[str, Any],
    settings: type[TransformerConfig],
    channels: Collection[str],
    entities: Collection[str],
) -> None:
    """Refuse values that no fitted detector around a network has learned."""
    config = settings.from_dict(learned["network"])
    count = len(channels)
    if config.channels != count:
        raise InputError(
            f"channels must name the {config.channels} that the network has; got {count}"
        )
    require_whole("window", learned["window"], least=2)
    if (band := getattr(config, "band", None)) is not None:
        band.check(learned["window"])
    require_whole("seed", learned["seed"], least=0)
    require_number("usual_score", learned["usual_score"])
    require_numbers("warmup", learned["warmup"])
    require_numbers("usual_error", learned["usual_error"], count, least=0)

    check_scalers(learned["scalers"], channels, entities)


def check_scalers(
    scalers: dict[str, Any], channels: Collection[str], entities: Collection[str]
) -> None:
    """Refuse scalers of other channels or entities, or without a scale."""
    require_number("clip", scalers["clip"], above=0)
    if scalers["by_entity"].keys() != set(entities):
        raise InputError(
            f"entities must be those that have a scaler, {list(scalers['by_entity'])}; "
            f"got {list(entities)}"
        )
    for scaler in (scalers["pooled"], *scalers["by_entity"].values()):
        require_numbers("center", scaler["center"], len(channels))
        require_numbers("deviation", scaler["deviation"], len(channels), above=0)


def require_numbers(name: str, values: Any, count: int | None = None, **bounds: float) -> None:
    """Refuse anything but a list of ``count`` finite numbers within the bounds."""
    if not isinstance(values, list) or not values or len(values) != (count or len(values)):
        found = f"{len(values)}" if isinstance(values, list) else repr(values)
        raise InputError(f"{name} must be a list of {count or 'some'} numbers; got {found}")
    for number, value in enumerate(values):
        require_number(f"{name}[{number}]", value, **bounds)


def scalers_to_dict(scalers: EntityScalers) -> dict[str, Any]:
    """All scalers as plain JSON types; every digit survives."""
    return {
        "clip": float(scalers.pooled.clip),
        "pooled": _to_lists(scalers.pooled),
        "by_entity": {entity: _to_lists(one) for entity, one in scalers.by_entity.items()},
    }


def scalers_from_dict(saved: dict[str, Any]) -> EntityScalers:
    """The inverse of ``scalers_to_dict``."""
    clip = float(saved["clip"])
    return PerEntity(
        _from_lists(saved["pooled"], clip),
        {entity: _from_lists(one, clip) for entity, one in saved["by_entity"].items()},
    )


def _to_lists(scaler: Scaler) -> dict[str, list[float]]:
    return {"center": scaler.center.tolist(), "deviation": scaler.deviation.tolist()}


def _from_lists(saved: dict[str, list[float]], clip: float) -> Scaler:
    center, deviation = (np.array(saved[name], dtype=float) for name in ("center", "deviation"))
    return Scaler(center, deviation, clip)
