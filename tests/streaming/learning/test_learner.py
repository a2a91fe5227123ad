"""What one series usually does, learned from its rows."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.learner import BLOCK, FIRST, SURE, Judged, Learner


def judged(learner: Learner, rows: np.ndarray, together: int = BLOCK) -> Judged:
    """What is said of rows, all of which are calm."""
    found, done = [], 0
    while done < len(rows):
        part = rows[done : done + min(learner.room, together)]
        found.append(learner.judge(part))
        learner.learn(np.ones(len(part), dtype=bool))
        done += len(part)
    return Judged(*(np.concatenate(column) for column in zip(*found, strict=True)))


def noise(count: int, channels: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, channels))


def day(count: int, seed: int = 0) -> np.ndarray:
    """A day of 96 rows in two channels."""
    turn = 2 * np.pi * np.arange(count)[:, None] / 96
    return 10 + 3 * np.sin(turn + np.arange(2)) + 0.3 * noise(count, 2, seed)


def test_nothing_is_said_of_the_first_rows() -> None:
    found = judged(Learner(2), noise(FIRST))
    assert (found.severity == 0).all()
    assert (found.expected == noise(FIRST)).all()
    assert found.sure.tolist() == [(row + 1) / SURE for row in range(FIRST)]


def test_it_is_of_use_after_a_hundred_rows_and_sure_after_two_hundred() -> None:
    rows = noise(SURE)
    rows[100] += 25
    found = judged(Learner(2), rows)
    assert found.severity[100] > 1
    assert found.severity[100] == found.severity.max()
    assert found.sure[[100, -1]] == pytest.approx([101 / SURE, 1])


@pytest.mark.parametrize("value", [12.0, -12.0])
def test_a_spike_is_news_in_its_channel_once(value: float) -> None:
    rows = noise(1_000)
    rows[900:903, 1] += value
    found = judged(Learner(2), rows)
    assert found.severity[500:900].max() < 1 < found.severity[900]
    assert np.count_nonzero(found.severity >= 1) <= 3
    assert found.by_channel[900].argmax() == 1
    # it lasts, and is no news
    assert found.lasting[910] > 1 > 0.1 > found.severity[910]


def test_what_is_usual_at_its_time_is_no_news_and_what_is_missing_then_is() -> None:
    rows = day(3_000)
    rows[96 * 20 + 10 : 96 * 20 + 40] = 10
    found = judged(Learner(2), rows)
    assert found.severity[1_000 : 96 * 20].max() < 1
    assert found.severity[96 * 20 : 96 * 20 + 45].max() > 1


def test_the_band_holds_what_is_usual_in_the_data_s_own_units() -> None:
    rows = 1e6 + 1e3 * day(2_000)
    found = judged(Learner(2), rows)
    inside = (rows >= found.low) & (rows <= found.high)
    assert inside[500:].mean() > 0.97
    assert (found.high - found.low)[500:].max() < 1e3 * 6
    np.testing.assert_allclose(found.expected, (found.low + found.high) / 2)


@pytest.mark.parametrize("together", [1, 3, 7, BLOCK])
def test_answers_do_not_depend_on_how_rows_come(together: int) -> None:
    rows = day(700)
    rows[500] += 9
    whole, parts = judged(Learner(2), rows), judged(Learner(2), rows, together)
    for name, one, other in zip(Judged._fields, whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("stop", [1, BLOCK, FIRST - 1, FIRST, 100, 20 * BLOCK, 333, 1_000])
def test_a_restored_learner_goes_on_as_if_nothing_had_been(stop: int) -> None:
    rows, scores = day(1_200), np.abs(noise(1_200, 1))[:, 0]
    learner = Learner(2)
    learner.watch(rows[:stop], scores[:stop])
    other = Learner.restore({name: array.copy() for name, array in learner.state().items()})
    assert other.room == learner.room
    for one in (learner, other):
        one.watch(rows[stop:], scores[stop:])
    assert (other.judge(rows[:1]).severity == learner.judge(rows[:1]).severity).all()
    state = learner.state()
    for name, array in other.state().items():
        np.testing.assert_array_equal(array, state[name], err_msg=name)


def test_a_block_is_learned_from_before_the_next_row_or_when_there_is_time() -> None:
    late, soon = Learner(2), Learner(2)
    rows = day(25 * BLOCK)
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        # rows are missing, and an alarm is accepted, just after a block
        for learner in (late, soon):
            if start == 12 * BLOCK:
                learner.gap(3)
            if start == 18 * BLOCK:
                learner.accept(20, 1)
        for one, other in zip(late.judge(part), soon.judge(part), strict=True):
            np.testing.assert_array_equal(one, other)
        for learner in (late, soon):
            learner.learn(np.arange(BLOCK) != start // BLOCK)
            assert learner.is_behind
        before = soon.levels.rows
        soon.catch_up()
        assert not soon.is_behind
        assert (soon.levels.rows != before) == (start + BLOCK >= FIRST)
        soon.catch_up()
    late.judge(rows[:1])
    soon.judge(rows[:1])
    found, expected = late.state(), soon.state()
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


def test_state_does_not_grow() -> None:
    learner = Learner(1)
    sizes = []
    for _ in range(3):
        learner.watch(noise(5_000, 1))
        sizes.append(sum(array.nbytes for array in learner.state().values()))
    assert max(sizes) < 1.05 * min(sizes)


def test_rows_of_an_alarm_are_not_learned_from() -> None:
    calm, alarmed = Learner(1), Learner(1)
    for learner in (calm, alarmed):
        learner.watch(noise(960, 1))
        learner.catch_up()
    before = alarmed.expectation.products.copy()
    level = alarmed.levels.level.copy()
    for start in range(0, 160, BLOCK):
        rows = noise(BLOCK, 1, start) + 50
        alarmed.judge(rows)
        alarmed.learn(np.zeros(BLOCK, dtype=bool))
        calm.judge(rows)
        calm.learn(np.ones(BLOCK, dtype=bool))
    calm.catch_up()
    alarmed.catch_up()
    assert (alarmed.expectation.products == before).all()
    assert (alarmed.levels.level == level).all()
    assert calm.levels.level > level


def test_rows_that_are_accepted_are_normal_from_then_on() -> None:
    learner, other = Learner(1), Learner(1)
    away = noise(160, 1, 5) + 50
    for one in (learner, other):
        one.watch(noise(960, 1))
        for start in range(0, 160, BLOCK):
            one.judge(away[start : start + BLOCK])
            one.learn(np.zeros(BLOCK, dtype=bool))
    learner.accept(160, 1)
    again = noise(64, 1, 6) + 50
    accepted, refused = judged(learner, again), judged(other, again)
    assert accepted.by_channel[:BLOCK].mean() < 0.7 * refused.by_channel[:BLOCK].mean()
    assert accepted.lasting.max() < 1 < refused.lasting[:BLOCK].min()
    assert (learner.kept.calm(BLOCK)).all()


def test_what_was_never_there_cannot_be_accepted() -> None:
    learner = Learner(1)
    learner.accept(3, 1)
    learner.watch(noise(200, 1))
    before = learner.levels.level.copy()
    learner.accept(2, 5)
    assert learner.levels.level == before


def test_a_change_for_good_is_followed() -> None:
    rows = noise(6_000, 1)
    rows[1_000:] += 30
    learner = Learner(1)
    found = judged(learner, rows)
    assert found.severity[1_000] > 2
    assert found.severity[2_000:].max() < 1.5
    assert learner.levels.level * learner._unit + learner._center > 15


def test_what_a_break_makes_odd_is_no_news_after_it() -> None:
    waves = np.sin(np.arange(1_500)[:, None] / np.array([5.0, 9.0]))
    after = waves[:400] + 0.1 * noise(400, seed=1)
    told = []
    for broken in (False, True):
        learner = Learner(2)
        judged(learner, waves + 0.1 * noise(1_500))
        if broken:
            learner.gap(0)
        told.append(judged(learner, after).severity[:100].max())
    # the waves begin anew: without a break that is an event
    assert told[0] > 1 > told[1]


def test_a_gap_keeps_the_time_of_the_cycle_and_hushes_the_rows_after() -> None:
    rows = day(3_500)
    with_gap, without = Learner(2), Learner(2)
    for learner in (with_gap, without):
        learner.watch(rows[:2_400])
    with_gap.gap(40)
    found = judged(with_gap, rows[2_440:2_640])
    assert (found.severity[:BLOCK] == 0).all()
    # half a day out of step, all is wrong
    out_of_step = judged(without, rows[2_440:2_640])
    assert out_of_step.by_channel[40:].mean() > 1.2 * found.by_channel[40:].mean()


def test_a_model_s_scores_are_a_view_of_their_own() -> None:
    rows, scores = noise(1_000, 1), np.abs(noise(1_000, 1, 3))[:, 0]
    learner = Learner(1)
    learner.watch(rows[:990], scores[:990])
    at = slice(990, 991)
    high = Learner.restore({name: array.copy() for name, array in learner.state().items()})
    usual, unusual = learner.judge(rows[at], scores[at]), high.judge(rows[at], np.array([40.0]))
    assert unusual.severity[0] > usual.severity[0] + 0.5
    assert (unusual.by_channel == usual.by_channel).all()


@pytest.mark.parametrize("start", [0.0, 5.0, -3e9])
def test_a_channel_that_stood_still_is_news_when_it_moves(start: float) -> None:
    rows = np.full((600, 1), start)
    rows[500:] += np.where(start == 0, 1e9, 0.2 * abs(start) + 1)
    found = judged(Learner(1), rows)
    assert found.severity[:500].max() < 0.25
    assert found.severity[500] > 2
    assert np.isfinite(found.severity).all()


def test_noise_alarms_about_as_rarely_as_was_asked_for() -> None:
    counts = [
        int((judged(Learner(2, returns=500), noise(3_000, 2, seed)).severity[500:] >= 1).sum())
        for seed in range(6)
    ]
    # 6 x 2,500 rows, one in 500: 30 are accepted
    assert 10 <= sum(counts) <= 60


def test_it_does_not_learn_from_what_it_said() -> None:
    learner = Learner(2)
    learner.watch(day(1_600))
    assert learner.seasons.periods.tolist() == [96, 96]
    # however wrong what is expected, seasons and levels follow the rows
    learner.expectation.weights[:] = 1e6
    learner.watch(day(1_600 + BLOCK)[1_600:])
    assert np.abs(learner.seasons.usual).max() < 10
    assert np.abs(learner.levels.level).max() < 10


def test_a_slow_fall_is_told_once_it_is_out_of_the_ordinary() -> None:
    rows = noise(1_500, 1)
    # by a fifth of a deviation a row: none is far from the one before
    rows[1_200:1_300] -= np.linspace(0, 20, 100)[:, None]
    severity = judged(Learner(1), rows).severity
    assert severity[400:1_200].max() < 1 < severity[1_200:1_250].max()


def test_a_channel_that_calms_down_is_news() -> None:
    rows = noise(1_500, 1)
    rows[1_200:1_300] *= 0.03
    severity = judged(Learner(1), rows).severity
    assert severity[400:1_200].max() < 1 < severity[1_200:1_300].max()
    assert np.count_nonzero(severity[1_200:1_300] >= 1) <= 3
