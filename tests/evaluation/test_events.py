"""Measures for operators: by hand, and against a walk over events."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from evaluation.awkward import Pair, scored
from subadjacent.evaluation.events import (
    detection_delay,
    detection_delays,
    events_found,
    false_alarm_runs,
    false_alarms_per_1000,
)

# three events; the first is found late, the second missed, the third found at once
LABELS = [1, 1, 1, 0, 1, 1, 0, 0, 1, 0]
ALARMS = [0, 0, 1, 1, 0, 0, 0, 1, 1, 0]


def delays_oracle(predicted: list[bool], labels: list[int]) -> list[float]:
    """Go through the rows with a watch that starts with each event."""
    delays: list[float] = []
    waited = 0
    for row, (p, y) in enumerate(zip(predicted, labels, strict=True)):
        if y and (row == 0 or not labels[row - 1]):
            delays.append(math.nan)
            waited = 0
        if y and p and math.isnan(delays[-1]):
            delays[-1] = waited
        waited += 1
    return delays


def test_events_by_hand() -> None:
    assert events_found(ALARMS, LABELS) == 2
    np.testing.assert_array_equal(detection_delays(ALARMS, LABELS), [2, math.nan, 0])
    assert detection_delay(ALARMS, LABELS) == 1.0


def test_false_alarms_by_hand() -> None:
    # rows 3 and 7 of ten; both belong to runs that touch an event
    assert false_alarms_per_1000(ALARMS, LABELS) == 200.0
    assert false_alarm_runs(ALARMS, LABELS) == 0
    assert false_alarm_runs([1, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1]) == 2


@pytest.mark.parametrize("predicted", [[0, 0], [0, 1], [1, 1]])
def test_without_events_none_is_found_and_there_is_no_delay(predicted: list[int]) -> None:
    assert events_found(predicted, [0, 0]) == 0
    assert detection_delays(predicted, [0, 0]).shape == (0,)
    assert math.isnan(detection_delay(predicted, [0, 0]))
    assert false_alarms_per_1000(predicted, [0, 0]) == 500 * sum(predicted)


@given(scored())
def test_delays_are_those_of_a_walk_over_rows(pair: Pair) -> None:
    predicted, labels = [score > 0 for score in pair[0]], pair[1]
    expected = delays_oracle(predicted, labels)
    np.testing.assert_array_equal(detection_delays(predicted, labels), expected)
    assert events_found(predicted, labels) == sum(not math.isnan(delay) for delay in expected)
