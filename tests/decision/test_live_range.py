"""Expected ranges of a stream's rows: those of a chart of all rows, told in advance."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.data.series import TrainSeries
from subadjacent.decision.causes import Explainer
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.live_range import LiveRanges, ranges_of
from subadjacent.decision.recent_rows import RecentBuffer, RecentRows

ROWS, CHANNELS = 600, 3


def walk_noise_and_cycle(seed: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    cycle = 4 * np.sin(np.arange(rows) * 2 * np.pi / 60) + 0.2 * rng.normal(size=rows)
    return np.column_stack([np.cumsum(rng.normal(size=rows)), rng.normal(size=rows), cycle])


PROFILES = learn_profiles(TrainSeries(walk_noise_and_cycle(0, 3_000)))


def live(values: np.ndarray, anomalous: np.ndarray, size: int) -> np.ndarray:
    """Expected value, low and high of all rows, (T, 3, C), as some come at a time."""
    recent, ranges, found = RecentBuffer(CHANNELS), LiveRanges(PROFILES, CHANNELS), []
    for first in range(0, len(values), size):
        some = values[first : first + size]
        none, starts = np.zeros(some.shape, dtype=bool), np.arange(len(some)) + first == 0
        evidence = Evidence(np.zeros(len(some)), np.zeros(some.shape), None, {})
        unkept = ranges_of(evidence, kept=False)
        flags = anomalous[first : first + size]
        recent.add(RecentRows(some, none * 0.0, none, none, flags, starts, unkept), None)
        found.append(ranges_of(ranges.put(evidence, recent, first), kept=True))
    return np.concatenate(found)


@pytest.mark.parametrize("size", [1, 7, 256])
def test_ranges_do_not_depend_on_how_rows_come(size: int) -> None:
    values, anomalous = walk_noise_and_cycle(1, ROWS), np.arange(ROWS) // 30 == 12
    np.testing.assert_array_equal(live(values, anomalous, size), live(values, anomalous, 50))


def test_ranges_are_those_of_a_chart_of_all_rows() -> None:
    values, none = walk_noise_and_cycle(1, ROWS), np.zeros(ROWS, dtype=bool)
    evidence = Evidence(np.zeros(ROWS), np.zeros(values.shape), None, {})
    explainer = Explainer.of(TrainSeries(values), evidence, PROFILES, none)
    found = live(values, none, 20)[200:]
    for channel in range(CHANNELS):
        expected, low, high = (part[200:] for part in explainer.expected_range(channel))
        np.testing.assert_allclose(found[:, 0, channel], expected)
        # what is known in advance is up to twenty rows older
        width = high - low
        assert (found[:, 1, channel] <= low + 1e-9).all()
        assert (found[:, 2, channel] >= high - 1e-9).all()
        assert (found[:, 2, channel] - found[:, 1, channel] <= 1.3 * width).all()


def test_ranges_do_not_follow_an_alarm() -> None:
    values, anomalous = walk_noise_and_cycle(1, ROWS), np.zeros(ROWS, dtype=bool)
    anomalous[400:500] = True
    moved = values.copy()
    moved[400:500] += 30
    np.testing.assert_array_equal(live(moved, anomalous, 20), live(values, anomalous, 20))


def test_before_any_row_the_range_is_that_of_training() -> None:
    found = live(walk_noise_and_cycle(1, 20), np.zeros(20, dtype=bool), 20)
    # the noise is compared with the median of training in any case
    for channel in (0, 2):
        profile = PROFILES.of(channel)
        assert found[0, :, channel].tolist() == [profile.median, profile.low, profile.high]
