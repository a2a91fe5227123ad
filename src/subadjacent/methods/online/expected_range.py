"""The expected range of a row for people: what each channel would be without an event.

Rows are assessed by what is expected from the rows as they came. That follows an event from its
fifth row on, and is wrong for 64 rows after it. Whoever looks at an alarm wants to know the value
without the event. So the expected range comes from rows in which the values of an event that are
far out of range are replaced by their expected values.

Shapes: B rows, C channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ExpectedRange
from subadjacent.methods.online.expectation import REACH
from subadjacent.methods.online.history import RowHistory
from subadjacent.methods.online.moments import Standardiser

Array = NDArray[np.float64]

Expect = Callable[[Array, int], Array]
"""From rows and how many rows ago the last of them came to what is expected of it, (C,)."""


class RowsWithoutEvent:
    """The last rows of a series, without what an event did to them."""

    def __init__(self, channels: int) -> None:
        # in standardised units; None where no event did anything to the last rows
        self._rows: Array | None = None
        # in the units of the series
        self._lowest: Array = np.full(channels, np.inf)

    def add(self, rows: Array) -> None:
        """Note the minimum of rows, (B, C), in the units of the series."""
        self._lowest = np.minimum(self._lowest, np.minimum.reduce(rows, axis=0))

    def expected(
        self,
        history: RowHistory,
        residuals: Array,
        normal: NDArray[np.bool_],
        half_range: Array,
        expect: Expect,
    ) -> Array:
        """The expected values of the last rows, (B, C), in standardised units.

        Parameters
        ----------
        residuals
            Of the last rows, (B, C), when they are expected from the rows as they came.
        normal
            Which of them are normal, (B,).
        half_range
            Half the width of the expected range, (C,).
        expect
            Expects a row from rows that replace those before it.
        """
        count = len(normal)
        if self._rows is None and normal.all():
            plain: Array = history.last(count) - residuals
            return plain
        came = history.last(REACH + count)
        rows = came[:-count] if self._rows is None else self._rows
        expected = np.empty_like(residuals)
        for place, is_normal in enumerate(normal.tolist()):
            end = len(came) - count + place + 1
            row = came[end - 1]
            rows = np.concatenate([rows, row[None]])
            expected[place] = expect(rows, count - 1 - place)
            departs = np.abs(row - expected[place]) > half_range
            if is_normal:
                # it did not come back, and is expected by now: the event is the new normal
                moved = departs & (np.abs(residuals[place]) <= half_range)
                rows[:, moved] = came[end - len(rows) : end, moved]
            else:
                rows[-1] = expected[place] + _believed(row - expected[place], half_range)
            rows = rows[-REACH:]
        self._rows = None if np.array_equal(rows, history.last(REACH)) else rows
        return expected

    def expected_range(
        self, expected: Array, half_range: Array, standardiser: Standardiser
    ) -> ExpectedRange:
        """The range in original units, from expected values and half-range in standard units."""
        expected, half_range = standardiser.original_units(expected), half_range * standardiser.unit
        # what never was below zero is not expected to be: counts, rates, pressures
        least = np.where(self._lowest >= 0, 0.0, -np.inf)
        low, high = expected - half_range, expected + half_range
        return ExpectedRange(*(np.maximum(part, least) for part in (expected, low, high)))

    def accept(self, history: RowHistory, first: int, last: int) -> None:
        """Accept rows of an event as they came: ``first`` to ``last`` rows ago, 1 the latest."""
        if self._rows is not None:
            accepted = slice(max(REACH - first, 0), max(REACH + 1 - last, 0))
            self._rows[accepted] = history.last(REACH)[accepted]

    def state(self) -> dict[str, NDArray[Any]]:
        """The rows, if there are any; ``restore`` is the inverse."""
        rows = {} if self._rows is None else {"rows": self._rows}
        return {"lowest": self._lowest, **rows}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the rows by saved ones."""
        self._rows = state.get("rows")
        self._lowest = state["lowest"]


def _believed(departure: Array, half_range: Array) -> Array:
    """How much of a departure, (C,), counts in what is expected of later rows: less beyond range.

    All of it in range, none beyond twice the range, and no jump between the two: a value at the
    edge would else make what is expected jump from row to row.
    """
    size = np.abs(departure)
    believed: Array = np.sign(departure) * np.maximum(np.minimum(size, 2 * half_range - size), 0)
    return believed
