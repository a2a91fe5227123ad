"""The answer to a row, at once and when the rows that it waits for have come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.decision.alarms import Alarm

COLUMNS = ("by_channel", "expected", "low", "high")
NUMBERS = ("row", "score", "severity", "anomalous", "warm_up")


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is known of one row, at once or when the rows that it waits for have come.

    Parameters
    ----------
    row
        Number of the row in its series, from 0, in the order in which rows were taken.
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
        What each channel was expected to be, and between what it usually is, (C,).
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


def answers_state(answers: Iterable[Answer]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays of answers that wait, and what else there is as JSON holds it."""
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
