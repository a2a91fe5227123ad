"""Spikes and abrupt changes: where a channel moves further than it does within as many rows.

Shapes: R rows of the examined window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from subadjacent.decision.baseline_profile import CHANGE_ROWS
from subadjacent.decision.kinds import Array, ChannelChart, ChannelEvent, unit_of

# rows that a spike lasts at most, and its least distance from the rows around it, in median steps
MAX_SPIKE_ROWS, MIN_SPIKE_STEPS = 6, 5.0

# rows to either side whose median is where a row without a spike would be
SPIKE_MEDIAN_ROWS = 10

# share of the departure that a spike makes up, or else
MIN_SPIKE_SHARE = 0.9

# a row beside a spike is no further away than this many typical sizes
MAX_BESIDE_SPIKE = 3.0

# a change is abrupt if it is this many times the largest of training
MIN_ABRUPT = 1.1

# rows after an event in which it may end with an abrupt change
EDGE_ROWS = 3

# share of the step into a spike by which the level after it may differ from that before
MAX_NOT_BACK = 0.5


@dataclass(frozen=True, slots=True)
class Jump:
    """A spike or an abrupt change: its rows, half-open, and the row that tells of it.

    ``size`` is the change within ``within`` rows up to that row, and ``most`` the largest normal
    one. After a spike the channel is back.
    """

    start: int
    stop: int
    row: int
    size: float
    within: int
    most: float
    is_spike: bool

    @classmethod
    def of(
        cls, event: ChannelEvent, chart: ChannelChart, given: ChannelChart | None
    ) -> Jump | None:
        """The spike that makes up a channel's departure, or else its most abrupt change."""
        steps, most = _changes(event, chart, 1), event.profile.max_changes[0]
        spike = _outlying(event, chart, given) or _brief(event, chart, steps)
        if spike is not None:
            row = spike.start + int(np.abs(chart.sizes[spike]).argmax())
            size = float(steps[spike.start])
            return cls(spike.start, spike.stop, row, size, 1, most, is_spike=True)
        return cls._most_abrupt(event, chart)

    @classmethod
    def _most_abrupt(cls, event: ChannelEvent, chart: ChannelChart) -> Jump | None:
        """The change that exceeds the largest normal one within as many rows by most."""
        best, least = None, MIN_ABRUPT
        here = slice(event.here.start, event.here.stop + EDGE_ROWS)
        for within, most in zip(CHANGE_ROWS, event.profile.max_changes, strict=True):
            changes = _changes(event, chart, within)
            row = here.start + int(np.abs(changes[here]).argmax())
            size = float(changes[row])
            ratio = abs(size) / unit_of(most, chart.values)
            if ratio > least:
                start = row + 1 - within
                best, least = cls(start, row + 1, row, size, within, most, is_spike=False), ratio
        return best


def _changes(event: ChannelEvent, chart: ChannelChart, within: int) -> Array:
    """The change within some rows up to each row; 0 where one of them is missing or not known."""
    values = chart.values
    if event.missing is not None:
        values = np.where(event.missing[event.rows], np.nan, values)
    changes = np.append(np.zeros(min(within, len(values))), values[within:] - values[:-within])
    return np.nan_to_num(changes)


def _outlying(event: ChannelEvent, chart: ChannelChart, given: ChannelChart | None) -> slice | None:
    """From the first to the last of the few rows that are nearly all of what is out of range.

    They are spikes if each stands out from the rows around it.
    """
    rows, irregular = event.beside, chart.values - chart.range.expected
    squares = np.square(chart.beyond[rows])
    largest = np.argsort(squares)[::-1][:MAX_SPIKE_ROWS]
    sums = np.cumsum(squares[largest])
    if not len(sums) or sums[-1] == 0 or sums[-1] < MIN_SPIKE_SHARE * squares.sum():
        return None
    step = unit_of(event.profile.median_step, np.diff(irregular))
    around = _from_around(irregular)
    jumped = np.abs(around) > MIN_SPIKE_STEPS * step
    few = largest[: int(np.searchsorted(sums, MIN_SPIKE_SHARE * squares.sum())) + 1]
    places = np.sort(rows.start + few)
    among = places[jumped[places] & (chart.beyond[places] != 0)]
    if not len(among) or among[-1] < event.here.start or among[0] >= event.here.stop:
        return None
    # nor does the channel, or what its partner leads to expect, depart beside them
    others = np.setdiff1d(np.arange(rows.start, rows.stop), places)
    own = around / unit_of(event.profile.error, irregular)
    for sizes in (own, own if given is None else given.sizes):
        most = float(np.quantile(np.abs(sizes[others]), 0.9)) if len(others) else 0.0
        share = np.sum(np.square(sizes[places])) / max(np.sum(np.square(sizes[rows])), 1.0)
        if most > MAX_BESIDE_SPIKE and share < MIN_SPIKE_SHARE:
            return None
    return slice(int(among[0]), int(among[-1]) + 1)


def _brief(event: ChannelEvent, chart: ChannelChart, steps: Array) -> slice | None:
    """The rows between an abrupt step and one back soon after, within the expected range."""
    here, least = event.here, MIN_ABRUPT * event.profile.max_changes[0]
    if chart.beyond[event.beside].any():
        return None
    values = chart.values
    begin = max(here.start - MAX_SPIKE_ROWS, 1)
    for row in (begin + np.flatnonzero(np.abs(steps[begin : here.stop]) > least)).tolist():
        for end in range(row + 1, min(row + MAX_SPIKE_ROWS, len(values) - 1) + 1):
            away = abs(values[end] - values[row - 1])
            is_back = steps[end] * steps[row] < 0 and abs(steps[end]) > least
            if is_back and away < MAX_NOT_BACK * abs(steps[row]) and end > here.start:
                return slice(row, end)
    return None


def _from_around(irregular: Array) -> Array:
    """How far each row stands from the median of the rows around it."""
    # mirrored at the ends, without the end itself
    padded = np.pad(irregular, SPIKE_MEDIAN_ROWS, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * SPIKE_MEDIAN_ROWS + 1)
    return np.asarray(irregular - np.median(around, axis=1))
