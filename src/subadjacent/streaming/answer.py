"""The answer to a row, at once and when the rows that it waits for have come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.documents import as_json
from subadjacent.data.times import from_json, to_json
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.evidence import Evidence
from subadjacent.streaming.span import Span

COLUMNS = ("by_channel", "expected", "low", "high")
NUMBERS = ("row", "score", "severity", "anomalous", "warm_up")


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer to one row: at once, or final, when the rows that it waits for have come.

    Parameters
    ----------
    row
        Number of the row in its series, from 0, in the order in which rows were accepted.
    time
        Its time, as it came; None where rows have no times.
    entity
        The series that it belongs to; None where there is one without a name.
    final
        Whether nothing that comes later changes ``score``.
    score
        Of evidence that looks back only, until a final answer has that of a batch.
    severity
        Of what begins or grows at this row: 1 opens an alarm, 2 is ten times as rare. The severity
        of an alarm is the highest of its rows.
    anomalous
        Whether an alarm is open at this row.
    warm_up
        From 0 to 1: the share of the warm-up that is done; severities are low until then.
    by_channel
        What each channel adds, (C,).
    expected, low, high
        The expected value of each channel, and its expected range, (C,).
    alarm
        The alarm, on rows at which one was opened, changed, closed, confirmed or withdrawn.
    """

    row: int
    time: Any
    entity: str | None
    final: bool
    score: float
    severity: float
    anomalous: bool
    warm_up: float
    by_channel: NDArray[np.float64]
    expected: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    alarm: Alarm | None = None


def answer_record(answer: Answer) -> dict[str, Any]:
    """An answer as JSON holds it, without the channels; with the entity if it has one."""
    names = ("row", "time", "final", "score", "severity", "anomalous", "warm_up")
    record = {} if answer.entity is None else {"entity": answer.entity}
    record |= {name: as_json(getattr(answer, name)) for name in names}
    return record | {"alarm": None if answer.alarm is None else live_alarm_record(answer.alarm)}


def live_alarm_record(alarm: Alarm) -> dict[str, Any]:
    """An alarm of a stream as JSON holds it, its causes nested."""
    record: dict[str, Any] = as_json(asdict(alarm))
    return record


def answers_state(answers: Iterable[Answer]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Answers that wait, as arrays and as JSON holds the rest."""
    waiting = list(answers)
    arrays = {name: np.array([getattr(answer, name) for answer in waiting]) for name in COLUMNS}
    arrays["numbers"] = np.array(
        [[float(getattr(answer, name)) for name in NUMBERS] for answer in waiting]
    )
    times = [to_json(answer.time) for answer in waiting]
    return arrays, {"times": times, "entity": waiting[0].entity if waiting else None}


def answers_of_state(arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> Iterator[Answer]:
    """The inverse of ``answers_state``."""
    for place, time in enumerate(facts["times"]):
        row, score, severity, anomalous, warm_up = arrays["numbers"][place].tolist()
        columns = (arrays[name][place] for name in COLUMNS)
        identity = int(row), from_json(time), facts["entity"], False
        yield Answer(*identity, score, severity, bool(anomalous), warm_up, *columns)


def answers_to(
    span: Span,
    evidence: Evidence,
    severity: NDArray[np.float64],
    alarmed: NDArray[np.bool_],
    alarms: Mapping[int, Alarm],
    *,
    first: int,
    entity: str | None,
    final: bool,
) -> list[Answer]:
    """The immediate answers to some rows.

    Parameters
    ----------
    span, evidence, severity, alarmed
        The rows, the evidence on them, their severity, and whether an alarm is open.
    alarms
        Those that changed, by the number of the row.
    first
        Number of the first row.
    entity, final
        As in ``Answer``.
    """
    assert evidence.expected is not None
    assert evidence.low is not None
    assert evidence.high is not None
    assert evidence.warm_up is not None
    numbers = (evidence.score, severity, alarmed, evidence.warm_up)
    columns = zip(*(column.tolist() for column in numbers), strict=True)
    return [
        Answer(
            first + place,
            None if span.times is None else span.times[place],
            entity,
            final,
            score,
            own_severity,
            is_alarmed,
            warm_up,
            evidence.by_channel[place],
            evidence.expected[place],
            evidence.low[place],
            evidence.high[place],
            alarms.get(first + place),
        )
        for place, (score, own_severity, is_alarmed, warm_up) in enumerate(columns)
    ]
