"""Runs of alarmed rows beside exact labels: by hand, and against a walk over rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given

from evaluation.awkward import Pair, scored
from subadjacent.evaluation.alarms import AlarmCounts, count_alarms, joined_runs

# three events; the first is found late, the second missed, the third found at once
LABELS = [1, 1, 1, 0, 1, 1, 0, 0, 1, 0]
ALARMS = [0, 0, 1, 1, 0, 0, 0, 1, 1, 0]


def delays_oracle(predicted: list[int], labels: list[int]) -> list[float]:
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


def counted(predicted: Sequence[int], labels: Sequence[int]) -> AlarmCounts:
    return count_alarms(joined_runs(predicted, gap=0), labels, margin=0)


def test_by_hand() -> None:
    counts = counted(ALARMS, LABELS)
    assert (counts.found, counts.waited, counts.delay) == (2, 2, 1.0)
    # rows 3 and 7 of ten; both belong to runs that touch an event
    assert (counts.covered, counts.false) == (2, 0)
    assert counted([1, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1]).false == 2


@given(scored())
def test_counts_are_those_of_a_walk_over_rows(pair: Pair) -> None:
    predicted, labels = [int(score > 0) for score in pair[0]], pair[1]
    delays = [delay for delay in delays_oracle(predicted, labels) if not math.isnan(delay)]
    counts = counted(predicted, labels)
    assert (counts.found, counts.waited) == (len(delays), sum(delays))
    assert math.isnan(counts.delay) == (not delays)
    false = [p and not y for p, y in zip(predicted, labels, strict=True)]
    assert counts.covered == sum(false)
