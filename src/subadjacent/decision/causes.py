"""Which channels explain an alarm, and how each of them departed.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import NO_LIMIT, BaselineProfiles, ExpectedRange
from subadjacent.decision.departure import Departure, depart
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.former_level import LEVEL_ROWS
from subadjacent.decision.kinds import (
    DECOUPLED,
    MIN_SILENT_SHARE,
    MISSING,
    RETURN,
    ROWS_BESIDE,
    STUCK,
    UNUSUAL,
    ChannelEvent,
)
from subadjacent.decision.sentences import Facts, and_others, lasting, sentence, view_sentence
from subadjacent.decision.silence import silent

# a channel that departed this many rows before the one that departed most, and by this share of its
# departure, is the cause: a fault affects other channels later
MIN_ROWS_EARLIER, MIN_SHARE = 20, 0.5

# rows before a return within whose values the level after it may be: then both are told with more
NEAR_ROWS = 60

# a channel that departs by this share of the first one's square is named in the sentence as well
NAMED_SHARE = 0.3
# and if it is out of its range by this share of the range's width
MIN_NAMED_BEYOND = 0.1

# ranges of so many rows of channels that are kept at most, of 64 Ki rows each
MAX_RANGES_KEPT = 64


@dataclass(frozen=True, slots=True)
class Cause:
    """A channel's part in an alarm, at the row furthest from its expected value.

    ``score`` is its squared departure in units of the normal one, the mean over the alarm.
    ``low`` and ``high`` are the expected range at that row. ``kind`` is one of ``kinds.KINDS``;
    ``partner`` is the channel that it decoupled from, of that kind.
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


