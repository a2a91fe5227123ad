"""Which surprises are reported."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subadjacent.streaming.learning.new_events import STEP, TIME_CONSTANT, NewEventFilter


def test_a_surprise_is_reported_in_full_and_again_when_it_has_grown_by_a_step() -> None:
    # 2 is less than a step, 5 is reported, 7.9 is not a step more, 9 is, 4 is less
    reported = NewEventFilter().filter(np.array([2.0, 5.0, 7.9, 9.0, 4.0]))
    assert reported.tolist() == [0.0, 5.0, 0.0, 9.0, 0.0]


def test_an_event_that_grows_slowly_is_reported() -> None:
    # each row is hardly more than the one before it
    reported = NewEventFilter().filter(np.linspace(0, 20, 400))
    assert reported.max() > 15
    # the last report decays, so that there are a few more than 20 / STEP
    assert 4 <= np.count_nonzero(reported) <= 10


def test_the_last_report_decays_and_the_same_is_reported_again() -> None:
    surprise = np.full(3_000, 6.0)
    again = np.flatnonzero(NewEventFilter().filter(surprise)).tolist()
    # as soon as no more than 6 - STEP is left of it
    wait = math.ceil(TIME_CONSTANT * math.log(6 / (6 - STEP)))
    assert again == list(range(0, 3_000, wait))


@pytest.mark.parametrize("parts", [1, 2, 33, 700])
def test_reports_are_the_definition_read_aloud_however_rows_come(parts: int) -> None:
    surprise = np.random.default_rng(0).exponential(3, size=700)
    reporter = NewEventFilter()
    found = np.concatenate([reporter.filter(one) for one in np.array_split(surprise, parts)])
    reported: list[tuple[int, float]] = []
    for row, amount in enumerate(surprise.tolist()):
        left = (
            reported[-1][1] * math.exp(-(row - reported[-1][0]) / TIME_CONSTANT)
            if reported
            else 0.0
        )
        if amount >= left + STEP:
            reported.append((row, amount))
    assert np.flatnonzero(found).tolist() == [row for row, _ in reported]
    assert found[found > 0].tolist() == [amount for _, amount in reported]


def test_the_last_report_is_restored() -> None:
    reporter, other = NewEventFilter(), NewEventFilter()
    reporter.filter(np.array([8.0, 1.0]))
    other.restore(reporter.state())
    assert other.filter(np.array([9.0, 12.0])).tolist() == [0.0, 12.0]
    assert reporter.filter(np.array([9.0, 12.0])).tolist() == [0.0, 12.0]
