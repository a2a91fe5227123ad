"""A fitted detector in a folder: JSON and safetensors, never a pickle.

``config.json`` holds the detector's kind and parameters, ``model.safetensors`` its arrays,
``detector.json`` all else, with size and hash of the other two and a hash of each of its own
entries but the threshold, and ``README.md`` a card for people.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import subadjacent
from subadjacent.data.clock import duration
from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.threshold import Fixed, threshold_from_dict
from subadjacent.detectors.integrity import (
    BAD_VALUES,
    check_arrays,
    check_facts,
    check_files,
    check_schema,
    check_seal,
    damage,
    identity,
    seal,
)
from subadjacent.durable import check_replaceable, read_whole, whole_folder
from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.showing import in_markdown

SCHEMA = 4
# folders from this one on can be read: before, models had other thresholds and no channel units
OLDEST = 4
CONFIG, WEIGHTS, FACTS, CARD = "config.json", "model.safetensors", "detector.json", "README.md"
FILES = frozenset({CONFIG, WEIGHTS, FACTS, CARD})
# digits of a whole number that NumPy still takes for one
MOST_DIGITS = 18
# the one entry of FACTS that may be changed by hand
EDITABLE = "threshold"


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """The content of a model folder; ``parameters`` are the constructor's arguments."""

    kind: str
    parameters: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def save_folder(path: Path, saved: Saved) -> None:
    """Write a model folder; an older one in its place is replaced once this is complete.

    Where ``path`` is a link, the folder behind it is replaced. Hidden files in it are kept.

    Raises
    ------
    InputError
        When ``path`` holds something that is not a model folder, or is the current folder or a
        mount point.
    """
    from safetensors.numpy import save_file

    path = path.resolve()
    # another process may be replacing it just now
    read_whole(path, check_place)
    with whole_folder(path, FILES.__contains__) as fresh:
        threshold = saved.facts[EDITABLE]
        parameters = {
            name: _encode(name, value, threshold) for name, value in saved.parameters.items()
        }
        _write_json(fresh / CONFIG, {"kind": saved.kind, "parameters": parameters})
        arrays = {name: np.ascontiguousarray(array) for name, array in saved.arrays.items()}
        save_file(arrays, fresh / WEIGHTS)
        facts = {
            "schema": SCHEMA,
            "versions": {
                "subadjacent": subadjacent.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "files": {name: identity(fresh / name) for name in (CONFIG, WEIGHTS)},
            "sealed": seal({k: v for k, v in saved.facts.items() if k != EDITABLE}),
        }
        _write_json(fresh / FACTS, facts | saved.facts)
        (fresh / CARD).write_text(_card(saved), encoding="utf-8")


def load_folder(path: Path) -> Saved:
    """Read a model folder, after checking that it is whole and that its files belong together.

    While another process replaces it, what is read is the old model or the new one.

    Raises
    ------
    DataNotFound
        When the folder or one of its files is not there.
    ModelFileError
        When a file is damaged, swapped, or written by another version.
    """
    return read_whole(path, _load)


def _load(path: Path) -> Saved:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    _check_present(path)
    facts = _read_json(path / FACTS)
    check_schema(path / FACTS, facts, SCHEMA, OLDEST)
    check_files(path, FACTS, facts.get("files"), (CONFIG, WEIGHTS))
    check_seal(path / FACTS, facts, EDITABLE)
    config = _read_json(path / CONFIG)
    with reading(path):
        check_facts(facts)
        kind, encoded = config["kind"], config["parameters"]
        parameters = {name: _decode(value) for name, value in encoded.items()}
        try:
            arrays = load_file(path / WEIGHTS)
        except SafetensorError as error:
            raise damage(path, error) from error
        check_arrays(arrays)
        return Saved(kind, parameters, facts, arrays)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error from values that do not fit into one that names the folder."""
    try:
        yield
    except BAD_VALUES as error:
        if isinstance(error, ModelFileError):
            raise
        raise damage(path, error) from error


def read_kind(path: Path) -> str:
    """The kind of detector that a folder holds; of the rest only the schema is checked."""
    return read_whole(path, _kind)


def _kind(path: Path) -> str:
    _check_present(path)
    check_schema(path / FACTS, _read_json(path / FACTS), SCHEMA, OLDEST)
    kind = _read_json(path / CONFIG).get("kind")
    if not isinstance(kind, str):
        raise ModelFileError(f"{path / CONFIG} is damaged: kind must be a name; got {kind!r}")
    return kind


def _encode(name: str, value: Any, threshold: float) -> Any:
    """A constructor argument as JSON can hold it.

    A threshold object of another library becomes the fixed threshold that it chose; a
    random generator, whose state has changed since, becomes None.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_encode(name, entry, threshold) for entry in value]
    # before numpy's numbers, among which numpy counts its own times
    if isinstance(value, timedelta | np.timedelta64):
        return duration(value, name=name)
    if isinstance(value, np.generic):
        return value.item()
    # a path, or a device of torch
    if isinstance(value, os.PathLike) or type(value).__name__ == "device":
        return str(value)
    if isinstance(value, BaseThreshold):
        return value.to_dict()
    return Fixed(threshold).to_dict() if hasattr(value, "predict") else None


def _decode(value: Any) -> Any:
    return threshold_from_dict(value) if isinstance(value, dict) else value


def _card(saved: Saved) -> str:
    facts = saved.facts
    channels, entities = (", ".join(map(in_markdown, facts[n])) for n in ("channels", "entities"))
    return (
        f"# {saved.kind}\n\n"
        f"A detector of anomalies in time series, saved by subadjacent "
        f"{subadjacent.__version__}.\n\n"
        f"- channels, in this order: {channels}\n"
        f"- entities: {entities or 'one series without a name'}\n"
        f"- threshold: {facts['threshold']:.6g} (a typical row scores "
        f"{facts['normal_scores'][0]['typical']:.3g}); it may be edited in `{FACTS}`\n\n"
        f"```python\n"
        f"import subadjacent\n\n"
        f'detector = subadjacent.load("path/to/this/folder")\n'
        f"scores = detector.decision_function(rows)  # one a row, high = abnormal\n"
        f"```\n"
    )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"), parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{file} is not readable JSON ({error})") from error
    if not isinstance(document, dict):
        raise ModelFileError(f"{file} must hold a JSON object; got a {type(document).__name__}")
    return document


def _whole(digits: str) -> float:
    """A whole number, or a float where it has too many digits for NumPy."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _write_json(file: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def _check_present(path: Path) -> None:
    if not path.is_dir():
        if path.exists():
            raise DataNotFound(f"{path} is a file, not a model folder")
        raise DataNotFound(f"{path} is not a model folder: there is no such folder")
    missing = [name for name in (CONFIG, WEIGHTS, FACTS) if not (path / name).is_file()]
    if missing:
        raise DataNotFound(f"{path} is not a whole model folder: {', '.join(missing)} is missing")


def check_place(path: Path) -> None:
    """Refuse to save where anything but a model would be replaced."""
    if not path.exists():
        return
    rule = "path must be new or a model folder"
    if not path.is_dir():
        raise InputError(f"{rule}; {path} is a file")
    names = {file.name for file in path.iterdir() if not file.name.startswith(".")}
    if foreign := sorted(names - FILES):
        raise InputError(f"{rule}; {path} holds {', '.join(foreign[:3])}")
    if names and FACTS not in names:
        raise InputError(f"{rule}; {path} holds {', '.join(sorted(names))} and no {FACTS}")
    check_replaceable(path)
