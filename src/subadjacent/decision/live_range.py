"""Expected ranges of a stream's rows, from the profiles of training and the rows before.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.causes import with_rows_beside
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.recent_rows import RecentBuffer
from subadjacent.decision.references import BLOCK_ROWS


def ranges_of(evidence: Evidence, *, kept: bool) -> NDArray[np.float64]:
    """Expected value, low and high of evidence, (B, 3, C); (B, 0, C) where they are not kept."""
    if not kept:
        rows, channels = evidence.by_channel.shape
        return np.empty((rows, 0, channels))
    assert evidence.expected is not None
    assert evidence.low is not None
    assert evidence.high is not None
    return np.stack([evidence.expected, evidence.low, evidence.high], axis=1)


class LiveRanges:
    """Expected ranges of a stream's rows, as charts of a batch have them.

    Those of a block are told in advance, from the rows before it: a level is that of earlier blocks
    anyway. They depend on the last rows alone, so there is no state to save.
    """

    def __init__(self, profiles: BaselineProfiles, channels: int) -> None:
        self._profiles = [profiles.of(channel) for channel in range(channels)]
        # first row of the block that is known, and its ranges, (BLOCK_ROWS, 3, C)
        self._begin, self._block = -1, np.empty((0, 3, channels))

    def put(self, evidence: Evidence, recent: RecentBuffer, first: int) -> Evidence:
        """Evidence with the ranges of its rows, which are recent ones: ``first`` and later."""
        count = len(evidence.score)
        blocks = range(first // BLOCK_ROWS, -(-(first + count) // BLOCK_ROWS))
        found = np.concatenate([self._of_block(recent, BLOCK_ROWS * block) for block in blocks])
        offset = first - BLOCK_ROWS * blocks.start
        expected, low, high = found[offset : offset + count].swapaxes(0, 1)
        return evidence._replace(expected=expected, low=low, high=high)

    def _of_block(self, recent: RecentBuffer, begin: int) -> NDArray[np.float64]:
        if begin != self._begin:
            rows = recent.until(begin - 1)
            start = rows.segment_starts[-1]
            unknown = np.ones(BLOCK_ROWS, dtype=bool)
            left_out = np.append(with_rows_beside(rows.anomalous[start:]), unknown)
            values = np.pad(rows.values[start:], [(0, BLOCK_ROWS), (0, 0)])
            block = slice(len(values) - BLOCK_ROWS, len(values))
            self._block = np.stack(
                [
                    np.stack(profile.expected_range(values[:, channel], left_out, block), axis=1)
                    for channel, profile in enumerate(self._profiles)
                ],
                axis=2,
            )
            self._begin = begin
        return self._block
