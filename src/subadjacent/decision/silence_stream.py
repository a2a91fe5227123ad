"""Channels that say nothing while rows come in: gaps are filled, long ones and stuck ones found.

The rules are those of a batch (``data.gaps``, ``decision.silence``), less what only later rows
could tell: a gap counts as long from the row by which it is too long, not from its first.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import FilledRows
from subadjacent.decision.kinds import MAX_NORMAL_RUN, MIN_STUCK_ROWS

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

KNOWN_AFTER = 100
"""Rows of a series without a model after which it is known which channels never stand still."""


CARRIED = ("previous", "gap", "run", "still", "accepted")


class SilentRows(NamedTuple):
    """What says nothing, and since when."""

    missing: NDArray[np.bool_]  # (B, C), for long
    silent: NDArray[np.bool_]  # (B, C), that or stuck, unless it was accepted
    begins: NDArray[np.bool_]  # (B, C), the row at which it is known that a channel is silent
    since: Counts  # (B, C), rows before it that what is silent has been so; 0 elsewhere


class SilenceTracker:
    """Tells which channels are missing for long or stuck.

    Parameters
    ----------
    channels
        How many there are.
    fill_limit
        Rows that a channel may be missing without a word.
    still
        The longest run of equal values in training, (C,); None to learn it from the rows.

    Attributes
    ----------
    all_speak
        Whether no value of the rows assessed last is missing or that of the row before.
    """

    def __init__(self, channels: int, fill_limit: int, still: Array | None = None) -> None:
        self._fill_limit = fill_limit
        self._learns = still is None
        self.previous = np.full(channels, np.nan)
        self.gap = np.zeros(channels, dtype=np.int64)
        self.run = np.zeros(channels, dtype=np.int64)
        self.still = np.zeros(channels) if still is None else np.array(still, dtype=np.float64)
        # missing, and known to be
        self.accepted = np.zeros(channels, dtype=bool)
        self.rows = 0
        self.all_speak = False

    def step(self, filled: FilledRows, starts: NDArray[np.bool_]) -> SilentRows:
        """Judge rows that follow those before, at least one."""
        values, gaps = filled
        changed = np.empty(values.shape, dtype=bool)
        np.not_equal(values[0], self.previous, out=changed[0])
        np.not_equal(values[1:], values[:-1], out=changed[1:])
        changed |= starts[:, None]
        if changed.all() and not gaps.any():
            return self._all_speak(values)
        self.all_speak = False
        missing = gaps > self._fill_limit
        # what was accepted may be an alarm again once the channel has spoken
        accepted = self.accepted & np.logical_and.accumulate(gaps > 0, axis=0)
        runs, stuck = self._stuck(values, changed)
        silent = (missing & ~accepted) | (stuck & ~missing)
        since = np.where(silent, np.where(missing, gaps, runs) - 1, 0)
        # by its count, so that nothing has to be carried from row to row
        begins = silent & np.where(missing, gaps == self._fill_limit + 1, runs == MIN_STUCK_ROWS)
        self.accepted = accepted[-1]
        self.gap = gaps[-1]
        self.rows += len(values)
        return SilentRows(missing, silent, begins, since)

    def _all_speak(self, values: Array) -> SilentRows:
        """The same where all values are there and none is that of the row before: most rows."""
        # else all that is carried but the last row is so already
        if not self.all_speak:
            if self._learns:
                # the run before them ends, and may have been an alarm
                ended = np.where(self.run < MIN_STUCK_ROWS, self.run, 0)
                self.still = np.maximum(np.maximum(self.still, 1), ended)
            self.run, self.gap = np.ones_like(self.run), np.zeros_like(self.gap)
            self.accepted = np.zeros_like(self.accepted)
            self.all_speak = True
        self.previous = values[-1]
        self.rows += len(values)
        none = np.zeros(values.shape, dtype=bool)
        return SilentRows(none, none, none, np.zeros(values.shape, dtype=np.int64))

    def accept(self) -> None:
        """Take what is missing or stuck now for normal."""
        self.accepted = self.gap > self._fill_limit
        self.still = np.maximum(self.still, np.where(self.run >= MIN_STUCK_ROWS, self.run, 0))

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is carried from row to row."""
        carried = {name: np.array(getattr(self, name)) for name in CARRIED}
        return carried | {"rows": np.array([self.rows])}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``state``."""
        for name in CARRIED:
            setattr(self, name, saved[name])
        self.rows = int(saved["rows"][0])
        self.all_speak = False

    def _stuck(self, values: Array, changed: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.bool_]]:
        """Rows that each value has been the same, and which are too many for the channel."""
        places = np.arange(len(values))[:, None]
        since = np.maximum.accumulate(np.where(changed, places, -1), axis=0)
        runs = places - since + np.where(since < 0, self.run, 1)
        still = self.still
        if self._learns:
            ended = np.where(changed, np.vstack([self.run, runs[:-1]]), 0)
            # a run that was an alarm does not make another one usual
            counts = np.where(
                self.rows + places < KNOWN_AFTER,
                np.maximum(ended, runs),
                np.where(ended < MIN_STUCK_ROWS, ended, 0),
            )
            still = np.maximum(still, np.maximum.accumulate(counts, axis=0))
            self.still = still[-1]
        self.previous, self.run = values[-1], runs[-1]
        return runs, (runs >= MIN_STUCK_ROWS) & (still <= MAX_NORMAL_RUN)
