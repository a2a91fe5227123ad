"""The cycle of a channel is found to the row: an error adds up from cycle to cycle."""

from __future__ import annotations

import numpy as np
import pytest

from report.taxi import DAY, taxi_trips
from subadjacent.data.series import TrainSeries
from subadjacent.scoring.baseline_profile import learn_profiles


def test_four_weeks_of_half_hours_have_a_week() -> None:
    weeks = taxi_trips()[: 4 * 7 * DAY].to_numpy()
    assert learn_profiles(TrainSeries(weeks)).each("cycle").tolist() == [7 * DAY]


@pytest.mark.parametrize(("period", "rows"), [(48, 1_000), (50, 200), (336, 1_344), (331, 9_000)])
def test_a_cycle_is_found_to_the_row(period: int, rows: int) -> None:
    places = np.arange(rows)
    noise = np.random.default_rng(period).normal(0, 0.05, rows)
    saw = places % period / period + np.sin(places / period * 2 * np.pi) + noise
    profiles = learn_profiles(TrainSeries(saw[:, None]))
    assert profiles.each("cycle").tolist() == [period]
    # what is left is the noise alone
    assert profiles.each("error")[0] == pytest.approx(0.05, rel=0.35)


def test_a_flat_cycle_in_noise_is_told_by_many_cycles() -> None:
    places = np.arange(20_000)[:, None]
    periods = np.array([115, 206, 258, 297])
    noise = np.random.default_rng(0).normal(0, 0.1, (20_000, 4))
    rows = np.sin(places * 2 * np.pi / periods) + noise
    assert learn_profiles(TrainSeries(rows)).each("cycle").tolist() == periods.tolist()


def test_a_cycle_of_a_quarter_of_the_rows_is_no_longer_than_that() -> None:
    rows = np.sin(np.arange(199) / 50 * 2 * np.pi)[:, None]
    assert learn_profiles(TrainSeries(rows)).each("cycle").tolist() == [49]
