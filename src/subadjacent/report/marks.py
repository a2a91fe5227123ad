"""What is marked on the page: alarms, and the labelled rows where somebody gave labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.frames import Table
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.report.timeline import Timeline, span
from subadjacent.scoring.alarms import Alarm, join

# rows in the table of alarms; more are no longer read, the worst are kept
MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class Listed:
    """An alarm as a row of the table, in words.

    ``series`` and ``channel`` are numbers, from 0; ``share`` is the severity in per cent of the
    worst.
    """

    alarm: Alarm
    series: int
    channel: int
    when: str
    until: str
    lasted: str
    severity: str
    share: float


def listed(
    alarms: Sequence[Alarm], series: Sequence[TrainSeries], times: Sequence[Timeline]
) -> list[Listed]:
    """The worst alarms, in the order in which they came."""
    entities, channels = [one.entity for one in series], series[0].channels
    order = by_severity(alarms)[:MOST_LISTED]
    rows = []
    for number in sorted(order):
        alarm = alarms[number]
        which = entities.index(alarm.entity)
        start, end = times[which].name(alarm.first), times[which].name(alarm.last)
        # where the threshold was set by hand, below what is typical, none of them is positive
        share = 100 * alarm.severity / max(alarms[order[0]].severity, 1e-12)
        rows.append(
            Listed(
                alarm=alarm,
                series=which,
                channel=channels.index(alarm.causes[0].channel) if alarm.causes else 0,
                when=start,
                until=_after(start, end),
                lasted=_lasted(alarm.duration, series[which].interval),
                severity=f"{alarm.severity:.1f}"
                if alarm.severity < 1e4
                else f"{alarm.severity:.3g}",
                share=min(max(share, 0.0), 100.0),
            )
        )
    return rows


def _lasted(rows: int, interval: float | None) -> str:
    if interval is not None:
        return span(rows * interval)
    return f"{rows:,} {'row' if rows == 1 else 'rows'}"


def _after(start: str, end: str) -> str:
    """The end without the day, where that is the start's."""
    day, _, clock = end.partition(" ")
    return clock if clock and day != "row" and start.startswith(f"{day} ") else end


def by_severity(alarms: Sequence[Alarm]) -> list[int]:
    """Numbers of the alarms, the worst first."""
    return sorted(range(len(alarms)), key=lambda number: -alarms[number].severity)


def labelled_stretches(labels: Any, table: Table) -> list[list[tuple[int, int]]]:
    """Half-open row bounds of the labelled events of each series.

    ``labels`` come in the shape of the input: one 0 or 1 a row, or a list or dict of such.
    """
    lengths = [len(one) for one in table.series]
    ends = np.cumsum(lengths)
    numbers = [np.arange(end - rows, end) for end, rows in zip(ends, lengths, strict=True)]
    # where each row of the input went: a frame may hold several entities, mixed
    places = table.restore(numbers, "row")
    found = np.zeros(int(ends[-1]), dtype=bool)
    for where, which in _pairs(places, labels):
        given = np.asarray(which)
        if given.shape != where.shape or not np.isin(given, (0, 1)).all():
            raise InputError(
                f"labels must be 0 or 1, one for each of {len(where)} rows; got shape {given.shape}"
            )
        found[where] = given.astype(bool)
    return [join(part) for part in np.split(found, ends[:-1])]


def _pairs(places: Any, labels: Any) -> list[tuple[NDArray[Any], Any]]:
    if isinstance(places, Mapping):
        if not isinstance(labels, Mapping) or set(labels) != set(places):
            raise InputError(f"labels must be a dict with the keys of X, {list(places)}")
        return [(np.asarray(part), labels[key]) for key, part in places.items()]
    if isinstance(places, list):
        if len(labels) != len(places):
            raise InputError(f"labels must be a list of {len(places)}, one for each series of X")
        return [(np.asarray(part), one) for part, one in zip(places, labels, strict=True)]
    return [(np.asarray(places), labels)]
