"""Answers and alarms of a stream stay as they were, on twenty generated series."""

from __future__ import annotations

from typing import Any

import numpy as np

from characterisation import adapter
from characterisation.live_cases import CASES
from characterisation.records import Near, check

NEAR: Near = {"rtol": 2e-3, "atol": 5e-4}
EVERY = 25
"""Of so many answers, what is expected of channels is recorded of one."""


def test_streams_answer_as_they_did() -> None:
    assert len(CASES) == 20
    document: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, case in CASES.items():
        scorer, answers = case()
        numbers = [adapter.answer_numbers(answer) for answer in answers]
        for column in numbers[0]:
            arrays[f"{name}/{column}"] = np.array([row[column] for row in numbers])
        arrays[f"{name}/channels"] = np.stack(list(map(adapter.answer_channels, answers[::EVERY])))
        document[name] = {
            "counts": {
                str(entity): adapter.row_counts(one) for entity, one in scorer.counts.items()
            },
            "alarms": [
                {"row": answer.row} | adapter.live_alarm(answer.alarm)
                for answer in answers
                if answer.alarm is not None
            ],
            "at the end": [adapter.live_alarm(alarm) for alarm in scorer.alarms],
        }
    check("live", NEAR, document, arrays)
