"""Channels that say nothing while rows come in: gaps are filled, long ones and stuck ones told.

The rules are those of a batch (``data.cleaning``, ``scoring.silence``), less what only later rows
could tell: a gap counts as long from the row by which it is too long, not from its first.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.kinds import LEAST_STILL, NEVER_STILL

Array = NDArray[np.float64]

KNOWN_AFTER = 100
"""Rows of a series without a model after which it is known which channels never stand still."""


class Filled(NamedTuple):
    """Rows without NaN, and what of them says nothing, (B, C) each."""

    values: Array
    missing: NDArray[np.bool_]  # for longer than is filled without a word
    silent: NDArray[np.bool_]  # that, or stuck


class Channels:
    """What is carried from row to row of each channel.

    Parameters
    ----------
    typical
        Stands in for a channel that had no value yet, (C,).
    fill_limit
        Rows that a channel may be missing without a word.
    still
        The longest run of equal values in training, (C,); None to learn it from the rows.
    """

    def __init__(self, typical: Array, fill_limit: int, still: Array | None = None) -> None:
        channels = len(typical)
        self._fill_limit = fill_limit
        self._learns = still is None
        self.last = np.array(typical, dtype=np.float64)
        self.seen = np.zeros(channels, dtype=bool)
        self.gap = np.zeros(channels, dtype=np.int64)
        self.run = np.zeros(channels, dtype=np.int64)
        self.still = np.zeros(channels) if still is None else np.array(still, dtype=np.float64)
        self.accepted = np.zeros(channels, dtype=bool)
        self.rows = 0

    def step(self, rows: Array, starts: NDArray[np.bool_]) -> Filled:
        """Take rows that follow those before; NaN for what is missing."""
        unknown = np.isnan(rows)
        values, gaps = self._fill(rows, unknown)
        stuck = self._stuck(values, starts)
        # what was accepted is news again once the channel has spoken
        spoken = np.logical_or.accumulate(~unknown, axis=0)
        missing = gaps > self._fill_limit
        silent = (missing & ~(self.accepted & ~spoken)) | (stuck & ~missing)
        self.accepted &= ~spoken[-1]
        self.rows += len(rows)
        return Filled(values, missing, silent)

    def accept(self) -> None:
        """Take what is missing or stuck now for normal."""
        self.accepted |= self.gap > self._fill_limit
        self.still = np.maximum(self.still, np.where(self.run >= LEAST_STILL, self.run, 0))

    def _fill(self, rows: Array, unknown: NDArray[np.bool_]) -> tuple[Array, NDArray[np.int64]]:
        """Values with the last one before each gap, and how long each gap is by each row."""
        if not unknown.any():
            self.last = rows[-1].copy()
            self.seen[:] = True
            self.gap[:] = 0
            return rows, np.zeros(rows.shape, dtype=np.int64)
        places = np.arange(len(rows))[:, None]
        # the last row with a value; -1: one before these
        source = np.maximum.accumulate(np.where(unknown, -1, places), axis=0)
        columns = np.arange(rows.shape[1])
        values = np.where(source < 0, self.last, rows[np.maximum(source, 0), columns])
        gaps = places - source + np.where(source < 0, self.gap, 0)
        # a row with a value is no row of a gap
        gaps[~unknown] = 0
        self.last, self.gap = values[-1].copy(), gaps[-1].copy()
        self.seen |= ~unknown.all(axis=0)
        return values, gaps

    def _stuck(self, values: Array, starts: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where a channel that never stands still has been the same for ``LEAST_STILL`` rows."""
        before = np.vstack([self._before(values), values[:-1]])
        changed = (values != before) | starts[:, None]
        places = np.arange(len(values))[:, None]
        since = np.maximum.accumulate(np.where(changed, places, -1), axis=0)
        runs = places - since + np.where(since < 0, self.run, 1)
        if self._learns:
            ended = np.where(changed, np.vstack([self.run, runs[:-1]]), 0)
            learning = self.rows + places < KNOWN_AFTER
            # a run that was an alarm does not make another one usual
            counts = np.where(learning, np.maximum(ended, runs), ended * (ended < LEAST_STILL))
            still = np.maximum(self.still, np.maximum.accumulate(counts, axis=0))
            self.still = still[-1]
        else:
            still = self.still
        self.run = runs[-1]
        self._previous = values[-1].copy()
        return np.asarray((runs >= LEAST_STILL) & (still <= NEVER_STILL))

    def _before(self, values: Array) -> Array:
        """The row before these; before the first there is none that anything equals."""
        return self._previous if self.rows else np.full(values.shape[1], np.nan)

    def copy(self) -> Self:
        """As it is now, to go back to."""
        return self.restore(self.state(), self._fill_limit, learns=self._learns)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """All that is carried, as arrays."""
        names = ("last", "seen", "gap", "run", "still", "accepted")
        carried = {name: np.array(getattr(self, name), dtype=np.float64) for name in names}
        previous = self._previous if self.rows else self.last
        return carried | {"previous": previous.copy(), "rows": np.array([float(self.rows)])}

    @classmethod
    def restore(cls, saved: dict[str, Array], fill_limit: int, *, learns: bool) -> Self:
        """The inverse of ``state``."""
        channels = cls(saved["last"], fill_limit, None if learns else saved["still"])
        for name in ("seen", "accepted"):
            setattr(channels, name, saved[name].astype(bool))
        for name in ("gap", "run"):
            setattr(channels, name, saved[name].astype(np.int64))
        channels.still = np.array(saved["still"])
        channels._previous = np.array(saved["previous"])
        channels.rows = int(saved["rows"][0])
        return channels
