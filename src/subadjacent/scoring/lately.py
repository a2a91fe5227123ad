"""The recent level of a series' scores: a change for good becomes, after a while, the new normal.

A score says how unlike the training rows a row is. Where scores have been high for long, this is no
news. Then the score relative to the recent level counts. Only earlier rows set that level, so that
it is the same whether more rows follow or not.
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
QUICKER = 8


class Lately(NamedTuple):
    """How the level of scores moved, row by row.

    ``shift`` is how far it has moved up from that of normal rows. ``moved`` says where it is above
    what hardly any normal row exceeds: the model no longer fits.
    """

    shift: NDArray[np.float64]  # (T,)
    moved: NDArray[np.bool_]  # (T,)

    @classmethod
    def unmoved(cls, rows: int) -> Lately:
        """A level that never moves: where training rows alone set what is normal."""
        return cls(np.zeros(rows), np.zeros(rows, dtype=bool))


def follow(scores: NDArray[np.float64], normal: NormalScores, after: int) -> Lately:
    """Follow the level of scores: a new one counts as usual once it has lasted ``after`` rows.

    The level is the median over twice as many rows before a row; before the first there were
    normal rows. Where it is so high that the model does not fit, the median over fewer rows counts
    if it is higher: one change is news, one after the other is not.
    """
    block = -(-after // BLOCKS)
    slow = max(2 * after // block, 1)
    quick = max(slow // QUICKER, 1)
    blocks = len(scores) // block
    medians = np.median(scores[: blocks * block].reshape(blocks, block), axis=1)
    before = np.concatenate([np.full(slow, normal.typical), medians])
    # for each block, and for the rows after the last one, the rows before it
    windows = sliding_window_view(before, slow)
    slowly = np.median(windows, axis=1)
    quickly = np.median(windows[:, -quick:], axis=1)
    moved = slowly > normal.high
    level = np.where(moved, np.maximum(slowly, quickly), slowly)
    shift = np.maximum(level - normal.typical, 0)
    rows = np.minimum(np.arange(len(scores)) // block, blocks)
    return Lately(shift[rows], moved[rows])
