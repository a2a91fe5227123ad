"""Rows that were judged and are not learned from yet."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Block:
    """Named arrays, one entry a row, that grow until they are learned from."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[dict[str, Array]] = []

    def add(self, count: int, **arrays: Array) -> None:
        """Some more rows, and what was found in them."""
        self.count += count
        if arrays:
            self._parts.append(arrays)

    def together(self) -> dict[str, Array]:
        """What was found in all rows; only what is known of each of them."""
        names = set.intersection(*(set(part) for part in self._parts)) if self._parts else set()
        return {name: np.concatenate([part[name] for part in self._parts]) for name in names}

    def state(self) -> dict[str, NDArray[Any]]:
        """As arrays; ``restore`` is the inverse."""
        return {"count": np.array([self.count]), **self.together()}

    @classmethod
    def restore(cls, state: dict[str, NDArray[Any]]) -> Self:
        """Go on with these rows."""
        arrays = dict(state)
        block = cls()
        block.add(int(arrays.pop("count")[0]), **arrays)
        return block
