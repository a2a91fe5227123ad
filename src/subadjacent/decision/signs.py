"""Measures of a channel in an event that tell kinds of departure apart.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ChannelProfile
from subadjacent.decision.kinds import (
    MAX_NORMAL_RUN,
    MIN_STUCK_ROWS,
    Array,
    ChannelChart,
    ChannelEvent,
    unit_of,
)
from subadjacent.decision.learn_profiles import decimals_of, longest_run

# least share of new in a row where a channel varies more: noise of which a row keeps four fifths
MIN_QUICK = 0.2


@dataclass(frozen=True, slots=True)
class Signs:
    """Measures of an event that tell kinds apart; rows are those of the event and beside it."""

    missing: int
    run: int  # the longest run of equal values, as far as it goes
    run_row: int  # its first row, of the segment
    out: int  # rows out of the expected range
    side: float  # 1 or -1 if they are all on one side
    past: int  # rows beyond all that was seen in training
    is_quick: bool  # whether it comes and goes from row to row
    steps: float  # the mean step from row to row, in units of the median one
    middle_step: float  # the median step in the same units
    varied: slice  # rows whose steps are nearer to that than to the median one
    varied_steps: float  # their mean step

    @classmethod
    def of(cls, event: ChannelEvent, chart: ChannelChart) -> Signs:
        """Measure an event and the rows beside it."""
        profile, here, beside = event.profile, event.here, event.beside
        irregular = chart.values - chart.range.expected
        step = unit_of(profile.median_step, np.diff(irregular))
        values, beyond = chart.values[beside], chart.beyond[beside]
        moves = np.diff(irregular[max(here.start - 1, 0) : here.stop])
        sizes = np.abs(np.diff(irregular, prepend=irregular[:1])) / step
        mean = float(sizes[here].mean())
        varied = _densest((sizes - (1 + mean) / 2) * (1 if mean > 1 else -1), beside)
        run_row, run = _whole_run(event, *longest_run(values))
        sides = np.sign(beyond[beyond != 0])
        return cls(
            missing=0
            if event.missing is None
            else int(event.missing[event.first : event.last].sum()),
            run=run,
            run_row=run_row,
            out=len(sides),
            side=float(sides.mean()) if len(sides) else 0.0,
            past=int(((values < profile.minimum) | (values > profile.maximum)).sum()),
            is_quick=bool(np.mean(np.square(moves)) > 2 * MIN_QUICK * np.var(irregular[here]))
            if len(moves)
            else False,
            steps=mean,
            middle_step=float(np.median(sizes[here])),
            varied=varied,
            varied_steps=float(sizes[varied].mean()),
        )


def min_stuck_rows(profile: ChannelProfile, column: NDArray[Any]) -> float:
    """Rows for which a channel must stand still to be stuck; infinite for one that often does.

    Values that are rounded more coarsely than in training stay the same for longer: as many rows
    as a random walk takes to move by one unit of the last decimal.
    """
    if profile.max_run > MAX_NORMAL_RUN:
        return np.inf
    (decimals,) = decimals_of(np.asarray(column)[:, None])
    if decimals < 0 or decimals >= profile.decimals >= 0 or profile.median_step <= 0:
        return MIN_STUCK_ROWS
    return float(MIN_STUCK_ROWS * max(10.0**-decimals / profile.median_step, 1.0) ** 2)


def _whole_run(event: ChannelEvent, row: int, rows: int) -> tuple[int, int]:
    """The first row of the segment and the length of a run that is known in part.

    ``row`` is the first known row, among the event and the rows beside it.
    """
    first = event.rows.start + event.beside.start + row
    changed = np.flatnonzero(event.column != event.column[first])
    before, after = changed[changed < first], changed[changed >= first + rows]
    first = int(before[-1]) + 1 if len(before) else 0
    last = int(after[0]) if len(after) else len(event.column)
    return first, last - first


def _densest(values: Array, rows: slice) -> slice:
    """The part of some rows whose values have the largest sum."""
    sums = np.append(0.0, np.cumsum(values[rows]))
    lowest = np.minimum.accumulate(sums)
    stop = int((sums - lowest).argmax())
    start = int(np.flatnonzero(sums[: stop + 1] == lowest[stop])[-1])
    return slice(rows.start + start, rows.start + max(stop, start + 1))
