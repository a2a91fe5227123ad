"""Kinds of departure: how a channel's values in an event differ from its expected range.

Simple models are fitted to what a person sees on a chart of the channel: its values over its
expected range. The kind is that of the simplest model that explains most of the departure, whatever
view raised the alarm. The sizes were chosen on generated plants (reproduce/log.md, "Kinds of
departure").

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ChannelProfile, ExpectedRange
from subadjacent.decision.references import rows_since

Array = NDArray[np.float64]

SPIKE = "spike"
ABRUPT_CHANGE = "abrupt change"
OUT_OF_RANGE = "out of range"
LEVEL_SHIFT = "level shift (permanent)"
RETURN = "return"
DRIFT = "drift"
STUCK = "stuck"
HIGHER_VARIANCE = "higher variance"
LOWER_VARIANCE = "lower variance"
UNUSUAL_SHAPE = "unusual shape"
DECOUPLED = "decoupled"
MISSING = "missing"
# none of these: only the view that raised the alarm describes it
UNUSUAL = "unusual"
KINDS = (
    SPIKE, ABRUPT_CHANGE, OUT_OF_RANGE, LEVEL_SHIFT, RETURN, DRIFT, STUCK, HIGHER_VARIANCE,
    LOWER_VARIANCE, UNUSUAL_SHAPE, DECOUPLED, MISSING, UNUSUAL,
)  # fmt: skip
# kinds of which a departure to one side and then to the other is told in order
TOLD_IN_ORDER = (SPIKE, OUT_OF_RANGE)

# rows before and after an event that are examined, at most: a drift begins long before it is found
ROWS_BEFORE, ROWS_AFTER = 300, 100
# rows beside an event that may belong to it, for scores are averages over rows
ROWS_BESIDE = 30
# a channel that is missing in this share of an event's rows is said to be, whatever else it did
MIN_SILENT_SHARE = 0.3
# the longest run of equal values of a channel that never flatlines, and the run by which it is
# stuck. Of the normal rows of four data sets 86 of 700,000 are in such runs; of channels that have
# flatlined before, a tenth (reproduce/log.md, "Kinds of departure")
MAX_NORMAL_RUN, MIN_STUCK_ROWS = 5, 20
# rows that are out, or beyond the training range, to rule out chance
MIN_OUT_ROWS = 5
# the level departs if this share of the event's rows is beyond the training range
MIN_PAST_SHARE = 0.3
# share of a departure that the second of two levels must explain by itself
MIN_SECOND = 0.15
# share of the largest move that is the unit of a channel that never moved
MIN_UNIT_SHARE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class ChannelEvent:
    """One channel in an event of a segment.

    Parameters
    ----------
    column, left_out
        Values of the whole segment, and its rows that are not normal.
    profile
        The channel's profile, learned from training rows.
    first, last
        The event, half-open.
    missing
        Rows of the segment where it is missing for long, if there are any.
    permanent
        Whether the series is known not to come back from the event.
    before
        Rows before the event that are examined at least.
    ranges
        Gives the expected range at some rows as the channel's chart has it; None to compute it.
    """

    column: NDArray[Any]
    left_out: NDArray[np.bool_]
    profile: ChannelProfile
    first: int
    last: int
    missing: NDArray[np.bool_] | None = None
    permanent: bool = False
    before: int = ROWS_BESIDE
    ranges: Callable[[slice], ExpectedRange] | None = None

    @property
    def rows(self) -> slice:
        """The examined rows: as many before the event as it has, or more."""
        before = max(min(self.last - self.first, ROWS_BEFORE), self.before)
        return slice(max(self.first - before, 0), min(self.last + ROWS_AFTER, len(self.column)))

    @property
    def here(self) -> slice:
        """The event, among the examined rows."""
        return slice(self.first - self.rows.start, self.last - self.rows.start)

    @property
    def beside(self) -> slice:
        """The event and the rows beside it, among the examined rows."""
        last = min(self.here.stop + ROWS_BESIDE, self.rows.stop - self.rows.start)
        return slice(max(self.here.start - ROWS_BESIDE, 0), last)

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the examined rows."""
        return np.asarray(self.column[self.rows], dtype=np.float64)

    def expected_range(self, *, follows_shifts: bool = True) -> ExpectedRange:
        """Expected values at the examined rows, and the range around them."""
        if self.ranges is not None and follows_shifts:
            return self.ranges(self.rows)
        return self.profile.expected_range(
            self.column, self.left_out, self.rows, follows_shifts=follows_shifts
        )

    def chart(self) -> ChannelChart:
        """The channel over its expected range."""
        return ChannelChart.of(self, self.expected_range(), self.profile.error)


