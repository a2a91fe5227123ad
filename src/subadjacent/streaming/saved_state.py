"""The state of a stream as one file of arrays and JSON, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from subadjacent.durable import whole_file
from subadjacent.errors import DataNotFound, ModelFileError
from subadjacent.methods.method import State

FORMAT = "subadjacent stream 2"
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
