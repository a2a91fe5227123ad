"""Names of arrays in a saved state: those of a part begin with its name, as in ``part/array``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

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
