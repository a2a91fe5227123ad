"""The last rows of a segment that is still growing, by their numbers in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# rows that there is room for at first: few enough to cost nothing, enough not to grow at once
MIN_CAPACITY = 64


class RowBuffer:
    """Rows ``begin`` to ``end`` of a segment, of any shape; rows before them are forgotten.

    Rows are added in place: the time that it takes does not depend on how many are kept.

    Parameters
    ----------
    rows
        The first of them, which set shape and type.
    begin
        The number of the first row.
    """

    __slots__ = ("_first", "_room", "begin", "end")

    def __init__(self, rows: NDArray[Any], begin: int = 0) -> None:
        self._room = np.empty((len(rows) + MIN_CAPACITY, *rows.shape[1:]), rows.dtype)
        self._room[: len(rows)] = rows
        self._first = 0
        self.begin, self.end = begin, begin + len(rows)

    @property
    def rows(self) -> NDArray[Any]:
        """The kept rows; later rows may overwrite this."""
        return self._room[self._first : self._first + self.end - self.begin]

    def push(self, rows: NDArray[Any]) -> None:
        """Add the rows that follow."""
        stop, new = self._first + self.end - self.begin, len(rows)
        if stop + new > len(self._room):
            kept = self.rows
            # twice the room: most rows are then added without moving any other
            room = np.empty((2 * (len(kept) + new), *kept.shape[1:]), kept.dtype)
            room[: len(kept)] = kept
            self._room, self._first, stop = room, 0, len(kept)
        self._room[stop : stop + new] = rows
        self.end += new

    def forget(self, before: int) -> None:
        """Rows before a number, at most ``end``, are needed no more."""
        if before > self.begin:
            self._first += before - self.begin
            self.begin = before

    def between(self, first: int, last: int) -> NDArray[Any]:
        """Rows ``first`` to ``last`` of the segment, all of them kept."""
        at = self._first - self.begin
        return self._room[at + first : at + last]

    def copy(self) -> RowBuffer:
        """An independent copy."""
        return RowBuffer(self.rows, self.begin)
