"""A fitted detector in a folder: JSON and safetensors, never a pickle.

``config.json`` holds the detector's kind and parameters, ``model.safetensors`` its arrays,
``detector.json`` what it learned beside them, with size and hash of the other two, and
``README.md`` a card for people.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import subadjacent
from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.scoring.threshold import Fixed, threshold_from_dict

SCHEMA = 1
CONFIG, WEIGHTS, FACTS, CARD = "config.json", "model.safetensors", "detector.json", "README.md"

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """What a model folder holds."""

    kind: str
    parameters: dict[str, Any]
    facts: dict[str, Any]
    tensors: Tensors


def save_folder(path: Path, saved: Saved) -> None:
    """Write a model folder; an older one in its place is replaced once the new one is whole.

    Raises
    ------
    InputError
        When ``path`` holds something that is not a model folder.
    """
    from safetensors.torch import save_file

    if path.exists() and not (path.is_dir() and _is_model_or_empty(path)):
        raise InputError(f"path must be new or a model folder; {path} holds something else")
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fresh.mkdir()
    try:
        config = {"kind": saved.kind, "parameters": saved.parameters}
        _write_json(fresh / CONFIG, config)
        tensors = {name: one.detach().cpu().contiguous() for name, one in saved.tensors.items()}
        save_file(tensors, fresh / WEIGHTS)
        facts = {
            "schema": SCHEMA,
            "versions": {
                "subadjacent": subadjacent.__version__,
                "torch": str(torch.__version__),
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "files": {name: _identity(fresh / name) for name in (CONFIG, WEIGHTS)},
        }
        _write_json(fresh / FACTS, facts | saved.facts)
        (fresh / CARD).write_text(_card(saved), encoding="utf-8")
        _swap(fresh, path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def load_folder(path: Path) -> Saved:
    """Read a model folder, after checking that it is whole and that its files belong together.

    Raises
    ------
    DataNotFound
        When the folder or one of its files is not there.
    ModelFileError
        When a file is damaged, swapped, or written by a newer version.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_dir():
        raise DataNotFound(f"{path} is not a model folder: there is no such folder")
    missing = [name for name in (CONFIG, WEIGHTS, FACTS) if not (path / name).is_file()]
    if missing:
        raise DataNotFound(f"{path} is not a whole model folder: {', '.join(missing)} is missing")
    facts = _read_json(path / FACTS)
    schema = facts.get("schema")
    if not isinstance(schema, int) or schema > SCHEMA:
        raise ModelFileError(
            f"{path / FACTS} has schema {schema!r}; this version of subadjacent reads up to "
            f"{SCHEMA}: upgrade it to load the model"
        )
    for name in (CONFIG, WEIGHTS):
        _check_identity(path / name, facts.get("files", {}).get(name))
    config = _read_json(path / CONFIG)
    try:
        tensors = load_file(path / WEIGHTS)
        return Saved(config["kind"], config["parameters"], facts, tensors)
    except (SafetensorError, KeyError) as error:
        raise ModelFileError(f"{path} is damaged ({error})") from error


def encode_parameters(parameters: dict[str, Any], threshold: float) -> dict[str, Any]:
    """Constructor arguments as JSON can hold them.

    A threshold object of another library becomes the fixed threshold that it came to; a
    random generator, which has moved on since, becomes None.
    """
    return {name: _encode(value, threshold) for name, value in parameters.items()}


def decode_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """The inverse of ``encode_parameters``."""
    return {
        name: threshold_from_dict(value) if isinstance(value, dict) else value
        for name, value in parameters.items()
    }


def _encode(value: Any, threshold: float) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike | torch.device):
        return str(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return Fixed(threshold).to_dict() if hasattr(value, "predict") else None


def _card(saved: Saved) -> str:
    facts = saved.facts
    channels = ", ".join(facts["channels"])
    return (
        f"# {saved.kind}\n\n"
        f"A detector of anomalies in time series, saved by subadjacent "
        f"{subadjacent.__version__}.\n\n"
        f"- channels, in this order: {channels}\n"
        f"- entities: {', '.join(facts['entities']) or 'one series without a name'}\n"
        f"- threshold: {facts['threshold']:.6g} (a typical row scores "
        f"{facts['typical_score']:.3g}); it may be edited in `{FACTS}`\n\n"
        f"```python\n"
        f"import subadjacent\n\n"
        f'detector = subadjacent.load("path/to/this/folder")\n'
        f"scores = detector.decision_function(rows)  # one a row, high = abnormal\n"
        f"```\n"
    )


def _identity(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": file.stat().st_size, "sha256": digest}


def _check_identity(file: Path, expected: dict[str, Any] | None) -> None:
    found = _identity(file)
    if found == expected:
        return
    if expected and found["bytes"] < expected["bytes"]:
        raise ModelFileError(
            f"{file} is truncated: {found['bytes']} of {expected['bytes']} bytes are there"
        )
    raise ModelFileError(f"{file} is not the file that {FACTS} was saved with")


def _read_json(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelFileError(f"{file} is not readable JSON ({error})") from error
    if not isinstance(document, dict):
        raise ModelFileError(f"{file} must hold a JSON object; got a {type(document).__name__}")
    return document


def _write_json(file: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def _is_model_or_empty(path: Path) -> bool:
    return (path / FACTS).exists() or not any(path.iterdir())


def _swap(fresh: Path, path: Path) -> None:
    """Put ``fresh`` in the place of ``path``, with the old one kept until that is done."""
    if not path.exists():
        fresh.rename(path)
        return
    old = fresh.with_name(fresh.name + ".old")
    path.rename(old)
    try:
        fresh.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old)
