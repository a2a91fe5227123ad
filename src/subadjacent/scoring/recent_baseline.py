"""The recent baseline of a series' scores: a permanent change becomes the new normal.

A score is the distance of a row from the training rows. Where scores have been high for long, the
score relative to the recent baseline counts. Only earlier rows set the baseline, so that it does
not depend on the rows that follow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from subadjacent.scoring.normal import NormalScores

# blocks in the rows that a change must last; medians move by blocks
BLOCKS = 40
# a level at which the model no longer fits is followed this many times as quickly. With a half of
# this random walks raise a fifth more alarms; with twice as much, longer events are followed
# before they end (reproduce/log.md, "Decisions that hold")
SPEED_UP = 8


class RecentBaseline(NamedTuple):
    """The baseline shift of scores, row by row.

    ``shift`` is the distance above the median of normal scores. ``shifted`` marks rows whose
    baseline is above what hardly any normal row exceeds: the model no longer fits.
    """

    shift: NDArray[np.float64]  # (T,)
    shifted: NDArray[np.bool_]  # (T,)

    @classmethod
    def unshifted(cls, rows: int) -> RecentBaseline:
        """A baseline that stays: training rows alone set what is normal."""
        return cls(np.zeros(rows), np.zeros(rows, dtype=bool))


def follow(scores: NDArray[np.float64], normal: NormalScores, after: int) -> RecentBaseline:
    """The recent baseline of scores: a new level is normal once it lasted ``after`` rows.

    The level is the median over twice as many rows before a row; before the first there were
    normal rows. Where it is so high that the model does not fit, the median over fewer rows counts
    if it is higher: a single change is an alarm, a series of changes is not.
    """
    block = -(-after // BLOCKS)
    slow = max(2 * after // block, 1)
    quick = max(slow // SPEED_UP, 1)
    blocks = len(scores) // block
    medians = np.median(scores[: blocks * block].reshape(blocks, block), axis=1)
    before = np.concatenate([np.full(slow, normal.typical), medians])
    # for each block, and for the rows after the last one, the rows before it
    windows = sliding_window_view(before, slow)
    slowly = np.median(windows, axis=1)
    quickly = np.median(windows[:, -quick:], axis=1)
    shifted = slowly > normal.high
    level = np.where(shifted, np.maximum(slowly, quickly), slowly)
    shift = np.maximum(level - normal.typical, 0)
    rows = np.minimum(np.arange(len(scores)) // block, blocks)
    return RecentBaseline(shift[rows], shifted[rows])
