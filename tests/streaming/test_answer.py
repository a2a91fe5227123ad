"""Answers that wait for later rows."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np

from subadjacent.streaming.answer import COLUMNS, Answer, answers_of_state, answers_state


def answer(row: int) -> Answer:
    channels = [np.full(2, row + part / 10) for part in range(4)]
    time = datetime(2026, 1, 31, 12, row)
    return Answer(row, time, "pump", False, 0.5, 1.5, True, 0.25, *channels)


def test_rows_wait_on_after_a_stop_as_they_were() -> None:
    waiting = [answer(0), answer(1)]
    arrays, facts = answers_state(waiting)
    again = list(answers_of_state(arrays, json.loads(json.dumps(facts))))
    for one, other in zip(again, waiting, strict=True):
        for name in ("row", "time", "entity", "final", "score", "severity", "anomalous", "warm_up"):
            assert getattr(one, name) == getattr(other, name)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert answers_state([])[1] == {"times": [], "entity": None}
