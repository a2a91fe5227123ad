"""What ``contamination`` promises: asked for 1 % of normal rows, 0.3 to 3 % are alarms.

Normal processes of several sizes: the detector is fitted on n rows and judges the n that follow.
The mean over seeds is assessed, for one series of a few hundred rows has none or a tenth. That too
few alarms come takes more series to tell: all processes of a size together. ``auto``, budgets and
streams: ``benchmarks/decision.py``.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

import numpy as np
import pytest

from reproduce.cases.normal import NORMAL, STATIONARY, normal_rows
from subadjacent import AlarmBudget, SubAdjacentDetector

# statistical promises, over many draws
pytestmark = pytest.mark.sweep

ASKED = 0.01
FEWEST, MOST = 0.3 * ASKED, 3 * ASKED
# rows, channels → seeds
SIZES = {
    (300, 100): 3,
    (300, 500): 1,
    (500, 50): 4,
    (1_000, 5): 6,
    (1_000, 55): 2,
    (3_000, 20): 2,
    (10_000, 20): 1,
}
TOO_FEW = "effectively independent rows"
# process, rows, channels → percent of rows that are alarms; stationary ones without a word beside
# them are those of fewer than 40 independent rows (reproduce/log.md, "What contamination promises")
MISSED: dict[tuple[str, int, int], str] = {
    ("AR 0.95", 300, 100): "15",
    ("AR 0.95", 300, 500): "30",
    ("AR 0.95", 500, 50): "3.9",
    ("factors", 300, 100): "11",
    ("factors", 300, 500): "40",
    # three to nine wild values of the training rows, in as many channels, are taken for faults and
    # not learned from, and such values come again: 1.5 % at 300 x 100 where none is set aside
    ("heavy tails", 300, 100): "10",
    ("heavy tails", 300, 500): "4",
    # 39 % are above the threshold: what has moved is followed, and moves on
    ("random walk", 1_000, 5): "22",
}


@cache
def alarms(process: str, n: int, channels: int) -> float:
    """The share of rows that are alarms, among those that follow; the mean over seeds."""
    shares = []
    for seed in range(SIZES[n, channels]):
        rows = normal_rows(process, 2 * n, channels, seed)
        detector = SubAdjacentDetector(contamination=ASKED).fit(rows[:n])
        shares.append(float(np.mean(detector.predict(rows[n:]))))
    return float(np.mean(shares))


def cell(process: str, n: int, channels: int) -> Any:
    """A process and a size, expected to fail where the promise is not kept."""
    missed = MISSED.get((process, n, channels))
    strict = pytest.mark.xfail(reason=f"{missed} %", raises=AssertionError, strict=True)
    marks = () if missed is None else (strict,)
    return pytest.param(process, n, channels, marks=marks, id=f"{process}-{n}x{channels}")


@pytest.mark.parametrize(
    ("process", "n", "channels"), [cell(process, *size) for process in STATIONARY for size in SIZES]
)
def test_no_more_normal_rows_are_alarms_than_promised(process: str, n: int, channels: int) -> None:
    assert alarms(process, n, channels) <= MOST


# one series of each process says nothing where most have none
@pytest.mark.parametrize(("n", "channels"), [size for size in SIZES if size != (300, 500)])
def test_not_too_few_rows_are_alarms_either(n: int, channels: int) -> None:
    kept = [one for one in STATIONARY if (one, n, channels) not in MISSED]
    assert np.mean([alarms(process, n, channels) for process in kept]) >= FEWEST


@pytest.mark.parametrize("process", STATIONARY)
def test_a_budget_of_alarms_is_neither_overdrawn_nor_left(process: str) -> None:
    n, allowed, counts = 1_000, 5, []
    for seed in range(4):
        rows = normal_rows(process, 2 * n, 5, seed)
        budget = AlarmBudget(allowed, per=n, interval=1)
        detector = SubAdjacentDetector(contamination=budget).fit(rows[:n])
        # each by itself: repeats are told once, and then there are fewer
        counts.append(len(detector.alarms(rows[n:], again=0)))
    assert 0.3 * allowed <= np.mean(counts) <= 3 * allowed


def test_random_walks_are_followed() -> None:
    shares = []
    # single walks have 0 to 11 %
    for seed in range(12):
        rows = normal_rows("random walk", 6_000, 3, seed)
        detector = SubAdjacentDetector(contamination=ASKED).fit(rows[:3_000])
        shares.append(np.mean(detector.predict(rows[3_000:])))
    assert np.mean(shares) <= 5 * ASKED


# the 300 rows that pass before a change is followed are many of 1,000
@pytest.mark.parametrize(("process", "n", "channels"), [cell("random walk", 1_000, 5)])
def test_what_moves_for_good_is_not_an_alarm_for_good(process: str, n: int, channels: int) -> None:
    assert alarms(process, n, channels) <= 5 * ASKED


@pytest.mark.parametrize(
    "process",
    [
        pytest.param(
            process,
            marks=pytest.mark.xfail(
                reason="what is missed for wild values taken for faults is not for want of rows",
                raises=AssertionError,
                strict=True,
            ),
        )
        if process == "heavy tails"
        else process
        for process in NORMAL
    ],
)
def test_where_the_promise_is_not_kept_a_warning_says_so(
    process: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="subadjacent"):
        SubAdjacentDetector().fit(normal_rows(process, 300, 100))
    missed = (process, 300, 100) in MISSED or process not in STATIONARY
    assert (TOO_FEW in caplog.text) == missed
