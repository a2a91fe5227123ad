"""Baseline profiles of channels, and their cycles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_files import SHARED
from report.taxi import DAY, taxi_trips
from reproduce.cases.natures import normal_plant
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import (
    NO_LIMIT,
    BaselineProfiles,
    ChannelProfile,
    restore_profiles,
)
from subadjacent.decision.learn_profiles import (
    FLAG,
    MAX_ROWS,
    learn_entity_profiles,
    learn_profiles,
    longest_run,
)
from subadjacent.errors import InputError

ROWS = np.arange(2000)


def profile(*columns: np.ndarray, channel: int = 0) -> ChannelProfile:
    return learn_profiles(TrainSeries(np.column_stack(columns))).of(channel)


def rhythm(period: int, seed: int = 0, noise: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * ROWS / period) + noise * rng.normal(size=len(ROWS))


def test_a_ramp_by_hand() -> None:
    found = profile(np.arange(101.0))
    assert (found.minimum, found.low, found.median, found.high, found.maximum) == (
        0,
        1,
        50,
        99,
        100,
    )
    assert (found.max_run, found.partner, found.cycle) == (1, -1, 0)


def test_the_longest_run_by_hand() -> None:
    assert longest_run(np.array([5, 1, 1, 1, 2, 2])) == (1, 3)
    assert longest_run(np.array([7])) == (0, 1)


def test_a_cycle_is_found_and_what_it_leaves_is_the_noise() -> None:
    found = profile(rhythm(90))
    assert found.cycle == 90
    assert 0.08 < found.error < 0.16
    assert -0.4 < found.below < -0.15 < 0.15 < found.above < 0.4
    # the step from row to row of noise of 0.1, and of the median it is compared with
    assert found.min_step < found.median_step < found.max_step
    assert 0.08 < found.median_step < 0.2


def test_noise_has_no_cycle() -> None:
    found = profile(np.random.default_rng(1).normal(size=2000))
    assert found.cycle == 0
    assert 0.9 < found.error < 1.3


def test_a_week_of_days_is_the_cycle_where_one_day_is_unlike_the_others() -> None:
    day, week = 24, 168
    rows = np.arange(20 * week)
    daily = np.sin(2 * np.pi * rows / day)
    assert profile(daily).cycle == day
    quiet = np.where(rows % week < day, 0.2, 1.0) * daily
    assert profile(quiet).cycle == week


def test_a_cycle_that_explains_little_is_none() -> None:
    assert profile(rhythm(90, noise=2.0)).cycle == 0


def test_a_partner_is_the_channel_that_goes_along() -> None:
    rng = np.random.default_rng(0)
    driver, other = rng.normal(size=(2, 2000))
    follower = -3 * driver + 0.5 * rng.normal(size=2000)
    found = profile(follower, other, driver)
    assert found.partner == 2
    assert found.slope == pytest.approx(-3, rel=0.05)
    assert found.partner_error == pytest.approx(0.5, rel=0.15)
    assert profile(follower, other, driver, channel=1).partner == -1


def test_a_channel_that_never_moves_has_nothing_usual_but_its_value() -> None:
    found = profile(np.full(50, 4.0), np.arange(50.0))
    assert (found.minimum, found.maximum, found.error, found.median_step) == (4, 4, 0, 0)
    assert (found.max_run, found.partner) == (50, -1)


def test_the_last_rows_of_the_longest_segment_say_enough() -> None:
    values = np.concatenate([np.full(10, -99.0), np.zeros(5), np.ones(MAX_ROWS)])[:, None]
    series = TrainSeries(values, starts=(0, 10))
    assert learn_profiles(series).of(0).minimum == 1
    short = TrainSeries(values[:15], starts=(0, 10))
    assert learn_profiles(short).of(0).maximum == -99


@pytest.mark.parametrize("rows", [1, 2, 5, 30, 200])
def test_few_rows_have_finite_habits(rows: int) -> None:
    rng = np.random.default_rng(0)
    assert np.isfinite(learn_profiles(TrainSeries(rng.normal(size=(rows, 3)))).table).all()


def test_what_is_usual_is_around_what_is_expected() -> None:
    found = profile(np.random.default_rng(1).normal(size=2000))
    column, alarmed = np.repeat([0.0, 7.0], 200), np.zeros(400, dtype=bool)
    rows = slice(390, 400)
    expected = found.expected_range(column, alarmed, rows)
    # a level that no alarm has told of is not expected
    assert expected.expected.tolist() == [found.median] * 10
    alarmed[190:260] = True
    expected = found.expected_range(column, alarmed, rows)
    assert expected.expected.tolist() == [7.0] * 10
    bounds = 7.0 + found.below, 7.0 + found.above
    assert (expected.low[0], expected.high[0]) == bounds
    expected = found.expected_range(column, alarmed, rows, follows_shifts=False)
    assert expected.expected.tolist() == [found.median] * 10
    # nor is anything but the level of training where no row is normal
    expected = found.expected_range(column, np.ones(400, dtype=bool), rows)
    assert expected.expected.tolist() == [found.median] * 10


def test_an_entity_never_seen_may_be_anything_that_was_seen() -> None:
    series = [
        TrainSeries(np.arange(50.0)[:, None], entity="a"),
        TrainSeries(100 + np.arange(60.0)[:, None], entity="b"),
    ]
    profiles = learn_entity_profiles(series)
    assert profiles.of("a").of(0).maximum == 49
    unseen = profiles.of("c").of(0)
    assert (unseen.minimum, unseen.maximum) == (0, 159)
    assert unseen.median == profiles.of("b").of(0).median


def test_tables_come_back_and_what_does_not_fit_is_refused() -> None:
    profiles = learn_entity_profiles([TrainSeries(np.random.default_rng(0).normal(size=(80, 2)))])
    tables = np.stack([one.table for one in profiles])
    again = restore_profiles(tables, 2, ())
    assert again.of(None).of(1) == profiles.of(None).of(1)
    assert isinstance(again.pooled, BaselineProfiles)
    with pytest.raises(InputError, match="profiles must be finite and of shape"):
        restore_profiles(tables, 3, ())
    with pytest.raises(InputError, match="profiles must be finite"):
        restore_profiles(np.where(tables > 0, np.nan, tables), 2, ())
    tables[0, ChannelProfile._fields.index("partner")] = 2
    with pytest.raises(InputError, match="partners from -1 to 1"):
        restore_profiles(tables, 2, ())


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


def test_limits_and_decimals_are_those_of_the_values() -> None:
    rng = np.random.default_rng(0)
    counts, share = rng.poisson(3, 2000).astype(float), rng.beta(2, 2, 2000)
    percent, tenths = 100 * rng.beta(5, 1, 2000), rng.normal(size=2000).round(1)
    flag = (rng.random(2000) < 0.3) * 2.5 + 1.0
    columns = [counts, share, percent, tenths, flag]
    found = [profile(*columns, channel=number) for number in range(5)]
    assert [one.decimals for one in found] == [0, -1, -1, 1, FLAG]
    assert [(one.floor, one.ceiling) for one in found] == [
        (0, 100),
        (0, 1),
        (0, 100),
        (-NO_LIMIT, NO_LIMIT),
        (1, 3.5),
    ]
    for one, column in zip(found, columns, strict=True):
        usual = one.expected_range(column, np.zeros(2000, dtype=bool), slice(0, 2000))
        assert one.floor <= usual.low.min() <= usual.high.max() <= one.ceiling
        assert ((usual.low <= usual.expected) & (usual.expected <= usual.high)).all()
        if one.decimals >= 0:
            np.testing.assert_array_equal(usual.high, usual.high.round(int(one.decimals)))
    usual = found[4].expected_range(flag, np.zeros(2000, dtype=bool), slice(0, 2000))
    assert set(usual.low) | set(usual.high) <= {1.0, 3.5}


@given(st.integers(0, 50), st.integers(1, 40), st.sampled_from([0, 24]))
def test_the_range_does_not_follow_an_event(seed: int, rows: int, cycle: int) -> None:
    rng = np.random.default_rng(seed)
    column = rng.normal(size=900) + (5 * np.sin(np.arange(900) * 2 * np.pi / 24) if cycle else 0)
    found = profile(column)
    left_out = np.zeros(900, dtype=bool)
    left_out[600 : 600 + rows] = True
    changed = column.copy()
    changed[600 : 600 + rows] = rng.normal(1000, 900, rows)
    before, after = (
        found.expected_range(values, left_out, slice(550, 700)) for values in (column, changed)
    )
    np.testing.assert_array_equal(np.stack(before), np.stack(after))


def test_what_goes_astray_without_an_alarm_is_no_reference() -> None:
    rng = np.random.default_rng(0)
    found = profile(rng.normal(size=2000))
    column = np.concatenate([rng.normal(size=400), np.linspace(0, 40, 400), np.full(800, 40.0)])
    none = np.zeros(1600, dtype=bool)
    assert found.expected_range(column, none, slice(1500, 1600)).high.max() < 10
    # an alarm has told that it went there
    alarmed = none.copy()
    alarmed[600:700] = True
    assert found.expected_range(column, alarmed, slice(1590, 1600)).expected.tolist() == [40.0] * 10


def coverage(train: np.ndarray, test: np.ndarray, normal: np.ndarray) -> float:
    """Share of the normal rows that lie in the expected range."""
    found = profile(train)
    usual = found.expected_range(test, ~normal, slice(0, len(test)))
    return float(((test >= usual.low) & (test <= usual.high))[normal].mean())


def test_ranges_hold_nearly_all_normal_rows_of_generated_plants() -> None:
    shares = []
    for seed in range(4):
        for channel in normal_plant(np.random.default_rng(seed), 4500, 12):
            values = channel.values
            shares.append(coverage(values[:3000], values[3000:], np.ones(1500, dtype=bool)))
    assert 0.98 <= np.mean(shares) <= 0.997
    assert min(shares) >= 0.94


def test_ranges_hold_nearly_all_normal_rows_of_real_series() -> None:
    file = SHARED / "web.npz"
    if not file.exists():
        pytest.skip(f"{file} is absent")
    data = np.load(file)
    tests = np.split(data["test"], np.cumsum(data["test_lengths"])[:-1])
    trains = np.split(data["train"], np.cumsum(data["train_lengths"])[:-1])
    labels = np.split(data["labels"], np.cumsum(data["test_lengths"])[:-1])
    shares = [
        coverage(train[:, 0], test[:, 0], np.convolve(anomalous, np.ones(61), "same") < 0.5)
        for train, test, anomalous in list(zip(trains, tests, labels, strict=True))[::5]
    ]
    assert 0.95 <= np.mean(shares) <= 0.995


def test_anomalies_of_training_do_not_widen_the_range() -> None:
    values = np.random.default_rng(0).normal(size=3000)
    clean = profile(values)
    values[1000:1200] = 80.0
    found = profile(values)
    assert found.above < 1.3 * clean.above


def test_a_cycle_is_known_from_training_where_there_is_none_yet() -> None:
    rng = np.random.default_rng(0)
    wave = 5 * np.sin(np.arange(3000) * 2 * np.pi / 60) + 0.1 * rng.normal(size=3000)
    found = profile(wave[:2400])
    start = wave[2415:2475]
    usual = found.expected_range(start, np.zeros(60, dtype=bool), slice(0, 60))
    assert np.abs(usual.expected - start).max() < 0.7
    # but not from too few rows
    few = found.expected_range(start[:20], np.zeros(20, dtype=bool), slice(0, 20))
    assert set(few.expected.tolist()) == {found.median}


def test_a_day_is_found_by_the_clock() -> None:
    rng = np.random.default_rng(0)
    rows = np.arange(24 * 40)
    noisy = np.sin(rows * 2 * np.pi / 24) + 0.5 * rng.normal(size=len(rows))
    series = TrainSeries(noisy[:, None], interval=3600.0)
    assert learn_profiles(series).each("cycle").tolist() == [24]


def test_what_normal_rows_have_passed_is_no_limit() -> None:
    rng = np.random.default_rng(0)
    found = profile(0.6 + 0.1 * rng.random(2000))
    assert (found.floor, found.ceiling) == (0, 1)
    column = np.repeat([0.65, 1.4], [400, 400]) + 0.01 * rng.normal(size=800)
    alarmed = np.arange(800) // 50 == 8
    usual = found.expected_range(column, alarmed, slice(0, 800))
    assert usual.high[:450].max() <= 1
    # since the alarm it is at 1.4, so no share
    assert ((usual.low < column) & (column < usual.high))[600:].all()
    assert usual.low[600:].min() > 1