def named_causes(causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """The causes that a sentence names or counts: the first, and those of similar size."""

    def is_named(cause: Cause) -> bool:
        first = causes[0]
        if first.kind in (MISSING, STUCK):
            return cause.kind == first.kind
        if cause.kind in (DECOUPLED, UNUSUAL):
            # these depart from no range of their own
            return False
        beyond = max(cause.low - cause.seen, cause.seen - cause.high)
        is_clear = beyond > MIN_NAMED_BEYOND * (cause.high - cause.low)
        return is_clear and cause.score >= NAMED_SHARE * first.score

    return causes[:1] + tuple(cause for cause in causes[1:] if is_named(cause))


def alarm_sentence(causes: tuple[Cause, ...], view: str | None, channels: int = 2) -> str:
    """The sentence on an alarm: its first cause, and the other channels that it names."""
    first = causes[0].sentence if causes else view_sentence(view, channels)
    return first + and_others([cause.channel for cause in named_causes(causes)[1:]])


class Explanation(NamedTuple):
    """The causes of an event, and its first and last row."""

    causes: tuple[Cause, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """Explains the events of one series.

    Parameters
    ----------
    series, evidence, profiles
        The rows, the evidence on them, and the baseline profiles of their channels.
    left_out
        Rows that are not normal, (T,): those of alarms, and beside them.
    silent
        Values that are missing for long or stuck, (T, C), if there are any.
    told
        The expected range of each row, (T, C), where one was told as the row came; else it follows
        from the profiles.
    """

    series: TrainSeries
    evidence: Evidence
    profiles: BaselineProfiles
    left_out: NDArray[np.bool_]
    silent: NDArray[np.bool_] | None = None
    told: ExpectedRange | None = None
    _ranges: dict[tuple[int, int], ExpectedRange] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        series: TrainSeries,
        evidence: Evidence,
        profiles: BaselineProfiles,
        anomalous: NDArray[np.bool_],
    ) -> Explainer:
        """Leave out the rows of alarms, and those beside them, which may belong to them."""
        left_out = with_rows_beside(anomalous)
        return cls(series, evidence, profiles, left_out, silent(series, profiles))

    def expected_range(self, channel: int) -> ExpectedRange:
        """Expected values of a channel at every row, and the range around them."""
        return _joined(
            [
                self._range_of(channel, slice(start, stop), rows)
                for start, stop in self.series.segments
                for rows in chunks(stop - start)
            ]
        )

    def _range_of(self, channel: int, segment: slice, rows: slice) -> ExpectedRange:
        """The same at some rows of a segment: one of its chunks."""
        known = self._ranges.get((channel, segment.start + rows.start))
        if known is not None:
            return known
        if self.told is not None:
            here = slice(segment.start + rows.start, segment.start + rows.stop)
            told = ExpectedRange(*(part[here, channel] for part in self.told))
            profile = self.profiles.of(channel)
            return profile.within_limits(
                told,
                np.where(told.expected < profile.floor, -NO_LIMIT, profile.floor),
                np.where(told.expected > profile.ceiling, NO_LIMIT, profile.ceiling),
            )
        column, left_out = self.series.values[segment, channel], self.left_out[segment]
        return self.profiles.of(channel).expected_range(column, left_out, rows)

    def _range_in(self, channel: int, segment: slice, rows: slice) -> ExpectedRange:
        """The range at any rows of a segment, the same as a chart of all of them has."""
        found = []
        for chunk in chunks(segment.stop - segment.start):
            if chunk.start < rows.stop and rows.start < chunk.stop:
                expected, key = self._range_of(channel, segment, chunk), segment.start + chunk.start
                if len(self._ranges) >= MAX_RANGES_KEPT and (channel, key) not in self._ranges:
                    self._ranges.clear()
                self._ranges[channel, key] = expected
                here = slice(max(rows.start - chunk.start, 0), rows.stop - chunk.start)
                found.append(ExpectedRange(*(part[here] for part in expected)))
        return _joined(found)

    def explain(
        self, first: int, last: int, most: int, *, view: str | None = None, permanent: bool = False
    ) -> Explanation:
        """The ``most`` channels that explain an event best, and where these depart.

        An event is rows ``first`` to ``last``, both included, where scores stand out. Where scores
        are averages over rows, its channels tell better where it begins and ends.
        """
        rows = slice(first, last + 1)
        means = self.evidence.by_channel[rows].mean(axis=0)
        # a silent channel does not raise the score, but is the cause
        share = np.zeros(len(means)) if self.silent is None else self.silent[rows].mean(axis=0)
        order = np.lexsort((-means, -np.where(share > MIN_SILENT_SHARE, share, 0)))[:most].tolist()
        departures = {
            channel: self._departure(channel, (first, last + 1), permanent=permanent)
            for channel in order
        }
        if share[order[:1]].sum() <= MIN_SILENT_SHARE:
            order = _first_mover(order, means, departures)
        causes = {number: self._cause(number, departures[number], means, view) for number in order}
        named = named_causes(tuple(causes.values()))
        begin, end = _extent(
            first, last, [departures[number] for number in order if causes[number] in named]
        )
        for number, departure in departures.items():
            if not begin <= departure.row <= end:
                # not in these rows
                departure = self._departure(
                    number, (begin, end + 1), permanent=permanent, narrows=False
                )
                causes[number] = self._cause(number, departure, means, view)
        return Explanation(tuple(causes.values()), begin, end)

    def _departure(
        self, channel: int, event: tuple[int, int], *, permanent: bool, narrows: bool = True
    ) -> Departure:
        """A channel's departure in an event, half-open; rows are the series' own."""
        series, (first, last) = self.series, event
        start, stop = next(bounds for bounds in series.segments if first < bounds[1])

        def event_of(number: int) -> ChannelEvent:
            return ChannelEvent(
                series.values[start:stop, number],
                self.left_out[start:stop],
                self.profiles.of(number),
                first - start,
                min(last, stop) - start,
                None if series.missing is None else series.missing[start:stop, number],
                permanent=permanent,
                ranges=partial(self._range_in, number, slice(start, stop)),
            )

        channel_event = event_of(channel)
        partner = (
            None
            if channel_event.profile.partner < 0
            else event_of(int(channel_event.profile.partner))
        )
        return depart(channel_event, partner, narrows=narrows).later(start)

    def _cause(
        self, channel: int, departure: Departure, means: NDArray[Any], view: str | None
    ) -> Cause:
        series, profile = self.series, self.profiles.of(channel)
        name, kind = series.channels[channel], departure.kind
        partner = series.channels[int(profile.partner)] if kind == DECOUPLED else None
        column = series.values[:, channel]
        seen = float(column[departure.row])
        # without cycles to compare with, the range is that of all training rows
        at_this_time = profile.cycle > 0 and departure.expected != profile.median
        # other rows have other ranges: quote only the value that this range belongs to
        turns = [departure.row] if at_this_time else list(departure.turns)
        facts = Facts(
            values=column[turns].tolist(),
            expected=departure.expected,
            low=departure.low,
            high=departure.high,
            decimals=int(profile.decimals),
            has_ratios=profile.has_ratios,
            at_this_time=at_this_time,
            lasted=lasting(departure.lasted, series.interval),
            size=departure.size,
            within=lasting(departure.within, series.interval) if departure.within > 1 else "",
            most=departure.most,
            before=_level_before(column, departure.onset, seen) if kind == RETURN else math.nan,
            partner=partner,
            view=view,
            channels=len(series.channels),
        )
        return Cause(
            channel=name,
            score=float(means[channel]),
            at=series.label(departure.row),
            expected=departure.expected,
            seen=math.nan if kind == MISSING else seen,
            low=departure.low,
            high=departure.high,
            kind=kind,
            sentence=sentence(name, kind, facts),
            partner=partner,
        )


def _joined(ranges: Sequence[ExpectedRange]) -> ExpectedRange:
    return ExpectedRange(*(np.concatenate(parts) for parts in zip(*ranges, strict=True)))


def _level_before(column: NDArray[Any], row: int, value: float) -> float:
    """The level before a row; NaN if a value is among those shortly before."""
    before = column[max(row - NEAR_ROWS, 0) : row]
    if not len(before) or before.min() <= value <= before.max():
        return math.nan
    return float(np.median(before[-LEVEL_ROWS:]))


def _extent(first: int, last: int, departures: Sequence[Departure]) -> tuple[int, int]:
    """First and last row of an event, as a chart of the channels named shows them."""
    visible = [departure for departure in departures if departure.is_visible]
    if not visible:
        return first, last
    return min(departure.onset for departure in visible), max(
        departure.end for departure in visible
    )


def _first_mover(
    order: list[int], means: NDArray[Any], departures: dict[int, Departure]
) -> list[int]:
    """Put the channel first that departed early and far enough, in a way that has a name."""
    if not order:
        return order
    is_vague = departures[order[0]].kind == UNUSUAL
    least = (NAMED_SHARE if is_vague else MIN_SHARE) * means[order[0]]
    clear = [
        channel
        for channel in order
        if means[channel] >= least
        and departures[channel].kind != UNUSUAL
        and (departures[channel].is_visible or not is_vague)
    ]
    if not clear:
        return order
    first = min(clear, key=lambda channel: departures[channel].onset)
    if departures[first].onset > departures[clear[0]].onset - MIN_ROWS_EARLIER:
        first = clear[0]
    return [first, *(channel for channel in order if channel != first)]


def with_rows_beside(anomalous: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of alarms and those beside them, which may belong to them."""
    if not anomalous.any():
        return anomalous
    counts = np.convolve(anomalous, np.ones(2 * ROWS_BESIDE + 1))[ROWS_BESIDE:-ROWS_BESIDE]
    return np.asarray(counts > 0.5)
