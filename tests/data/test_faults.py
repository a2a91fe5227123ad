"""Values that are set aside, and such that are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.faults import faults, replace_faults
from subadjacent.data.series import TrainSeries

Floats = NDArray[np.float64]


def ramp() -> Floats:
    """0 to 99: all values lie 99 apart."""
    return np.arange(100.0)[:, None]


def test_a_gap_is_wider_than_all_others_lie_apart_by_hand() -> None:
    values = ramp()
    values[50] = 99 + 99
    assert not faults(values).any()
    values[50] = 99 + 99.01
    assert faults(values)[:, 0].nonzero()[0].tolist() == [50]
    values[50] = -99
    assert not faults(values).any()
    values[50] = -99.01
    assert faults(values)[:, 0].nonzero()[0].tolist() == [50]


def test_codes_on_both_sides_do_not_hide_each_other() -> None:
    values = np.sin(np.arange(2000.0) / 9)[:, None]
    at = [7, 300, 301, 1999]
    values[at, 0] = [1e6, -9999, 9999, 9999]
    assert faults(values)[:, 0].nonzero()[0].tolist() == at


def test_one_side_that_reaches_further_lets_the_other_do_so() -> None:
    # 150 is within a range of 0 to 99; only once it counts is -200 near enough
    values = ramp()
    values[50], values[51] = 150, -140
    assert not faults(values).any()
    values[50] = 60
    assert faults(values).nonzero()[0].tolist() == [51]


def test_what_channels_do_by_themselves_is_no_fault() -> None:
    for kind in ["noise", "cycle", "waiting times", "flag", "pulses", "few rows"]:
        rng = np.random.default_rng(1)
        time = np.arange(5000)
        values = {
            "noise": rng.normal(size=5000),
            "cycle": np.sin(time / 9),
            "waiting times": rng.exponential(size=5000),
            "flag": (time % 500 == 3).astype(float),
            "pulses": np.where(time % 400 == 3, rng.uniform(50, 90, 5000), 0),
            "few rows": np.where(time == 3, 9999.0, rng.normal(size=5000)),
        }[kind][:, None]
        assert not faults(values[:20] if kind == "few rows" else values).any()


def test_what_comes_again_and_again_with_values_of_its_own_is_how_the_channel_is() -> None:
    rng = np.random.default_rng(2)
    noise, bursts = rng.normal(size=(4000, 1)), np.arange(50, 4000, 200)
    values = noise.copy()
    values[bursts, 0] = rng.uniform(500, 900, len(bursts))
    assert not faults(values).any()
    # one value, to the last digit, is a code
    values[bursts, 0] = 9999
    assert faults(values).sum() == len(bursts)
    # not all through the rows
    values = noise.copy()
    values[50:850:40, 0] = rng.uniform(500, 900, 20)
    assert faults(values).sum() == 20
    # and rarer than one in five hundred it is no way of being
    values = np.tile(noise, (3, 1))
    values[50::600, 0] = rng.uniform(500, 900, 20)
    assert faults(values).sum() == 20


def test_faults_take_the_value_before_them_within_their_segment() -> None:
    values = np.tile([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], (100, 1))
    values[4, 0] = values[60, 0] = values[61, 0] = 9999
    series = TrainSeries(values, starts=(0, 60), entity="a")
    learned = replace_faults(series)
    assert learned.series.values[[4, 60, 61], 0].tolist() == [1, 3, 3]
    assert learned.series.entity == "a"
    assert learned.series.starts == (0, 60)
    assert learned.faults is not None
    assert learned.faults.nonzero()[0].tolist() == [4, 60, 61]
    # what came stays as it was
    assert values[4, 0] == 9999
    rest = ~learned.faults
    np.testing.assert_array_equal(learned.series.values[rest], values[rest])


def test_a_series_without_faults_is_not_copied() -> None:
    series = TrainSeries(ramp())
    assert replace_faults(series) == (series, None)
    assert not faults(np.zeros((0, 3))).any()
