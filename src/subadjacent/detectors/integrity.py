"""Whether a model folder is what was saved: sizes, hashes, and values that make sense."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.normal import NormalScores
from subadjacent.errors import InputError, ModelFileError, require_number, require_whole

# errors of reading values that are missing or of another kind; torch raises RuntimeError
BAD_VALUES = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError)


def identity(file: Path) -> dict[str, Any]:
    """Size and hash of a file."""
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": file.stat().st_size, "sha256": digest}


def seal(facts: dict[str, Any]) -> dict[str, str]:
    """A hash of each fact, the same for any layout of the JSON."""
    return {
        name: hashlib.sha256(
            json.dumps(fact, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()
        for name, fact in facts.items()
    }


def damage(place: Path, error: Exception) -> ModelFileError:
    """The error to raise when reading ``place`` ended in ``error``."""
    reason = str(error)
    if isinstance(error, KeyError):
        reason = f"{error} is missing"
    elif not isinstance(error, InputError):
        reason = f"{type(error).__name__} while reading it ({error})"
    return ModelFileError(f"{place} is damaged: {reason}")


def check_schema(file: Path, facts: dict[str, Any], known: int, oldest: int) -> None:
    """Refuse facts of no schema, or of one that this version does not read."""
    if "schema" not in facts:
        raise ModelFileError(f"{file} has no schema: it is damaged, or no part of a model folder")
    schema = facts["schema"]
    try:
        require_whole("schema", schema, least=1)
    except InputError as error:
        raise damage(file, error) from error
    if schema > known:
        raise ModelFileError(
            f"{file} has schema {schema}; this version of subadjacent reads schema {oldest} to "
            f"{known}: upgrade it to load the model"
        )
    if schema < oldest:
        raise ModelFileError(
            f"{file} has schema {schema}, of an earlier version; this version of subadjacent "
            f"reads schema {oldest} to {known}: fit the detector anew"
        )


def check_files(folder: Path, facts_file: str, files: Any, names: Collection[str]) -> None:
    """Refuse files of another size or hash than was noted."""
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
        actual = identity(folder / name)
        if actual["bytes"] < noted["bytes"]:
            raise ModelFileError(
                f"{folder / name} is truncated, or of another model: {actual['bytes']} of "
                f"{noted['bytes']} bytes are there"
            )
        if actual != {"bytes": noted["bytes"], "sha256": noted["sha256"]}:
            raise ModelFileError(
                f"{folder / name} is not the file that {facts_file} was saved with"
            )


def check_seal(file: Path, facts: dict[str, Any], editable: str) -> None:
    """Refuse facts of which any but the editable one has changed since they were saved."""
    noted = facts.get("sealed")
    if not isinstance(noted, dict):
        raise ModelFileError(f"{file} is damaged: sealed must be a JSON object; got {noted!r}")
    beside = {"schema", "versions", "files", "sealed", editable}
    actual = seal({name: value for name, value in facts.items() if name not in beside})
    names = actual.keys() | noted.keys()
    changed = sorted(name for name in names if actual.get(name) != noted.get(name))
    if changed:
        raise ModelFileError(
            f"{file} is damaged: {', '.join(changed)} is not what was saved; "
            f"only {editable} may be changed by hand"
        )


def check_facts(facts: dict[str, Any]) -> None:
    """Refuse facts that no fitted detector has, whatever its kind."""
    require_number("threshold", facts["threshold"])
    if abs(facts["threshold"]) > sys.float_info.max:
        raise InputError("threshold must be a number that a float64 holds; got a larger one")
    for name in ("named_channels", "named_series", "entities_by_position"):
        if not isinstance(facts[name], bool):
            raise InputError(f"{name} must be true or false; got {facts[name]!r}")
    for name in ("channels", "entities"):
        names = facts[name]
        texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not texts or len(set(names)) < len(names):
            raise InputError(f"{name} must be a list of different names; got {names!r}")
    versions = facts["versions"]
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        raise InputError(f"versions must be names and versions; got {versions!r}")
    # those of all entities together, then those of each
    known, count = facts["normal_scores"], 1 + len(facts["entities"])
    if not isinstance(known, list) or len(known) != count:
        raise InputError(f"normal_scores must be a list of {count}; got {known!r}")
    for scores in known:
        NormalScores.from_dict(scores)


def check_arrays(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse arrays that hold anything but finite numbers: scores from them would be NaN."""
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise InputError(f"{name} must hold numbers; got {array.dtype}")
        if not np.isfinite(array).all():
            raise InputError(f"{name} holds values that are not finite")
