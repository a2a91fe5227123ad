"""How rarely so much is told."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.peaks import (
    GUESSED_PEAKS,
    GUESSED_ROWS,
    LEVEL,
    USUAL_EXCESS,
    USUAL_ROWS,
    Peaks,
)


def test_before_any_row_a_peak_is_as_rare_as_in_other_series() -> None:
    peaks = Peaks(USUAL_ROWS)
    # at the level it comes once in the period; each mean excess makes it e times rarer
    more = LEVEL + USUAL_EXCESS * np.log(USUAL_ROWS)
    assert peaks.severity(np.array([0.0, LEVEL, more])).tolist() == pytest.approx([0, 1, 2])


def test_what_comes_once_in_the_period_has_severity_1() -> None:
    rng = np.random.default_rng(0)
    peaks = Peaks(10_000)
    # one row in 100 is a peak, with a mean excess of 4
    amounts = np.where(rng.random(2_000_000) < 0.01, LEVEL + rng.exponential(4, 2_000_000), 0)
    peaks.learn(amounts, 1.0)
    rare = LEVEL + 4 * np.log(100)
    assert peaks.severity(np.array([rare]))[0] == pytest.approx(1, abs=0.01)


def test_counts_are_added_to_what_is_guessed_and_fade() -> None:
    peaks = Peaks(1_000)
    peaks.learn(np.array([0.0, 3.0, LEVEL, LEVEL + 6, LEVEL + 2]), 1.0)
    peaks.learn(np.zeros(10), 0.5)
    # 2.5 rows and one peak of 4 are left of the first five, then ten rows without any
    between = (12.5 + GUESSED_ROWS) / (1 + GUESSED_ROWS / USUAL_ROWS)
    excess = (4 + GUESSED_PEAKS * USUAL_EXCESS) / (1 + GUESSED_PEAKS)
    expected = (np.log(between) + 7 / excess) / np.log(1_000)
    assert peaks.severity(np.array([LEVEL + 7]))[0] == pytest.approx(expected)
    other = Peaks(1_000)
    other.restore(peaks.state())
    assert other.severity(np.array([9.0])) == peaks.severity(np.array([9.0]))


def test_what_came_often_of_late_is_not_rare() -> None:
    peaks = Peaks(1_000)
    before = peaks.severity(np.array([15.0]))[0]
    peaks.learn(np.full(200, 15.0), 1.0)
    assert peaks.severity(np.array([15.0]))[0] < before / 2
    assert peaks.severity(np.array([0.1])) >= 0


def test_a_longer_period_makes_the_same_less_severe() -> None:
    amount = np.array([9.0])
    assert Peaks(100).severity(amount)[0] == pytest.approx(2 * Peaks(10_000).severity(amount)[0])


def test_the_guess_counts_less_where_there_are_more_channels() -> None:
    one, many = Peaks(1_000), Peaks(1_000, channels=50)
    amount = np.array([12.0])
    assert many.severity(amount) == pytest.approx(one.severity(amount))
    for peaks in (one, many):
        peaks.learn(np.tile([12.0, *np.zeros(49)], 10), 1.0)
    # ten peaks of 7 in 500 rows, beside 100 rows and one peak that are guessed
    between = (500 + 100) / (10 + 100 / USUAL_ROWS)
    expected = (np.log(between) + 7 / ((70 + USUAL_EXCESS) / 11)) / np.log(1_000)
    assert many.severity(amount)[0] == pytest.approx(expected)
    assert many.severity(amount)[0] < one.severity(amount)[0]
