"""Alarms in the tables: written by the writer, read as clients see them."""

from __future__ import annotations

import json
import sqlite3
import time as clock
from dataclasses import asdict
from typing import Any

from subadjacent.data.documents import as_json
from subadjacent.decision.alarms import CONFIRMED, WITHDRAWN, Alarm
from subadjacent.decision.machine import CLOSED
from subadjacent.service.problems import not_found
from subadjacent.service.schemas import AlarmRecord
from subadjacent.service.series import LiveSeries
from subadjacent.service.times import TimeKind, from_stream, show_time

SELECT_ALARMS = """
select alarms.*, series.name as series_name, series.time_kind from alarms
join series on series.id = alarms.series
"""


def alarm_record(found: sqlite3.Row) -> dict[str, Any]:
    """An alarm as clients read it, with row numbers if its rows have no times."""
    kind = TimeKind(found["time_kind"])
    counted = kind is TimeKind.none
    facts = dict(found) | {
        "series": found["series_name"],
        "start": found["first"] if counted else show_time(found["start"], kind),
        "end": found["last"] if counted else show_time(found["end"], kind),
        "causes": json.loads(found["causes"]),
        "permanent": found["for_good"],
    }
    return AlarmRecord.model_validate(facts).model_dump()


def find_alarm(tables: sqlite3.Connection, key: int) -> dict[str, Any]:
    """The alarm with this number; raise a refusal if there is none."""
    found = tables.execute(f"{SELECT_ALARMS} where alarms.id = ?", (key,)).fetchone()
    if found is None:
        raise not_found("alarm", key)
    return alarm_record(found)


def list_alarms(
    tables: sqlite3.Connection, *, series: int | None, state: str, limit: int, before: int | None
) -> list[dict[str, Any]]:
    """The newest alarms first."""
    rules, values = ["1"], []
    if series is not None:
        rules.append("alarms.series = ?")
        values.append(series)
    if before is not None:
        rules.append("alarms.id < ?")
        values.append(before)
    if state != "all":
        rules.append(f"state = {'open' if state == 'open' else 'closed'!r}")
    found = tables.execute(
        f"{SELECT_ALARMS} where {' and '.join(rules)} order by alarms.id desc limit ?",
        (*values, limit),
    )
    return [alarm_record(row) for row in found]


WRITTEN = (
    *("series", "number", "state", "start", "end", "first", "last", "severity", "kind"),
    *("sentence", "causes", "for_good", "status", "repeat", "repeat_of"),
)
"""Columns that are written whenever an alarm changes."""


def write_alarm(tables: sqlite3.Connection, series: LiveSeries, alarm: Alarm) -> int:
    """Write an alarm that has changed; return its key."""
    state = "closed" if alarm.state in (CLOSED, CONFIRMED, WITHDRAWN) else "open"
    timed = series.time_kind is not TimeKind.none
    (key,) = tables.execute(
        f"insert into alarms ({', '.join(WRITTEN)}, opened_at) "
        f"values ({', '.join('?' * (len(WRITTEN) + 1))}) on conflict (series, number) do update "
        f"set {', '.join(f'{name} = excluded.{name}' for name in WRITTEN[2:])} returning id",
        (
            series.id,
            alarm.number + series.first_number,
            state,
            from_stream(alarm.start) if timed else None,
            from_stream(alarm.end) if timed else None,
            alarm.first + series.first_row,
            alarm.last + series.first_row,
            alarm.severity,
            alarm.kind,
            alarm.sentence,
            json.dumps([_cause_record(series, asdict(cause)) for cause in alarm.causes]),
            int(alarm.permanent),
            alarm.status,
            alarm.repeat,
            None if alarm.repeat_of is None else alarm.repeat_of + series.first_number,
            clock.time(),
        ),
    ).fetchone()
    if state == "open":
        series.open_alarm = key
    elif series.open_alarm == key:
        # an older alarm may have been marked as normal while this one is open
        series.open_alarm = None
    return int(key)


def _cause_record(series: LiveSeries, cause: dict[str, Any]) -> dict[str, Any]:
    at = cause["at"]
    if series.time_kind is TimeKind.none:
        cause["at"] = at + series.first_row
    else:
        cause["at"] = show_time(at, series.time_kind)
    found: dict[str, Any] = as_json(cause)
    return found
