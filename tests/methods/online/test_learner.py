"""Rows of one series, assessed by what was learned from those before."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from subadjacent.methods.online.expected_range import ExpectedRange
from subadjacent.methods.online.history import MINI_BATCH
from subadjacent.methods.online.learner import WARM_UP, Learner, RowAssessment
from subadjacent.methods.online.views import BURN_IN


def assessed(learner: Learner, rows: np.ndarray, together: int = MINI_BATCH) -> RowAssessment:
    """Judge rows, all of which are normal."""
    return assessed_and_reported(learner, rows, together)[0]


def assessed_and_reported(
    learner: Learner, rows: np.ndarray, together: int = MINI_BATCH, event: slice = slice(0)
) -> tuple[RowAssessment, ExpectedRange]:
    """Judge rows, all of which are normal but those of an event."""
    normal = np.ones(len(rows), dtype=bool)
    normal[event] = False
    found, told, done = [], [], 0
    while done < len(rows):
        part = slice(done, done + min(learner.room, together))
        found.append(learner.assess(rows[part]))
        told.append(learner.mark_normal(normal[part]))
        done += len(rows[part])
    return (
        RowAssessment(*(np.concatenate(column) for column in zip(*found, strict=True))),
        ExpectedRange(*(np.concatenate(column) for column in zip(*told, strict=True))),
    )


def noise(count: int, channels: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, channels))


def day(count: int, seed: int = 0) -> np.ndarray:
    """A day of 96 rows in two channels."""
    turn = 2 * np.pi * np.arange(count)[:, None] / 96
    return 10 + 3 * np.sin(turn + np.arange(2)) + 0.3 * noise(count, 2, seed)


def test_rows_of_the_burn_in_have_no_severity() -> None:
    found, usual = assessed_and_reported(Learner(2), noise(BURN_IN))
    assert (found.severity == 0).all()
    assert (usual.expected == noise(BURN_IN)).all()
    assert found.warm_up.tolist() == [(row + 1) / WARM_UP for row in range(BURN_IN)]


def test_it_is_of_use_after_a_hundred_rows_and_sure_after_two_hundred() -> None:
    rows = noise(WARM_UP)
    rows[100] += 25
    found = assessed(Learner(2), rows)
    assert found.severity[100] > 1
    assert found.severity[100] == found.severity.max()
    assert found.warm_up[[100, -1]] == pytest.approx([101 / WARM_UP, 1])


@pytest.mark.parametrize("value", [12.0, -12.0])
def test_a_spike_is_reported_in_its_channel_once(value: float) -> None:
    rows = noise(1_000)
    rows[900:903, 1] += value
    found = assessed(Learner(2), rows)
    assert found.severity[500:900].max() < 1 < found.severity[900]
    assert np.count_nonzero(found.severity >= 1) <= 3
    assert found.by_channel[900].argmax() == 1
    # it is ongoing, and not reported again
    assert found.ongoing[910] > 1 > 0.1 > found.severity[910]


def test_a_cycle_is_not_reported_and_one_that_does_not_come_is() -> None:
    rows = day(3_000)
    rows[96 * 20 + 10 : 96 * 20 + 40] = 10
    found = assessed(Learner(2), rows)
    assert found.severity[1_000 : 96 * 20].max() < 1
    assert found.severity[96 * 20 : 96 * 20 + 45].max() > 1


def test_most_values_are_between_low_and_high_in_the_data_s_own_units() -> None:
    rows = 1e6 + 1e3 * day(2_000)
    _, usual = assessed_and_reported(Learner(2), rows)
    inside = (rows >= usual.low) & (rows <= usual.high)
    assert inside[500:].mean() > 0.97
    assert (usual.high - usual.low)[500:].max() < 1e3 * 6
    np.testing.assert_allclose(usual.expected, (usual.low + usual.high) / 2)


def test_what_is_told_is_what_would_have_been_without_an_event() -> None:
    rows, event = day(2_200), slice(2_000, 2_040)
    broken = rows.copy()
    broken[event, 0] += 12
    found, usual = assessed_and_reported(Learner(2), broken, event=event)
    normal, plain = assessed_and_reported(Learner(2), rows)
    assert found.severity[event].max() > 1 > normal.severity[event].max()
    half_range = (plain.high - plain.low)[2_000:2_104] / 2
    apart = np.abs(usual.expected - plain.expected)[2_000:2_104]
    assert (apart < half_range).all()
    # in rows of the event, and in the next rows, which see those of the event
    assert (broken[event, 0] > usual.high[event, 0]).all()
    after = slice(2_040, 2_104)
    assert ((rows >= usual.low) & (rows <= usual.high))[after].mean() > 0.97


def test_what_is_told_changes_nothing_of_what_is_judged() -> None:
    rows, event = day(1_200), slice(1_000, 1_030)
    rows[event, 0] += 12
    told, plain = Learner(2), Learner(2)
    plain.views.without_event.expected = lambda *given: given[1]  # type: ignore[method-assign]
    one, usual = assessed_and_reported(told, rows, event=event)
    other, untold = assessed_and_reported(plain, rows, event=event)
    assert not np.array_equal(usual.expected, untold.expected)
    for name, found, wanted in zip(RowAssessment._fields, one, other, strict=True):
        np.testing.assert_array_equal(found, wanted, err_msg=name)


@pytest.mark.parametrize("together", [1, 7])
def test_answers_do_not_depend_on_how_rows_come(together: int) -> None:
    rows, event = day(700), slice(500, 520)
    rows[event, 0] += 9
    whole = assessed_and_reported(Learner(2), rows, event=event)
    parts = assessed_and_reported(Learner(2), rows, together, event)
    for all_of_whole, all_of_parts in zip(whole, parts, strict=True):
        for name, array in all_of_whole._asdict().items():
            other = getattr(all_of_parts, name)
            np.testing.assert_allclose(array, other, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("stop", [1, BURN_IN - 1, BURN_IN, 20 * MINI_BATCH, 333])
def test_a_restored_learner_goes_on_as_if_nothing_had_been(stop: int) -> None:
    rows = day(600)
    learner = Learner(2)
    learner.learn_training_rows(rows[:stop])
    other = Learner.restore({name: array.copy() for name, array in learner.state().items()})
    assert other.room == learner.room
    for one in (learner, other):
        one.learn_training_rows(rows[stop:])
    assert (other.assess(rows[:1]).severity == learner.assess(rows[:1]).severity).all()
    state = learner.state()
    for name, array in other.state().items():
        np.testing.assert_array_equal(array, state[name], err_msg=name)


def test_a_mini_batch_is_learned_from_before_the_next_row_or_when_there_is_time() -> None:
    late, soon = Learner(2), Learner(2)
    rows = day(25 * MINI_BATCH)
    for start in range(0, len(rows), MINI_BATCH):
        part = rows[start : start + MINI_BATCH]
        # rows are missing, and an alarm is accepted, just after a mini-batch
        for learner in (late, soon):
            if start == 12 * MINI_BATCH:
                learner.gap(3)
            if start == 18 * MINI_BATCH:
                learner.accept(20, 1)
        for one, other in zip(late.assess(part), soon.assess(part), strict=True):
            np.testing.assert_array_equal(one, other)
        for learner in (late, soon):
            learner.mark_normal(np.arange(MINI_BATCH) != start // MINI_BATCH)
            assert learner.is_behind
        before = soon.views.moments.rows
        soon.learn()
        assert not soon.is_behind
        assert (soon.views.moments.rows != before) == (start + MINI_BATCH >= BURN_IN)
        soon.learn()
    late.assess(rows[:1])
    soon.assess(rows[:1])
    found, expected = late.state(), soon.state()
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_rows_of_an_alarm_are_not_learned_from() -> None:
    normal, alarmed = Learner(1), Learner(1)
    for learner in (normal, alarmed):
        learner.learn_training_rows(noise(960, 1))
        learner.learn()
    before = alarmed.views.expectation.gram.copy()
    mean = alarmed.views.moments.mean.copy()
    for start in range(0, 160, MINI_BATCH):
        rows = noise(MINI_BATCH, 1, start) + 50
        alarmed.assess(rows)
        alarmed.mark_normal(np.zeros(MINI_BATCH, dtype=bool))
        normal.assess(rows)
        normal.mark_normal(np.ones(MINI_BATCH, dtype=bool))
    normal.learn()
    alarmed.learn()
    assert (alarmed.views.expectation.gram == before).all()
    assert (alarmed.views.moments.mean == mean).all()
    assert normal.views.moments.mean > mean


def test_rows_that_are_accepted_are_normal_from_then_on() -> None:
    learner, other = Learner(1), Learner(1)
    away = noise(160, 1, 5) + 50
    for one in (learner, other):
        one.learn_training_rows(noise(960, 1))
        for start in range(0, 160, MINI_BATCH):
            one.assess(away[start : start + MINI_BATCH])
            one.mark_normal(np.zeros(MINI_BATCH, dtype=bool))
    learner.accept(160, 1)
    again = noise(64, 1, 6) + 50
    accepted, refused = assessed(learner, again), assessed(other, again)
    assert accepted.by_channel[:MINI_BATCH].mean() < 0.7 * refused.by_channel[:MINI_BATCH].mean()
    assert accepted.ongoing.max() < 1 < refused.ongoing[:MINI_BATCH].min()
    assert (learner.views.history.normal(MINI_BATCH)).all()


def test_what_was_never_there_cannot_be_accepted() -> None:
    learner = Learner(1)
    learner.accept(3, 1)
    learner.learn_training_rows(noise(200, 1))
    before = learner.views.moments.mean.copy()
    learner.accept(2, 5)
    assert learner.views.moments.mean == before


def test_a_change_for_good_is_followed() -> None:
    rows = noise(6_000, 1)
    rows[1_000:] += 30
    learner = Learner(1)
    found = assessed(learner, rows)
    assert found.severity[1_000] > 2
    assert found.severity[2_000:].max() < 1.5
    assert learner.views.standardiser.original_units(learner.views.moments.mean) > 15


def test_a_departure_that_a_gap_causes_is_not_reported_after_it() -> None:
    waves = np.sin(np.arange(1_500)[:, None] / np.array([5.0, 9.0]))
    after = waves[:400] + 0.1 * noise(400, seed=1)
    severities = []
    for has_gap in (False, True):
        learner = Learner(2)
        assessed(learner, waves + 0.1 * noise(1_500))
        if has_gap:
            learner.gap(0)
        severities.append(assessed(learner, after).severity[:100].max())
    # the waves begin anew: without a gap that is an event
    assert severities[0] > 1 > severities[1]


def test_a_gap_keeps_the_phase_of_the_cycle_and_mutes_the_rows_after() -> None:
    rows = day(3_500)
    with_gap, without = Learner(2), Learner(2)
    for learner in (with_gap, without):
        learner.learn_training_rows(rows[:2_400])
    with_gap.gap(40)
    found = assessed(with_gap, rows[2_440:2_640])
    assert (found.severity[:MINI_BATCH] == 0).all()
    # half a day out of step, all is wrong
    out_of_step = assessed(without, rows[2_440:2_640])
    assert out_of_step.by_channel[40:].mean() > 1.2 * found.by_channel[40:].mean()


@pytest.mark.parametrize("start", [0.0, 5.0, -3e9])
def test_the_first_move_of_a_channel_is_reported(start: float) -> None:
    rows = np.full((600, 1), start)
    rows[500:] += np.where(start == 0, 1e9, 0.2 * abs(start) + 1)
    found = assessed(Learner(1), rows)
    assert found.severity[:500].max() < 0.25
    # as rare as its 501 rows in each of four views, of which the half counts; and a little rarer,
    # for nothing was reported in them
    surprise = 4 * np.log(501) / 2
    expected = np.log(770) + (surprise - 5) / 2.2
    assert found.severity[500] == pytest.approx(expected / np.log(5_000), abs=0.02)
    assert found.severity[500] > 1
    assert np.isfinite(found.severity).all()


def test_the_first_move_of_a_flag_says_less_than_a_value_that_is_far_out() -> None:
    rows = noise(1_600, 40)
    rows[:, 20:] = 0
    rows[1_500:, 30] = 1
    flag = assessed(Learner(40), rows).severity[1_500]
    rows[1_500, 3] += 30
    far_out = assessed(Learner(40), rows).severity[1_500]
    rows[1_500, 3:8] += 30
    several = assessed(Learner(40), rows).severity[1_500]
    assert flag < 1.2
    assert 1.5 * flag < far_out < several


def test_several_channels_say_more_than_one() -> None:
    rows = noise(1_200, 16)
    learner = Learner(16)
    learner.learn_training_rows(rows[:1_190])
    one = Learner.restore({name: array.copy() for name, array in learner.state().items()})
    row = rows[1_190:1_191].copy()
    row[0, 0] += 10
    alone = one.assess(row)
    all_of_them = learner.assess(rows[1_190:1_191] + 10)
    assert (all_of_them.by_channel > alone.by_channel).sum() == 15
    assert all_of_them.severity[0] > 1.3 * alone.severity[0]


@pytest.mark.parametrize("seeds", [1, pytest.param(6, marks=pytest.mark.sweep)])
def test_noise_alarms_about_as_rarely_as_was_requested(seeds: int) -> None:
    count = 0
    for seed in range(seeds):
        severity = assessed(Learner(2, return_period=500), noise(3_000, 2, seed)).severity
        count += np.count_nonzero(severity[500:] >= 1)
    # 2,500 rows each, one in 500: 5 are accepted
    assert 5 * seeds / 3 <= count <= 10 * seeds


def test_a_wrong_expectation_does_not_confirm_itself() -> None:
    learner = Learner(2)
    learner.learn_training_rows(day(1_600))
    assert learner.views.seasons.periods.tolist() == [96, 96]
    # profiles and means are learned from the rows alone
    learner.views.expectation.weights[:] = 1e6
    learner.learn_training_rows(day(1_600 + MINI_BATCH)[1_600:])
    assert np.abs(learner.views.seasons.profile).max() < 10
    assert np.abs(learner.views.moments.mean).max() < 10


def test_a_slow_fall_is_reported_once_it_is_out_of_the_ordinary() -> None:
    rows = noise(1_500, 1)
    # by a fifth of a deviation a row: none is far from the one before
    rows[1_200:1_300] -= np.linspace(0, 20, 100)[:, None]
    severity = assessed(Learner(1), rows).severity
    assert severity[400:1_200].max() < 1 < severity[1_200:1_250].max()


def test_a_channel_that_calms_down_is_reported() -> None:
    rows = noise(1_500, 1)
    rows[1_200:1_300] *= 0.03
    severity = assessed(Learner(1), rows).severity
    assert severity[400:1_200].max() < 1 < severity[1_200:1_300].max()
    assert np.count_nonzero(severity[1_200:1_300] >= 1) <= 3


@pytest.mark.parametrize(("first", "channels"), [(1_700, slice(0, 1)), (1_748, slice(None))])
def test_a_short_gap_in_a_cycle_is_no_news(first: int, channels: slice) -> None:
    rows = day(2_000)
    missing = np.zeros(rows.shape, dtype=bool)
    missing[first : first + 9, channels] = True
    # as a stream fills it: the last value is carried on
    carried = np.where(missing, rows[first - 1], rows)
    learner = Learner(2)
    learner.learn_training_rows(rows[:first])
    severity = []
    for number in range(first, first + 60):
        here = slice(number, number + 1)
        severity.append(learner.assess(carried[here], missing[here]).severity[0])
        learner.mark_normal(np.ones(1, dtype=bool))
    assert max(severity) < 1


def test_a_relation_that_breaks_is_severe_though_no_channel_does_anything_new() -> None:
    # four gauges of the same load, of which one follows another load for a while
    load, other = lfilter([0.44], [1, -0.9], noise(2_000, 2, seed=3), axis=0).T
    rows = load[:, None] * [1, -2, 3, -4] + 0.1 * noise(2_000, 4, seed=103)
    broken = rows.copy()
    event = slice(1_500, 1_560)
    broken[event, 1] = -2 * other[event]
    assert assessed(Learner(4), rows).severity[1_000:].max() < 1
    found = assessed(Learner(4), broken)
    assert found.severity[event].max() > 1
    assert found.by_channel[event].sum(axis=0).argmax() == 1
    # by itself the channel is as it always was
    assert assessed(Learner(1), broken[:, 1:2]).severity[event].max() < 1
