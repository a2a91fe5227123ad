"""The state of a stream as one file: arrays and JSON, no pickle, whole or not there at all.

Arrays of a part are named after it, as in ``part/array``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.durable import whole_file
from subadjacent.errors import DataNotFound, ModelFileError
from subadjacent.methods.method import State

Arrays = dict[str, NDArray[Any]]


def join_names(parts: dict[str, Arrays]) -> Arrays:
    """The arrays of all parts in one dict, each named after its part; ``split_names`` undoes it."""
    return {
        f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()
    }


def split_names(arrays: Arrays) -> dict[str, Arrays]:
    """The arrays of each part. A name is split once, so that parts may have parts."""
    parts: dict[str, Arrays] = {}
    for key, array in arrays.items():
        part, _, name = key.partition("/")
        parts.setdefault(part, {})[name] = array
    return parts


FORMAT = "subadjacent stream 1"
"""What a file says that it is; a later form will say something else."""


def save_state(path: Path, state: State) -> None:
    """Write a state; a kill at any moment leaves the old file or the new one."""
    from safetensors.numpy import save_file

    arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
    with whole_file(path) as draft:
        save_file(arrays, draft, {"format": FORMAT, "facts": json.dumps(state.facts)})


def load_state(path: Path) -> State:
    """Read a state that ``save_state`` wrote."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise DataNotFound(f"{path} is not there: it should be the saved state of a stream")
    try:
        with safe_open(path, framework="numpy") as opened:
            facts: Any = opened.metadata() or {}
            if facts.get("format") != FORMAT:
                raise ModelFileError(f"{path} does not hold the state of a stream")
            # ours to change: what is read may be a view of the file
            arrays = {name: np.array(opened.get_tensor(name)) for name in opened.keys()}  # noqa: SIM118
        return State(arrays, json.loads(facts["facts"]))
    except (SafetensorError, ValueError, KeyError, OSError) as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error
