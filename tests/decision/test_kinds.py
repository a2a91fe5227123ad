"""Kinds of departure, each on a channel that everyone would call by that name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reproduce.cases.departures import KINDS as PLANTED
from reproduce.cases.departures import departure_case
from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import ChannelProfile
from subadjacent.decision.departure import Departure, depart
from subadjacent.decision.jumps import MAX_SPIKE_ROWS
from subadjacent.decision.kinds import (
    ABRUPT_CHANGE,
    KINDS,
    MAX_NORMAL_RUN,
    MIN_STUCK_ROWS,
    RETURN,
    UNUSUAL,
    ChannelEvent,
)
from subadjacent.decision.learn_profiles import learn_profiles
from subadjacent.decision.signs import min_stuck_rows

TRAIN, TEST = 3000, 1200
# rows of the event in the test part
FIRST, LAST = 700, 780


def noise(seed: int = 0, size: int = TRAIN + TEST) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=size)


def rhythm(seed: int = 0) -> np.ndarray:
    return 10 * np.sin(2 * np.pi * np.arange(TRAIN + TEST) / 60) + noise(seed)


def told(
    column: np.ndarray,
    first: int = FIRST,
    last: int = LAST,
    partner: np.ndarray | None = None,
    missing: np.ndarray | None = None,
    *,
    permanent: bool = False,
) -> Departure:
    """What is said of a test part, the first rows of which were trained on."""
    columns = [column] if partner is None else [column, partner]
    values = np.column_stack(columns)
    profiles = learn_profiles(TrainSeries(values[:TRAIN]))
    left_out = np.zeros(TEST, dtype=bool)
    left_out[first - 30 : last + 30] = True

    def event(number: int) -> ChannelEvent:
        own = values[TRAIN:, number]
        profile = profiles.of(number)
        return ChannelEvent(own, left_out, profile, first, last, missing, permanent=permanent)

    return depart(event(0), None if partner is None else event(1))


def changed(column: np.ndarray, rows: slice, values: object) -> np.ndarray:
    column = column.copy()
    column[TRAIN:][rows] = values
    return column


def test_the_kinds_that_plants_have_are_the_kinds_there_are() -> None:
    assert {*PLANTED, ABRUPT_CHANGE, RETURN, UNUSUAL} == set(KINDS)


def test_a_spike_is_short_and_its_row_and_what_is_usual_there_are_told() -> None:
    found = told(changed(noise(), slice(FIRST, FIRST + 2), [9.0, 12.0]), FIRST, FIRST + 2)
    assert (found.kind, found.row, found.lasted) == ("spike", FIRST + 1, 2)
    assert abs(found.expected) < 0.5
    assert -3 < found.low < -1.5 < 1.5 < found.high < 3


@pytest.mark.parametrize(
    ("rows", "kind"), [(MAX_SPIKE_ROWS, "spike"), (MAX_SPIKE_ROWS + 1, "out of range")]
)
def test_what_lasts_longer_than_a_spike_is_out_of_range(rows: int, kind: str) -> None:
    column = changed(noise(), slice(FIRST, FIRST + rows), 12.0)
    assert told(column, FIRST, FIRST + rows).kind == kind


def test_a_level_that_comes_back_is_out_of_range_and_one_that_stays_has_moved_for_good() -> None:
    assert told(changed(noise(), slice(FIRST, LAST), 8 + noise(1, LAST - FIRST))).kind == (
        "out of range"
    )
    stays = changed(noise(), slice(FIRST, None), 8 + noise(1, TEST - FIRST))
    assert told(stays).kind == "level shift (permanent)"


def test_out_of_range_is_told_by_the_value_furthest_out_of_range_at_its_time() -> None:
    column = changed(rhythm(), slice(FIRST, LAST), 15 + 0.1 * noise(1, LAST - FIRST))
    found = told(column)
    # where the cycle is lowest
    assert found.kind == "out of range"
    assert found.expected < -8 < found.high < column[TRAIN + found.row]


def test_a_shift_is_permanent_only_if_it_lasts() -> None:
    column = changed(noise(), slice(FIRST, LAST), 8 + noise(1, LAST - FIRST))
    assert told(column, permanent=True).kind == "out of range"
    # without rows after it, what is known of the series counts
    stays = changed(noise(), slice(TEST - 80, None), 8 + noise(1, 80))
    for permanent, kind in ((True, "level shift (permanent)"), (False, "out of range")):
        assert told(stays, TEST - 80, TEST, permanent=permanent).kind == kind


def test_a_shift_that_comes_back_much_later_is_not_permanent() -> None:
    column = changed(noise(), slice(FIRST, FIRST + 350), 8 + noise(1, 350))
    assert told(column).kind == "out of range"


def test_a_crash_and_a_jump_are_told_in_order() -> None:
    column = changed(50 + noise(), slice(FIRST, FIRST + 20), 2.0 + noise(1, 20))
    column = changed(column, slice(FIRST + 20, FIRST + 50), 100 + noise(2, 30))
    found = told(column, FIRST, FIRST + 50)
    assert found.kind == "out of range"
    assert [round(float(column[TRAIN + row]), -1) for row in found.turns] == [0, 100]
    assert found.turns == tuple(sorted(found.turns))
    spikes = changed(50 + noise(), slice(FIRST, FIRST + 2), [2.0, 100.0])
    found = told(spikes, FIRST, FIRST + 2)
    assert (found.kind, found.turns) == ("spike", (FIRST, FIRST + 1))


def test_a_channel_that_shifted_and_goes_back_returns() -> None:
    column = changed(noise(), slice(100, None), 20 + noise(1, TEST - 100))
    column = changed(column, slice(FIRST, LAST), noise(2, LAST - FIRST))
    values = column[:, None]
    profile = learn_profiles(TrainSeries(values[:TRAIN])).of(0)
    left_out = np.zeros(TEST, dtype=bool)
    # the alarm of the shift, and that of the return
    left_out[70:400] = left_out[FIRST - 30 : LAST + 30] = True
    found = depart(ChannelEvent(values[TRAIN:, 0], left_out, profile, FIRST, LAST))
    assert (found.kind, round(found.expected)) == ("return", 20)


def test_a_return_is_told_from_its_first_row_even_if_found_much_later() -> None:
    column = changed(noise(), slice(100, 500), 20 + noise(1, 400))
    profile = learn_profiles(TrainSeries(column[:TRAIN, None])).of(0)
    left_out = np.zeros(TEST, dtype=bool)
    left_out[70:400] = left_out[570:680] = True
    event = ChannelEvent(column[TRAIN:], left_out, profile, 600, 650)
    found = depart(event)
    assert (found.kind, found.onset, found.is_visible) == ("return", 500, True)
    # its value is a usual one, soon after
    assert 500 <= found.row < 519
    assert abs(column[TRAIN + found.row]) < 1
    # without an earlier alarm nothing is known of another level
    assert depart(replace(event, left_out=left_out & (np.arange(TEST) > 500))).kind != "return"


def test_a_channel_that_wanders_returns_from_nowhere() -> None:
    wanders = np.cumsum(noise()) / 3 + noise(1)
    profile = learn_profiles(TrainSeries(wanders[:TRAIN, None])).of(0)
    left_out = np.zeros(TEST, dtype=bool)
    left_out[70:200] = left_out[570:680] = True
    column = wanders[TRAIN:]
    column[600:650] += column[100] - column[599]
    assert depart(ChannelEvent(column, left_out, profile, 600, 650)).kind != "return"


def test_noise_is_no_spike_though_few_rows_are_furthest_out() -> None:
    loud = 5 * noise(1, LAST - FIRST)
    loud[[20, 50]] = 25.0, -25.0
    assert told(changed(noise(), slice(FIRST, LAST), loud)).kind == "higher variance"


def test_noise_of_a_follower_is_its_own() -> None:
    driver = np.convolve(noise(3, TRAIN + TEST + 30), np.ones(31) / 5, "valid")
    follower = 2 * driver + 0.2 * noise(4)
    loud = follower.copy()
    loud[TRAIN + FIRST : TRAIN + LAST] += 8 * noise(5, LAST - FIRST)
    assert told(loud, partner=driver).kind == "higher variance"


def test_a_cycle_that_is_cut_off_is_of_another_shape_and_part_of_one_is_out_of_range() -> None:
    column = rhythm()
    regular = column - noise()
    cut = changed(
        column,
        slice(600, 780),
        np.minimum(regular[TRAIN + 600 : TRAIN + 780], 0) + noise(1, 180),
    )
    assert told(cut, 600, 780).kind == "unusual shape"
    half = changed(column, slice(600, 630), column[TRAIN + 600 : TRAIN + 630] - 15)
    assert told(half, 600, 630).kind == "out of range"


def test_a_step_is_no_drift_and_its_rows_are_those_of_its_level() -> None:
    # a little out before it
    slow = np.linspace(0, 4, 150)
    column = changed(noise(), slice(550, 700), slow + noise(1, 150))
    column = changed(column, slice(700, 780), 30 + noise(2, 80))
    found = told(column, 560, 780)
    assert (found.kind, found.onset, found.end) == ("out of range", 700, 779)


@pytest.mark.parametrize("seed", range(20))
def test_a_departure_never_ends_before_it_begins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    column = noise(seed)
    for _ in range(6):
        first = TRAIN + int(rng.integers(600, 800))
        column[first : first + int(rng.integers(1, 60))] += rng.normal(0, 8)
    found = told(column)
    assert found.onset <= found.row <= found.end


def test_a_channel_that_stands_still_in_a_part_of_an_event_is_stuck() -> None:
    column = changed(noise(), slice(600, 700), 0.3)
    assert told(column, 550, 780).kind == "stuck"
    column = changed(noise(), slice(600, 660), 0.3)
    assert told(column, 500, 780).kind != "stuck"


def test_a_shift_that_lasts_to_the_end_is_permanent_even_if_its_event_does() -> None:
    stays = changed(noise(), slice(900, None), 8 + noise(1, 300))
    assert told(stays, 900, TEST).kind == "level shift (permanent)"
    back = changed(stays, slice(TEST - 10, None), noise(2, 10))
    assert told(back, 900, TEST).kind == "out of range"


def test_a_gap_is_no_change() -> None:
    missing = np.zeros(TEST, dtype=bool)
    missing[FIRST - 40 : FIRST] = True
    slow = 10 * np.sin(np.arange(TRAIN + TEST) / 331) + 0.1 * noise()
    assert told(slow, FIRST, FIRST + 2, missing=missing).kind != ABRUPT_CHANGE


def test_as_many_rows_as_are_out_by_chance_say_nothing() -> None:
    column = changed(0.8 * noise(), slice(FIRST + 10, FIRST + 11), 3.4)
    assert told(column, FIRST, FIRST + 200).kind != "out of range"


def test_a_spike_within_the_range_is_told_by_its_size() -> None:
    slow = 10 * np.sin(np.arange(TRAIN + TEST) / 331) + 0.1 * noise()
    found = told(changed(slow, slice(FIRST, FIRST + 1), slow[TRAIN + FIRST] - 3), FIRST, FIRST + 1)
    assert (found.kind, found.row) == ("spike", FIRST)
    assert found.size == pytest.approx(-3, abs=0.5)


def test_a_drift_takes_its_time() -> None:
    ramp = np.linspace(0, 12, 300)
    drifts = changed(noise(), slice(600, 900), ramp + noise(1, 300))
    found = told(drifts, 680, 900)
    assert found.kind == "drift"
    assert 860 <= found.row < 900
    assert 630 <= found.onset < 720


def test_a_drift_on_a_cycle_is_quoted_by_its_highest_value() -> None:
    drifts = rhythm()
    drifts[TRAIN + 600 : TRAIN + 900] += np.linspace(0, 60, 300)
    found = told(drifts, 680, 900)
    assert found.kind == "drift"
    assert drifts[TRAIN + found.row] == drifts[TRAIN + found.onset : TRAIN + found.end + 1].max()


def test_a_departure_that_goes_on_beside_its_event_is_quoted_by_its_furthest_row() -> None:
    levels = np.full(40, 12.0)
    levels[25] = 20.0
    found = told(
        changed(noise(), slice(FIRST, FIRST + 40), levels + noise(1, 40)), FIRST, FIRST + 22
    )
    assert (found.kind, found.row) == ("out of range", FIRST + 25)
    assert found.end >= FIRST + 25


def test_a_channel_that_stands_still_is_stuck() -> None:
    found = told(changed(noise(), slice(FIRST, LAST), 0.3))
    assert (found.kind, found.lasted) == ("stuck", LAST - FIRST)


def test_one_that_has_stood_still_before_is_not() -> None:
    steady = np.round(noise() / 10)
    assert told(changed(steady, slice(FIRST, LAST), 0.0)).kind != "stuck"


@pytest.mark.parametrize(("times", "kind"), [(4.0, "higher variance"), (0.2, "lower variance")])
def test_steps_tell_noisier_and_calmer(times: float, kind: str) -> None:
    found = told(changed(noise(), slice(FIRST, LAST), times * noise(1, LAST - FIRST)))
    assert found.kind == kind
    assert found.size == pytest.approx(times, rel=0.3)


def test_a_rhythm_that_slips_is_broken_and_stays_in_its_range() -> None:
    column = rhythm()
    slipped = changed(column, slice(600, 780), column[TRAIN + 630 : TRAIN + 810])
    found = told(slipped, 610, 780)
    assert found.kind == "unusual shape"
    # at this time it is on the other side of its cycle
    assert abs(slipped[TRAIN + found.row] - found.expected) > 10


def test_a_level_that_moves_is_no_broken_rhythm() -> None:
    column = rhythm()
    moved = changed(column, slice(FIRST, LAST), column[TRAIN + FIRST : TRAIN + LAST] + 15)
    assert told(moved).kind == "out of range"


def test_a_follower_that_goes_its_own_way_has_parted() -> None:
    driver = np.convolve(noise(3, TRAIN + TEST + 30), np.ones(31) / 5, "valid")
    follower = 2 * driver + 0.2 * noise(4)
    other_time = follower[TRAIN + 300 : TRAIN + 300 + LAST - FIRST]
    parted = changed(follower, slice(FIRST, LAST), other_time)
    found = told(parted, partner=driver)
    assert found.kind == "decoupled"
    # what the partner predicts, and closer around it than the channel itself would be
    assert found.expected == pytest.approx(2 * driver[TRAIN + found.row], abs=1.0)
    assert found.high - found.low < 2
    assert told(follower, partner=driver).kind != "decoupled"


def test_what_is_missing_is_said_to_be() -> None:
    missing = np.zeros(TEST, dtype=bool)
    missing[FIRST : FIRST + 50] = True
    found = told(changed(noise(), slice(FIRST, FIRST + 50), 0.3), missing=missing)
    assert (found.kind, found.lasted) == ("missing", 50)
    missing[FIRST : FIRST + 50] = False
    missing[FIRST : FIRST + 20] = True
    assert told(noise(), missing=missing).kind != "missing"


def test_what_stands_out_in_no_such_way_is_unusual() -> None:
    assert told(noise()).kind == UNUSUAL


def test_a_channel_that_never_moved_goes_out_of_range() -> None:
    flat = np.full(TRAIN + TEST, 4.0)
    found = told(changed(flat, slice(FIRST, LAST), 5.0))
    assert (found.kind, found.expected, found.low, found.high) == ("out of range", 4, 4, 4)
    assert told(changed(flat, slice(FIRST, FIRST + 1), 5.0), FIRST, FIRST + 1).kind == "spike"


@pytest.mark.parametrize("first", [0, 1, TEST - 1])
def test_events_at_the_ends_are_looked_at_as_well(first: int) -> None:
    found = told(changed(noise(), slice(first, first + 1), 30.0), first, first + 1)
    assert found.row == first
    assert found.kind == "spike"


def test_how_long_is_too_long_to_stand_still() -> None:
    column = noise()
    never = learn_profiles(TrainSeries(column[:, None])).of(0)
    assert never.max_run == 1
    assert min_stuck_rows(never, column) == MIN_STUCK_ROWS
    at_times: ChannelProfile = never._replace(max_run=MAX_NORMAL_RUN + 1)
    assert min_stuck_rows(at_times, column) == np.inf
    assert min_stuck_rows(never._replace(max_run=MAX_NORMAL_RUN), column) == MIN_STUCK_ROWS


def test_a_file_of_fewer_decimals_stands_still_for_longer() -> None:
    column = noise()
    profile = learn_profiles(TrainSeries(column[:, None])).of(0)
    for decimals, unit in ((2, 0.01), (0, 1.0), (-1, 10.0)):
        rows = min_stuck_rows(profile, np.round(column, decimals))
        # nothing is known of tens
        unit = min(unit, 1.0)
        assert rows == pytest.approx(MIN_STUCK_ROWS * max(unit / profile.median_step, 1) ** 2)


def test_rows_of_a_later_segment() -> None:
    found = told(noise())
    later = found.later(100)
    assert later == replace(
        found,
        row=found.row + 100,
        turns=tuple(row + 100 for row in found.turns),
        onset=found.onset + 100,
        end=found.end + 100,
    )


def test_a_departure_begins_and_ends_with_rows_that_are_out_by_hand() -> None:
    column = changed(noise(), slice(FIRST + 10, LAST - 15), 9.0)
    # a single row beside it is chance
    column[TRAIN + FIRST - 10] = column[TRAIN + LAST + 10] = 9.0
    found = told(column)
    assert (found.onset, found.end, found.is_visible) == (FIRST + 10, LAST - 16, True)
    # unless there is no other; no value of uniform noise is out
    uniform = np.random.default_rng(0).uniform(size=TRAIN + TEST)
    single = told(changed(uniform, slice(FIRST + 7, FIRST + 8), 30.0))
    assert (single.onset, single.end, single.is_visible) == (FIRST + 7, FIRST + 7, True)
    none = told(uniform)
    assert (none.onset, none.end, none.is_visible) == (FIRST, LAST - 1, False)


@pytest.mark.parametrize("kind", ["spike", "out of range", "drift", "unusual shape"])
def test_the_unit_of_a_channel_does_not_matter(kind: str) -> None:
    case = departure_case(kind, np.random.default_rng([3, 1]))
    train, test = case.train[:, case.channel], case.test[:, case.channel]
    found = []
    # a power of two is exact
    for scale in (1.0, 2.0**-9):
        profile = learn_profiles(TrainSeries(scale * train[:, None])).of(0)
        profile = profile._replace(decimals=-1, floor=-1e300, ceiling=1e300)
        left_out = np.zeros(len(test), dtype=bool)
        left_out[case.start - 30 : case.stop + 30] = True
        event = ChannelEvent(scale * test, left_out, profile, case.start, case.stop)
        found.append(depart(event))
    one, other = found
    assert (one.kind, one.turns, one.onset, one.end) == (
        other.kind,
        other.turns,
        other.onset,
        other.end,
    )
    assert other.high == pytest.approx(one.high * 2.0**-9)
