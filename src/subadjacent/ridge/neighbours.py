"""Which rows are the neighbours of a row, and sums over them without forming a window for each.

Shapes: T rows of a segment, K columns, J neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import FARTHEST, require_whole


class Side(NamedTuple):
    """The neighbours on one side of a row: ``size`` of them, the first at ``offset``."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Rows at a distance of at least ``near``, up to ``behind`` before and ``ahead`` after a row.

    Every ``step``-th row counts, seen from the nearest. A side that reaches less far than ``near``
    has no neighbours.
    """

    near: int
    behind: int
    ahead: int
    step: int = 1

    def __post_init__(self) -> None:
        # nearer than 1 is the row itself, which would explain itself
        require_whole("near", self.near, least=1, most=FARTHEST)
        require_whole("behind", self.behind, least=0, most=FARTHEST)
        require_whole("ahead", self.ahead, least=0, most=FARTHEST)
        require_whole("step", self.step, least=1, most=FARTHEST)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that have neighbours, in time order."""
        before = len(range(self.near, self.behind + 1, self.step))
        after = len(range(self.near, self.ahead + 1, self.step))
        sides = (Side(-(self.near + (before - 1) * self.step), before), Side(self.near, after))
        return tuple(side for side in sides if side.size)

    @property
    def count(self) -> int:
        """How many neighbours a row has."""
        return sum(side.size for side in self.sides)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where they stand, seen from the row."""
        return np.concatenate(
            [side.offset + self.step * np.arange(side.size) for side in self.sides]
        )

    @property
    def reach(self) -> int:
        """The farthest that either side reaches."""
        return max(self.behind, self.ahead)

    def complete(self, rows: int) -> slice:
        """The rows of a segment that have all their neighbours."""
        first = min(self.behind, rows)
        return slice(first, max(rows - self.ahead, first))

    def windows(self, values: NDArray[Any], first: int, last: int) -> NDArray[Any]:
        """The neighbours of each row from ``first`` to ``last``, copied, (rows, J, K)."""
        values = np.ascontiguousarray(values)
        width, item = values.shape[1], values.itemsize
        return np.concatenate(
            [
                np.lib.stride_tricks.as_strided(
                    values[first + side.offset :],
                    (last - first, side.size, width),
                    (width * item, self.step * width * item, item),
                    writeable=False,
                )
                for side in self.sides
            ],
            axis=1,
        )

    def aligned(
        self, values: NDArray[Any], first: int, last: int
    ) -> Iterator[tuple[slice, list[NDArray[Any]]]]:
        """Which of the rows from ``first`` to ``last``, and their neighbours by side, (n, J·K).

        The windows of rows that lie a whole window apart do not overlap: they are one piece of
        memory, cut into rows. So all windows are seen without a copy, in as many turns as a
        window is long (every ``step``-th row is copied once).
        """
        width, longest = values.shape[1], max(side.size for side in self.sides)
        for phase in range(min(self.step, last - first)):
            wanted = range(first + phase, last, self.step)
            lanes = [
                np.ascontiguousarray(
                    values[wanted.start + side.offset :: self.step][: len(wanted) + side.size - 1]
                )
                for side in self.sides
            ]
            for turn in range(min(longest, len(wanted))):
                rows = wanted[turn::longest]
                views = [
                    _windows_apart(lane, turn, side.size, longest, len(rows), width)
                    for lane, side in zip(lanes, self.sides, strict=True)
                ]
                yield slice(rows.start - first, rows.stop - first, rows.step), views


def _windows_apart(
    lane: NDArray[Any], start: int, length: int, apart: int, count: int, width: int
) -> NDArray[Any]:
    """``count`` windows of ``length`` rows, ``apart`` rows from each other, without a copy."""
    item = lane.itemsize
    return np.lib.stride_tricks.as_strided(
        lane[start:], (count, length * width), (apart * width * item, item), writeable=False
    )