@dataclass(frozen=True, slots=True, eq=False)
class ChannelChart:
    """A channel over its expected range: values, (R,), and how far they are out of it.

    ``sizes`` are in typical sizes of the irregular part; ``beyond`` is 0 within the range.
    """

    values: Array
    range: ExpectedRange
    sizes: Array
    beyond: Array

    @classmethod
    def of(cls, event: ChannelEvent, expected: ExpectedRange, unit: float) -> ChannelChart:
        """The chart of an event's rows; ``unit`` is the typical size of the irregular part."""
        values, (middle, low, high) = event.values, expected
        if event.missing is not None:
            # what stands in for a missing value was not seen
            values = np.where(event.missing[event.rows], middle, values)
        beyond = np.maximum(values - high, 0) + np.minimum(values - low, 0)
        return cls(values, expected, (values - middle) / unit_of(unit, values - middle), beyond)

    def given(self, event: ChannelEvent, partner: ChannelEvent) -> ChannelChart | None:
        """The chart over what the partner's values lead to expect; None if they depart."""
        # a relation holds between the channels as they were in training
        profile, other = event.profile, partner.expected_range(follows_shifts=False)
        own = event.expected_range(follows_shifts=False)
        moves = profile.slope * (partner.values - other.expected)
        outside = (partner.values < other.low) | (partner.values > other.high)
        if np.mean(outside[event.here]) > MIN_PAST_SHARE:
            return None
        # a range as wide as the relation normally varies, and as the level may have moved
        age = rows_since(~event.left_out, event.rows)
        center = own.expected + moves
        low = center + profile.partner_below + age * profile.below_drift
        high = center + profile.partner_above + age * profile.above_drift
        expected = profile.within_limits(ExpectedRange(center, low, high))
        return ChannelChart.of(event, expected, profile.partner_error)

    def knows_time(self, event: ChannelEvent) -> bool:
        """Whether rows of a cycle are compared with the same time, rather than with all rows."""
        return bool((self.range.expected[event.here] != event.profile.median).any())

    def distance(self, row: int) -> tuple[float, float]:
        """How far out of its range a row is, and how far from what was expected."""
        return abs(float(self.beyond[row])), abs(float(self.sizes[row]))

    def turns(self, rows: slice, kind: str) -> list[int]:
        """Rows furthest out of range on either side, in order; else that furthest from expected.

        Both sides are told if each makes up a share of what is out of range.
        """
        beyond = self.beyond[rows]
        squares = [
            float(np.sum(np.square(side)))
            for side in (np.minimum(beyond, 0), np.maximum(beyond, 0))
        ]
        if not any(squares):
            return [rows.start + int(np.abs(self.sizes[rows]).argmax())]
        sides = [beyond.argmin(), beyond.argmax()]
        weaker = MIN_SECOND if kind in TOLD_IN_ORDER else 1.0
        return sorted(
            rows.start + int(row)
            for row, square in zip(sides, squares, strict=True)
            if square > weaker * sum(squares) or square == max(squares)
        )


def unit_of(size: float, values: Array) -> float:
    """A size to divide by; for a channel that never moved, small, so that any move is large."""
    if size > 0:
        return size
    largest = float(np.abs(values).max(initial=0.0))
    return MIN_UNIT_SHARE * largest if largest > 0 else 1.0


def rms(values: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
