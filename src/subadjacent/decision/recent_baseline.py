"""The recent baseline of a series' scores: a permanent change becomes the new normal.

A score is the distance of a row from the training rows. Where scores have been high for long, the
score relative to the recent baseline counts. Only earlier rows set the baseline, so that it does
not depend on the rows that follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

# blocks in the rows that a change must last; medians move by blocks
BLOCKS = 40
# a level at which the model no longer fits is followed this many times as quickly. With a half of
# this random walks raise a fifth more alarms; with twice as much, longer events are followed
# before they end (reproduce/log.md, "Decisions that hold")
SPEED_UP = 8
# the spread reaches up to this quantile of the blocks' largest scores, so that an event shorter
# than a tenth of the rows does not widen it; a shift lasts once this share of the blocks is above
# ``high`` (reproduce/log.md, "How much rows vary about a shifted baseline")
HIGHEST = 0.9
# a distance of scores below this is rounding
TINY = 1e-12


class BaselineShift(NamedTuple):
    """The baseline shift of scores, row by row.

    ``shift`` is the distance above the median of normal scores. ``shifted`` marks rows whose
    baseline is so high that hardly any normal row exceeds it. ``spread`` is the ratio of the
    scores' spread above a lasting shifted baseline to that in training, at least 1: squared
    residuals vary more about another level. ``ended`` is the shifted baseline that a
    series has left by this row, because it is like training again; NaN at other rows.
    """

    shift: NDArray[np.float64]  # (T,)
    shifted: NDArray[np.bool_]  # (T,)
    spread: NDArray[np.float64]  # (T,)
    ended: NDArray[np.float64]  # (T,)

    def relative(self, scores: NDArray[np.float64], typical: float) -> NDArray[np.float64]:
        """Scores as if the baseline had not shifted, (T,); ``typical`` is the normal median."""
        above = scores - self.shift - typical
        return np.asarray(typical + np.where(above > 0, above / self.spread, above))

    def absolute(self, level: float | NDArray[np.float64], typical: float) -> NDArray[np.float64]:
        """The scores whose relative score is a level above ``typical``, (T,)."""
        return np.asarray(typical + self.shift + (level - typical) * self.spread)


class RecentBaseline:
    """Follows the baseline of scores as they come: a new level is normal once it has lasted.

    The level is the median over twice ``after`` rows before a row; before the first there were
    normal rows. Where it is so high that the rows are unlike training, the median over fewer rows
    counts if it is higher: a single change is an alarm, a series of changes is not. Once the last
    ``rows_until_back`` rows are like training, so is the baseline.

    Parameters
    ----------
    typical
        The median of normal scores.
    high
        A baseline above this is shifted.
    after
        Rows after which a new level is normal; None: never.
    width
        How far above the median one normal row in a hundred rises; that of ``high`` if not given.
    only_shifted
        Whether a baseline below ``high`` counts as not shifted at all.
    """

    def __init__(
        self,
        typical: float,
        high: float,
        after: int | None,
        *,
        width: float | None = None,
        only_shifted: bool = False,
    ) -> None:
        self._typical, self._high, self._only_shifted = typical, high, only_shifted
        self._width = max(high - typical if width is None else width, TINY)
        self._never = after is None
        self._block = -(-(after or 1) // BLOCKS)
        slow = max(2 * (after or 1) // self._block, 1)
        self._quick = max(slow // SPEED_UP, 1)
        self._medians = np.full(slow, typical)
        # the largest score of each of these blocks
        self._highest = np.full(slow, typical + self._width)
        # the rows of the block that has begun
        self._rows = np.zeros(0)

    @property
    def rows_until_back(self) -> int:
        """Rows that are like training when a series has come back."""
        return self._quick * self._block

    def push(self, scores: NDArray[np.float64]) -> BaselineShift:
        """The baseline at each of the next scores, (T,)."""
        if self._never:
            nothing = np.zeros(len(scores))
            return BaselineShift(nothing, nothing > 0, nothing + 1, np.full(len(scores), np.nan))
        parts = [self._follow(scores)]
        done = len(parts[0].shift)
        while done < len(scores):
            # the series came back here
            ended = float(np.median(self._medians))
            self._medians = np.full_like(self._medians, self._typical)
            self._highest = np.full_like(self._highest, self._typical + self._width)
            parts.append(self._follow(scores[done:]))
            parts[-1].ended[0] = ended
            done += len(parts[-1].shift)
        return BaselineShift(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _follow(self, scores: NDArray[np.float64]) -> BaselineShift:
        """The baseline up to the row, if any, by which the series has come back."""
        begun, slow = len(self._rows), len(self._medians)
        rows = np.concatenate([self._rows, scores])
        blocks = len(rows) // self._block
        by_block = rows[: blocks * self._block].reshape(blocks, self._block)
        before = np.concatenate([self._medians, np.median(by_block, axis=1)])
        highest = np.concatenate([self._highest, by_block.max(axis=1)])
        # for each block, and for the rows after the last one, the medians before it
        windows = sliding_window_view(before, slow)
        slowly = np.median(windows, axis=1)
        quickly = np.median(windows[:, -self._quick :], axis=1)
        shifted = slowly > self._high
        level = np.where(shifted, np.maximum(slowly, quickly), slowly)
        shift = np.maximum(level - self._typical, 0)
        if self._only_shifted:
            shift = np.where(shifted, shift, 0.0)
        begins = np.arange(blocks + 1) * self._block - begun
        latest = windows[:, -self._quick :].max(axis=1)
        back = shifted & (latest <= self._high) & (begins >= 0) & (begins < len(scores))
        here, until = blocks, len(scores)
        if back.any():
            here = int(back.argmax())
            until = int(begins[here])
        spread = np.ones(blocks + 1)
        if shifted.any():
            lowest = np.quantile(windows[shifted], 1 - HIGHEST, axis=1)
            above = np.quantile(sliding_window_view(highest, slow)[shifted], HIGHEST, axis=1)
            wider = np.maximum((above - level[shifted]) / self._width, 1)
            spread[shifted] = np.where(lowest > self._high, wider, 1)
        at = (begun + np.arange(until)) // self._block
        self._medians, self._highest = windows[here], highest[here : here + slow]
        self._rows = rows[here * self._block : begun + until]
        return BaselineShift(shift[at], shifted[at], spread[at], np.full(until, np.nan))

    def state(self) -> dict[str, NDArray[Any]]:
        """The medians and rows that later rows are compared with."""
        return {"medians": self._medians, "highest": self._highest, "rows": self._rows}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``state``."""
        self._medians, self._highest = state["medians"], state["highest"]
        self._rows = state["rows"]
