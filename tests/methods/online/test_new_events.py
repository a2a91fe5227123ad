"""New-event surprise, and its severity by its return period."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subadjacent.methods.online.new_events import (
    LOWEST,
    PRIOR_EXCESS,
    PRIOR_PEAKS,
    PRIOR_RETURN_PERIOD,
    PRIOR_ROWS,
    SPACING,
    STEP,
    THRESHOLDS,
    TIME_CONSTANT,
    NewEventFilter,
    PeaksOverThreshold,
)


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


def test_before_any_row_a_peak_is_as_rare_as_in_other_series() -> None:
    peaks = PeaksOverThreshold(PRIOR_RETURN_PERIOD)
    # at the lowest threshold it comes once in the period; each mean excess makes it e times rarer
    more = LOWEST + PRIOR_EXCESS * np.log(PRIOR_RETURN_PERIOD)
    assert peaks.severity(np.array([0.0, LOWEST, more])).tolist() == pytest.approx([0, 1, 2])


def test_a_peak_of_the_accepted_return_period_has_severity_1() -> None:
    rng = np.random.default_rng(0)
    peaks = PeaksOverThreshold(10_000)
    # one row in 100 is a peak, with a mean excess of 4
    amounts = np.where(rng.random(2_000_000) < 0.01, LOWEST + rng.exponential(4, 2_000_000), 0)
    peaks.learn(amounts, 1.0)
    rare = LOWEST + 4 * np.log(100)
    assert peaks.severity(np.array([rare]))[0] == pytest.approx(1, abs=0.01)


def test_counts_are_added_to_the_prior_and_are_discounted() -> None:
    peaks = PeaksOverThreshold(1_000)
    peaks.learn(np.array([0.0, 3.0, LOWEST, 16.1, 12.1]), 1.0)
    peaks.learn(np.zeros(10), 0.5)
    # 2.5 rows, half a peak between 12 and 12.25 and half a one between 16 and 16.25 are left of the
    # first five, then ten rows without any. The prior has 5,000 rows with 6.5 peaks over 5, of
    # which 4.1 are over 6: the highest threshold that has at least one in 1,000 rows
    between = (12.5 + PRIOR_ROWS) / (
        1 + PRIOR_ROWS / PRIOR_RETURN_PERIOD * np.exp(-1 / PRIOR_EXCESS)
    )
    beyond = 0.5 * (12.125 - 6) + 0.5 * (16.125 - 6)
    excess = (beyond + PRIOR_PEAKS * PRIOR_EXCESS) / (1 + PRIOR_PEAKS)
    expected = (np.log(between) + (12 - 6) / excess) / np.log(1_000)
    assert peaks.severity(np.array([12.0]))[0] == pytest.approx(expected)
    other = PeaksOverThreshold(1_000)
    other.restore(peaks.state())
    assert other.severity(np.array([9.0])) == peaks.severity(np.array([9.0]))


@pytest.mark.parametrize("channels", [1, 4, 50])
@pytest.mark.parametrize("often", [0.0, 0.003, 0.2, 1.0])
def test_peaks_are_counted_up_to_a_rare_one_and_exponential_beyond(
    channels: int, often: float
) -> None:
    rng = np.random.default_rng(7)
    amounts = np.where(rng.random(3_000) < often, rng.gamma(2, 6, 3_000), 0)
    peaks = PeaksOverThreshold(5_000, channels)
    peaks.learn(amounts, 1.0)
    tail, rare = LOWEST, 0.0
    for number in range(THRESHOLDS):
        threshold = LOWEST + number * SPACING
        over = int((amounts >= threshold).sum() if number else (amounts > threshold).sum())
        prior = (
            np.sqrt(channels)
            * PRIOR_ROWS
            / PRIOR_RETURN_PERIOD
            * np.exp(-(threshold - LOWEST) / PRIOR_EXCESS)
        )
        between = (3_000 + PRIOR_ROWS) / (over + prior)
        if number and between > 1_000:
            break
        tail, rare = threshold, np.log(between)
        found = peaks.severity(np.array([threshold]))[0]
        assert found == pytest.approx(rare / np.log(5_000))
    # an amount counts as the middle between two thresholds
    beyond = np.floor((amounts[amounts > tail] - tail) / SPACING) * SPACING + SPACING / 2
    excess = (beyond.sum() + PRIOR_PEAKS * PRIOR_EXCESS) / (len(beyond) + PRIOR_PEAKS)
    expected = (rare + 10 / excess) / np.log(5_000)
    assert peaks.severity(np.array([tail + 10]))[0] == pytest.approx(expected)


def test_more_than_the_highest_threshold_counts_as_that() -> None:
    peaks, highest = PeaksOverThreshold(1_000), LOWEST + SPACING * (THRESHOLDS - 1)
    for other, amount in ((peaks, highest + 0.1), (PeaksOverThreshold(1_000), 1e9)):
        other.learn(np.array([amount]), 1.0)
        assert other.severity(np.array([50.0])) == peaks.severity(np.array([50.0]))
    # however often: the tail then begins at the last threshold
    peaks.learn(np.full(10_000, 1e9), 1.0)
    assert 0 <= peaks.severity(np.array([highest]))[0] < 0.1


def test_what_came_often_of_late_is_not_rare() -> None:
    peaks = PeaksOverThreshold(1_000)
    before = peaks.severity(np.array([15.0]))[0]
    peaks.learn(np.full(200, 15.0), 1.0)
    assert peaks.severity(np.array([15.0]))[0] < before / 2
    assert peaks.severity(np.array([0.1])) >= 0


def test_a_longer_period_makes_the_same_less_severe() -> None:
    amount = np.array([9.0])
    assert PeaksOverThreshold(100).severity(amount)[0] == pytest.approx(
        2 * PeaksOverThreshold(10_000).severity(amount)[0]
    )


def test_the_prior_of_four_channels_has_twice_the_peaks_of_one() -> None:
    one, many = (
        PeaksOverThreshold(1_000, channels).severity(np.array([30.0]))[0] for channels in (1, 4)
    )
    assert one - many == pytest.approx(np.log(2) / np.log(1_000))


def test_many_low_peaks_do_not_make_a_high_one_usual() -> None:
    rng = np.random.default_rng(3)
    peaks = PeaksOverThreshold(5_000, channels=20)
    # every third row has something, up to 20 and never more
    amounts = np.where(rng.random(6_000) < 1 / 3, rng.uniform(5, 20, 6_000), 0)
    peaks.learn(amounts, 1.0)
    # by the mean excess over the lowest threshold, 7.5, thirty would come once in 90 rows
    severity = peaks.severity(np.array([20.0, 30.0]))
    assert severity[0] < 1 < severity[1]
