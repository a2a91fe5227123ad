"""The table of alarms, and the rows that were labelled or fitted on, where that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.frames import Table
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.causes import Cause, named_causes
from subadjacent.decision.events import join
from subadjacent.decision.sentences import lasting, number
from subadjacent.errors import InputError
from subadjacent.report.timeline import Timeline

Segments = list[tuple[int, int]]

# rows in the table of alarms; more are no longer read, the worst are kept
MAX_LISTED_ALARMS = 500


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm as a row of the table, in words.

    ``series`` is a number, from 0; ``head`` is the place in the table of the alarm that it repeats
    and that tells the same kind of the same channel, or its own. ``causes`` are those that the
    sentence speaks of; ``share`` is the severity in per cent of the worst. ``fitted`` says that
    some of its rows were fitted on.
    """

    alarm: Alarm
    series: int
    head: int
    causes: tuple[Cause, ...]
    when: str
    until: str
    lasted: str
    severity: str
    share: float
    fitted: bool = False


def alarm_rows(
    alarms: Sequence[Alarm],
    series: Sequence[TrainSeries],
    times: Sequence[Timeline],
    fitted: Sequence[Segments] | None = None,
) -> list[AlarmRow]:
    """The worst alarms as rows of the table, in time order.

    ``fitted`` has the bounds of the training rows of each series.
    """
    entities = [one_series.entity for one_series in series]
    order = by_severity(alarms)[:MAX_LISTED_ALARMS]
    rows: list[AlarmRow] = []
    heads: dict[tuple[int, int, str, str], int] = {}
    for place in sorted(order):
        alarm = alarms[place]
        which = entities.index(alarm.entity)
        # a repeat that is told as something else has a line of its own
        first = alarm.number if alarm.repeat_of is None else alarm.repeat_of
        kind = which, first, alarm.kind, alarm.causes[0].channel if alarm.causes else ""
        begin, end = times[which].name(alarm.first), times[which].name(alarm.last)
        # where the threshold was set by hand, below what is typical, none of them is positive
        share = 100 * alarm.severity / max(alarms[order[0]].severity, 1e-12)
        rows.append(
            AlarmRow(
                alarm=alarm,
                series=which,
                head=heads.setdefault(kind, len(rows)),
                causes=named_causes(alarm.causes),
                when=begin,
                until=_after(begin, end),
                lasted=lasting(alarm.duration, series[which].interval),
                severity=f"{alarm.severity:,.1f}"
                if alarm.severity < 1e4
                else number(alarm.severity),
                share=min(max(share, 0.0), 100.0),
                fitted=fitted is not None
                and any(
                    first <= alarm.last and alarm.first < last for first, last in fitted[which]
                ),
            )
        )
    return rows


def _after(start: str, end: str) -> str:
    """The end of an alarm, without the day if it is that of the start."""
    day, _, clock = end.partition(" ")
    return clock if clock and day != "row" and start.startswith(f"{day} ") else end


def by_severity(alarms: Sequence[Alarm]) -> list[int]:
    """Numbers of the alarms, the worst first."""
    return sorted(range(len(alarms)), key=lambda number: -alarms[number].severity)


def marked_segments(marks: Any, table: Table, name: str = "labels") -> list[Segments]:
    """Half-open row bounds of the marked segments of each series.

    ``marks`` come in the shape of the input: one 0 or 1 a row, or a list or dict of such. Without
    any, nothing is marked.
    """
    if marks is None:
        return [[] for _ in table.series]
    lengths = [len(series) for series in table.series]
    ends = np.cumsum(lengths)
    numbers = [np.arange(end - rows, end) for end, rows in zip(ends, lengths, strict=True)]
    # where each row of the input went: a frame may hold several entities, mixed
    places = table.restore(numbers, "row")
    marked = np.zeros(int(ends[-1]), dtype=bool)
    for row_places, which in _pairs(places, marks, name):
        flags = np.asarray(which)
        if flags.shape != row_places.shape or not np.isin(flags, (0, 1)).all():
            raise InputError(
                f"{name} must be 0 or 1, one for each of {len(row_places)} rows; "
                f"got shape {flags.shape}"
            )
        marked[row_places] = flags.astype(bool)
    return [join(series_marks) for series_marks in np.split(marked, ends[:-1])]


def _pairs(places: Any, marks: Any, name: str) -> list[tuple[NDArray[Any], Any]]:
    if isinstance(places, Mapping):
        if not isinstance(marks, Mapping) or set(marks) != set(places):
            raise InputError(f"{name} must be a dict with the keys of X, {list(places)}")
        return [(np.asarray(rows), marks[key]) for key, rows in places.items()]
    if isinstance(places, list):
        if len(marks) != len(places):
            raise InputError(f"{name} must be a list of {len(places)}, one for each series of X")
        return [(np.asarray(rows), flags) for rows, flags in zip(places, marks, strict=True)]
    return [(np.asarray(places), marks)]
