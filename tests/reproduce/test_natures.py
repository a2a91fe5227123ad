"""The normal plant: what each nature is, who follows whom, and that channels come in all sizes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from reproduce.cases.natures import (
    CYCLE,
    DEVIATIONS,
    FEWEST,
    LAG,
    NOISE,
    Channel,
    normal_plant,
)
from subadjacent.errors import InputError

ROWS = 4500


@pytest.fixture(scope="module")
def plants() -> list[tuple[Channel, ...]]:
    return [normal_plant(np.random.default_rng(seed), ROWS) for seed in range(6)]


def of(plants: list[tuple[Channel, ...]], nature: str) -> list[Channel]:
    return [one for plant in plants for one in plant if one.nature == nature]


def test_parts_add_up_and_units_scale_both_by_hand() -> None:
    one = Channel("steady", np.array([0.0, 0.0, 1.0]), np.array([1.0, -1.0, 0.0]))
    assert one.values.tolist() == [1.0, -1.0, 1.0]
    # variance of the irregular part 2/3; steps of the regular one 0 and 1, squared 1/2 on average
    assert one.usual == pytest.approx(np.sqrt(2 / 3 + 1 / 2))
    scaled = one.scaled(10.0, 2.0)
    assert scaled.values.tolist() == [12.0, 8.0, 12.0]
    assert scaled.usual == pytest.approx(2 * one.usual)


def test_a_plant_is_the_same_for_a_seed_and_has_every_nature() -> None:
    one, same, other = (normal_plant(np.random.default_rng(seed), 400) for seed in (1, 1, 2))
    assert [channel.nature for channel in one] == [channel.nature for channel in same]
    for channel, again in zip(one, same, strict=True):
        np.testing.assert_array_equal(channel.values, again.values)
    assert [channel.nature for channel in one] != [channel.nature for channel in other]
    assert Counter(channel.nature for channel in one) == {
        "rhythm": 3,
        "wandering": 3,
        "steady": 3,
        "set points": 3,
        "counts": 2,
        "follower": 6,
    }
    assert {len(channel.values) for channel in one} == {400}


def test_the_smallest_plant_has_three_followers_of_one_channel() -> None:
    plant = normal_plant(np.random.default_rng(0), 300, FEWEST)
    natures = Counter(one.nature for one in plant)
    assert natures.pop("follower") == 3
    assert set(natures.values()) == {1}
    (leader,) = {one.drivers for one in plant if one.drivers}
    assert [plant[number].nature for number in leader] == ["wandering"]


def test_units_are_of_all_sizes_and_counts_are_counts(plants: list[tuple[Channel, ...]]) -> None:
    deviations = [one.values.std() for plant in plants for one in plant if one.nature != "counts"]
    assert DEVIATIONS[0] / 2 < min(deviations) < 10 * DEVIATIONS[0]
    assert DEVIATIONS[1] / 10 < max(deviations) < 2 * DEVIATIONS[1]
    for one in of(plants, "counts"):
        np.testing.assert_array_equal(one.values, np.round(one.values))
        assert one.values.min() >= 0
        assert one.values.var() == pytest.approx(one.values.mean(), rel=0.15)


def test_a_rhythm_comes_again_after_a_cycle_and_not_before(
    plants: list[tuple[Channel, ...]],
) -> None:
    for one in of(plants, "rhythm"):
        assert CYCLE[0] <= one.cycle <= CYCLE[1]
        at = np.arange(ROWS)
        spread = one.regular.std()

        def apart(cycles: float, one: Channel = one, at: np.ndarray = at) -> float:
            shown = np.interp(at[: ROWS // 2] + cycles * one.cycle, at, one.regular)
            return float(np.abs(shown - one.regular[: ROWS // 2]).mean())

        assert apart(1) < 0.02 * spread
        assert apart(0.5) > 0.8 * spread
        assert NOISE[0] * 0.9 < one.irregular.std() / spread < NOISE[1] * 1.1


def test_steady_channels_have_no_regular_part_and_set_points_a_few_levels(
    plants: list[tuple[Channel, ...]],
) -> None:
    for one in of(plants, "steady"):
        assert np.ptp(one.regular) == 0
        assert one.usual == pytest.approx(one.values.std())
    levels = [len(np.unique(one.regular)) for one in of(plants, "set points")]
    assert set(levels) == {2, 3, 4}
    for one in of(plants, "set points"):
        held = np.diff(np.flatnonzero(np.diff(one.regular)))
        assert 30 <= held.min() <= held.max() <= 150


def test_what_wanders_keeps_near_where_it_was(plants: list[tuple[Channel, ...]]) -> None:
    for one in of(plants, "wandering"):
        kept = np.corrcoef(one.regular[1:], one.regular[:-1])[0, 1]
        assert 0.93 < kept < 0.99


def test_followers_are_their_drivers_a_few_rows_later_and_noise(
    plants: list[tuple[Channel, ...]],
) -> None:
    for plant in plants:
        for one in plant:
            assert bool(one.drivers) == (one.nature == "follower")
            if not one.drivers:
                continue
            late = [
                (plant[driver].irregular if steady else plant[driver].regular)[LAG - lag : -lag]
                if lag
                else (plant[driver].irregular if steady else plant[driver].regular)[LAG:]
                for driver in one.drivers
                for steady in [plant[driver].nature == "steady"]
                for lag in range(LAG + 1)
            ]
            columns = np.column_stack([*late, np.ones(ROWS - LAG)])
            columns /= np.abs(columns).max(axis=0)
            weights = np.linalg.lstsq(columns, one.regular[LAG:], rcond=None)[0]
            rest = one.regular[LAG:] - columns @ weights
            assert rest.std() < 1e-6 * one.regular.std()


def test_one_channel_has_three_that_follow_nothing_else(
    plants: list[tuple[Channel, ...]],
) -> None:
    for plant in plants:
        alone = Counter(one.drivers for one in plant if len(one.drivers) == 1)
        assert list(alone.values()) == [3]


def test_too_small_a_plant_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=r"channels must be a whole number of at least 8 .*got 7"):
        normal_plant(rng, 1000, 7)
    with pytest.raises(InputError, match=r"rows must be a whole number of at least 300 .*got 299"):
        normal_plant(rng, 299)
