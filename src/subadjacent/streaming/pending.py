"""Answers of rows that wait for the rows that their final score depends on."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.times import from_json, to_json
from subadjacent.streaming.answer import Answer

COLUMNS = ("by_channel", "expected", "low", "high")
NUMBERS = ("row", "score", "severity", "anomalous", "warm_up")


class Pending:
    """Rows that wait, the oldest first: as many as the model looks ahead, and a short gap."""

    def __init__(self) -> None:
        self._waiting: deque[Answer] = deque()

    def give(
        self, answers: list[Answer], final: NDArray[np.float64], *, twice: bool
    ) -> list[Answer]:
        """Answers of rows that came, and final ones of as many as have a final score now.

        ``twice`` says that each row has an answer at once and a final one later, even if both are
        known now: what is said does not depend on how rows are grouped.
        """
        old = len(self._waiting)
        self._waiting.extend(answers)
        found = []
        for place, score in enumerate(final.tolist()):
            answer = self._waiting.popleft()
            # an alarm is told once: with the first answer of its row
            alarm = None if twice or place < old else answer.alarm
            found.append(answer.settled(score, alarm))
        return answers + found if twice else found + answers[max(len(final) - old, 0) :]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what else there is as JSON holds it."""
        waiting = list(self._waiting)
        arrays = {name: np.array([getattr(one, name) for one in waiting]) for name in COLUMNS}
        arrays["numbers"] = np.array(
            [[float(getattr(one, name)) for name in NUMBERS] for one in waiting]
        )
        times = [to_json(one.time) for one in waiting]
        return arrays, {"times": times, "entity": waiting[0].entity if waiting else None}

    def restore(self, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        for place, time in enumerate(facts["times"]):
            row, score, severity, anomalous, warm_up = arrays["numbers"][place].tolist()
            self._waiting.append(
                Answer(
                    int(row),
                    from_json(time),
                    facts["entity"],
                    False,
                    score,
                    severity,
                    bool(anomalous),
                    warm_up,
                    *(arrays[name][place] for name in COLUMNS),
                )
            )
