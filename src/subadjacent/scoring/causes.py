"""Which channels explain an alarm, and how each of them departed.

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

# a channel that departed this many rows before the one that departed most, and by this share of its
# departure, is the cause: a fault affects other channels later
EARLIER, SHARE = 20, 0.5
# a channel that is silent in this share of an alarm's rows is the cause
SILENT = 0.3


@dataclass(frozen=True, slots=True)
class Cause:
    """A channel's part in an alarm, at the row where it was furthest from what was expected.

    ``score`` is its squared departure in units of the usual one, the mean over the alarm.
    ``low`` and ``high`` are the usual bounds at that row. ``kind`` is one of ``kinds.KINDS``, and
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
    """Explains the alarms of one series.

    Parameters
    ----------
    series, evidence, habits
        The rows, the evidence on them, and the habits of their channels.
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
        """Leave out the rows of alarms, and those beside them, which may belong to them."""
        unusual = _with_rows_beside(anomalous)
        return cls(series, evidence, habits, unusual, silent(series, habits))

    def usual(self, channel: int) -> Usual:
        """Expected values of a channel and their usual bounds at every row."""
        habit, values = self.habits.of(channel), self.series.values[:, channel]
        # some rows at a time: each is compared with many others
        by_chunk = [
            habit.usual(values[start:stop], self.left_out[start:stop], rows)
            for start, stop in self.series.segments
            for rows in chunks(stop - start)
        ]
        return Usual(*(np.concatenate(columns) for columns in zip(*by_chunk, strict=True)))

    def causes(
        self,
        events: Sequence[tuple[int, int]],
        most: int,
        *,
        view: str | None = None,
        permanent: bool = False,
    ) -> tuple[Cause, ...]:
        """The ``most`` channels that explain the events of an alarm best."""
        rows = np.concatenate([np.arange(*event) for event in events])
        means = self.evidence.by_channel[rows].mean(axis=0)
        # a silent channel does not raise the score, but is the cause
        share = np.zeros(len(means)) if self.silent is None else self.silent[rows].mean(axis=0)
        order = np.lexsort((-means, -np.where(share > SILENT, share, 0)))[:most].tolist()
        departures = {
            channel: self._departure(channel, events, permanent=permanent) for channel in order
        }
        if share[order[:1]].sum() <= SILENT:
            order = _earliest_first(order, means, departures)
        return tuple(self._cause(channel, departures[channel], means, view) for channel in order)

    def _departure(
        self, channel: int, events: Sequence[tuple[int, int]], *, permanent: bool
    ) -> Departure:
        """A channel's departure in the event where it departed most; rows are the series' own."""
        series = self.series

        def departed(event: tuple[int, int]) -> tuple[int, float]:
            rows = slice(*event)
            said_nothing = 0 if self.silent is None else int(self.silent[rows, channel].sum())
            return said_nothing, float(self.evidence.by_channel[rows, channel].sum())

        first, last = max(events, key=departed)
        start, stop = next(bounds for bounds in series.segments if first < bounds[1])

        def event_of(number: int) -> ChannelEvent:
            return ChannelEvent(
                series.values[start:stop, number],
                self.left_out[start:stop],
                self.habits.of(number),
                first - start,
                min(last, stop) - start,
                None if series.missing is None else series.missing[start:stop, number],
                permanent=permanent,
            )

        channel_event = event_of(channel)
        partner = (
            None if channel_event.habit.partner < 0 else event_of(int(channel_event.habit.partner))
        )
        return depart(channel_event, partner).later(start)

    def _cause(
        self, channel: int, departure: Departure, means: NDArray[Any], view: str | None
    ) -> Cause:
        series, habit = self.series, self.habits.of(channel)
        partner = series.channels[int(habit.partner)] if departure.kind == PARTED else None
        seen = (
            float(series.values[departure.row, channel]) if departure.kind != MISSING else math.nan
        )
        return Cause(
            channel=series.channels[channel],
            score=float(means[channel]),
            at=series.label(departure.row),
            expected=departure.expected,
            seen=seen,
            low=departure.low,
            high=departure.high,
            kind=departure.kind,
            sentence=sentence(
                series.channels[channel],
                departure.kind,
                seen=seen,
                low=departure.low,
                high=departure.high,
                at_this_time=habit.cycle > 0,
                lasted=lasting(departure.lasted, series.interval),
                steps=departure.steps,
                partner=partner,
                view=view,
            ),
            partner=partner,
        )


def _earliest_first(
    order: list[int], means: NDArray[Any], departures: dict[int, Departure]
) -> list[int]:
    """Put a channel that departed early, and far enough, before the one that departed most."""
    if not order:
        return order
    most = order[0]
    earlier = [
        channel
        for channel in order
        if means[channel] >= SHARE * means[most]
        and departures[channel].kind != UNUSUAL
        and departures[channel].onset <= departures[most].onset - EARLIER
    ]
    if not earlier:
        return order
    first = min(earlier, key=lambda channel: departures[channel].onset)
    return [first, *(channel for channel in order if channel != first)]


def _with_rows_beside(anomalous: NDArray[np.bool_]) -> NDArray[np.bool_]:
    counts = np.convolve(anomalous, np.ones(2 * BESIDE + 1))[BESIDE:-BESIDE]
    return np.asarray(counts > 0.5)
