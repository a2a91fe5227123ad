"""Which channels explain an alarm, and what each of them did.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.data.series import TrainSeries
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.habits import Habits, Usual
from subadjacent.scoring.kinds import (
    BESIDE,
    MISSING,
    PARTED,
    UNUSUAL,
    ChannelEvent,
    Departure,
    depart,
)
from subadjacent.scoring.sentences import lasting, sentence
from subadjacent.scoring.silence import silent

# a channel that departed so many rows before the one that departed most, and this share as much, is
# the cause: what goes wrong reaches others later
EARLIER, SHARE = 20, 0.5
# share of an alarm's rows in which a channel says nothing, by which that is the cause
SILENT = 0.3


@dataclass(frozen=True, slots=True)
class Cause:
    """A channel's part in an alarm, at the row where it was furthest from what was expected.

    ``score`` is its squared departure in units of the usual one, the mean over the alarm.
    ``low`` and ``high`` are what is usual at that row. ``kind`` is one of ``kinds.KINDS``, and
    ``partner`` the channel that it parted from, of that kind.
    """

    channel: str
    score: float
    at: Any
    expected: float
    seen: float
    low: float
    high: float
    kind: str
    sentence: str
    partner: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """All that explanations of alarms in one series are read off.

    Parameters
    ----------
    series, evidence, habits
        The rows, what was found in them, and what their channels did in training.
    left_out
        Rows that are not usual, (T,): those of alarms, and beside them.
    silent
        Values that are missing for long or stuck, (T, C), if there are any.
    """

    series: TrainSeries
    evidence: Evidence
    habits: Habits
    left_out: NDArray[np.bool_]
    silent: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        series: TrainSeries,
        evidence: Evidence,
        habits: Habits,
        anomalous: NDArray[np.bool_],
    ) -> Explainer:
        """Rows beside those of alarms may belong to them: nor are they usual."""
        unusual = _with_rows_beside(anomalous)
        return cls(series, evidence, habits, unusual, silent(series, habits))

    def usual(self, channel: int) -> Usual:
        """What is usual of a channel at every row."""
        habit, values = self.habits.of(channel), self.series.values[:, channel]
        # some rows at a time: each is compared with many others
        parts = [
            habit.usual(values[start:stop], self.left_out[start:stop], rows)
            for start, stop in self.series.stretches
            for rows in chunks(stop - start)
        ]
        return Usual(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def causes(
        self,
        events: Sequence[tuple[int, int]],
        most: int,
        *,
        view: str | None = None,
        for_good: bool = False,
    ) -> tuple[Cause, ...]:
        """The ``most`` channels that explain the events of an alarm best."""
        rows = np.concatenate([np.arange(*event) for event in events])
        means = self.evidence.by_channel[rows].mean(axis=0)
        # what says nothing scores nothing, and is the cause none the less
        share = np.zeros(len(means)) if self.silent is None else self.silent[rows].mean(axis=0)
        order = np.lexsort((-means, -np.where(share > SILENT, share, 0)))[:most].tolist()
        found = {channel: self._departure(channel, events, for_good=for_good) for channel in order}
        if share[order[:1]].sum() <= SILENT:
            order = _earliest_first(order, means, found)
        return tuple(self._cause(channel, found[channel], means, view) for channel in order)

    def _departure(
        self, channel: int, events: Sequence[tuple[int, int]], *, for_good: bool
    ) -> Departure:
        """What a channel did in the event in which it departed most; rows are the series' own."""
        series = self.series

        def departed(event: tuple[int, int]) -> tuple[int, float]:
            rows = slice(*event)
            said_nothing = 0 if self.silent is None else int(self.silent[rows, channel].sum())
            return said_nothing, float(self.evidence.by_channel[rows, channel].sum())

        first, last = max(events, key=departed)
        start, stop = next(bounds for bounds in series.stretches if first < bounds[1])

        def event_of(number: int) -> ChannelEvent:
            return ChannelEvent(
                series.values[start:stop, number],
                self.left_out[start:stop],
                self.habits.of(number),
                first - start,
                min(last, stop) - start,
                None if series.missing is None else series.missing[start:stop, number],
                for_good=for_good,
            )

        own = event_of(channel)
        partner = None if own.habit.partner < 0 else event_of(int(own.habit.partner))
        return depart(own, partner).later(start)

    def _cause(
        self, channel: int, found: Departure, means: NDArray[Any], view: str | None
    ) -> Cause:
        series, habit = self.series, self.habits.of(channel)
        partner = series.channels[int(habit.partner)] if found.kind == PARTED else None
        seen = float(series.values[found.row, channel]) if found.kind != MISSING else math.nan
        return Cause(
            channel=series.channels[channel],
            score=float(means[channel]),
            at=series.label(found.row),
            expected=found.expected,
            seen=seen,
            low=found.low,
            high=found.high,
            kind=found.kind,
            sentence=sentence(
                series.channels[channel],
                found.kind,
                seen=seen,
                low=found.low,
                high=found.high,
                at_this_time=habit.cycle > 0,
                lasted=lasting(found.lasted, series.interval),
                steps=found.steps,
                partner=partner,
                view=view,
            ),
            partner=partner,
        )


def _earliest_first(
    order: list[int], means: NDArray[Any], found: dict[int, Departure]
) -> list[int]:
    """The channel that departed first before the one that departed most, if it did so enough."""
    if not order:
        return order
    most = order[0]
    earlier = [
        channel
        for channel in order
        if means[channel] >= SHARE * means[most]
        and found[channel].kind != UNUSUAL
        and found[channel].onset <= found[most].onset - EARLIER
    ]
    if not earlier:
        return order
    first = min(earlier, key=lambda channel: found[channel].onset)
    return [first, *(channel for channel in order if channel != first)]


def _with_rows_beside(anomalous: NDArray[np.bool_]) -> NDArray[np.bool_]:
    counts = np.convolve(anomalous, np.ones(2 * BESIDE + 1))[BESIDE:-BESIDE]
    return np.asarray(counts > 0.5)
