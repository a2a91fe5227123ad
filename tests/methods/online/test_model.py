"""The online model: parts equal the whole, it starts from nothing, and it can be saved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Evidence
from subadjacent.errors import InputError
from subadjacent.methods.method import Fitted, State
from subadjacent.methods.online.lasting import LastingViews
from subadjacent.methods.online.learner import SUPPRESSED_AFTER_GAP, SUPPRESSED_AT_START, WARM_UP
from subadjacent.methods.online.method import (
    MIN_UNIT,
    LastRows,
    OnlineMethod,
    _EntityFit,
    _with_lasting,
    last_rows,
)
from subadjacent.methods.online.model import FIRST_UNIT, OnlineModel
from subadjacent.methods.online.stream import OnlineStream, Watcher
from subadjacent.methods.online.views import view_names
from subadjacent.methods.stream import joined
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.runtime import Runtime

METHOD = OnlineMethod(ViewSettings(views=("level", "state")))
LEARNER_ALONE = OnlineMethod(lasting=None)


def rows_of(count: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    time = np.arange(count)[:, None]
    waves = np.sin(time / 8 + np.arange(channels))
    return 10 + waves + 0.1 * rng.standard_normal((count, channels))


def fit(method: OnlineMethod, *values: np.ndarray) -> Fitted:
    names = [None] if len(values) == 1 else [f"machine {n}" for n in range(len(values))]
    series = [TrainSeries(rows, entity=name) for rows, name in zip(values, names, strict=True)]
    return method.fit(series, Runtime())


@cache
def fitted(channels: int = 3) -> Fitted:
    return fit(METHOD, rows_of(900, channels))


def model(channels: int = 3) -> OnlineModel:
    found = fitted(channels).models.pooled
    assert isinstance(found, OnlineModel)
    return found


def lasting_of(online: OnlineModel) -> LastingViews:
    assert online.lasting is not None
    return online.lasting


def assert_same(found: Evidence, wanted: Evidence) -> None:
    for name in ("score", "by_channel", "expected", "low", "high"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(wanted, name), rtol=1e-9, atol=1e-9
        )
    assert list(found.traces) == list(wanted.traces)
    for name, trace in wanted.traces.items():
        np.testing.assert_allclose(found.traces[name], trace, rtol=1e-9, atol=1e-9)


def test_a_jump_is_new_when_it_happens_and_lasts_while_it_lasts() -> None:
    rows = rows_of(200, seed=1)
    rows[100:, 1] += 5
    evidence = model().assess(rows)
    new = sum(evidence.traces[name] for name in ("near residual", "short window"))
    assert isinstance(new, np.ndarray)
    assert new[100] > 5 * new[50:100].max()
    assert evidence.traces["level"][180:].min() > 3 * evidence.traces["level"][:100].max()
    assert evidence.score[100:].min() > evidence.score[50:100].max()
    assert (evidence.by_channel[100:, 1] > evidence.by_channel[100:, [0, 2]].max(axis=1)).all()
    # what it would be without the jump
    assert evidence.high is not None
    assert evidence.expected is not None
    assert evidence.high[150, 1] < 13 < rows[150, 1]
    np.testing.assert_allclose(evidence.expected[:100], rows[:100], atol=1.0)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [1, 7, 64])
def test_parts_equal_the_whole(channels: int, size: int) -> None:
    rows = rows_of(150, channels, seed=2)
    rows[70:80] += 4
    whole = model(channels).assess(rows)
    assert len(whole.score) == len(rows)
    stream = model(channels).stream()
    pieces = [stream.push(rows[first : first + size]) for first in range(0, len(rows), size)]
    assert_same(joined(pieces), whole)
    assert len(stream.waiting().score) == len(stream.push(rows[:0]).score) == 0
    # the model itself has not changed, and a new segment begins as the first did
    stream.finish()
    assert_same(stream.push(rows), whole)


def test_a_stream_goes_on_from_its_state() -> None:
    rows = rows_of(150, seed=2)
    rows[60:80] += 4
    whole = model().assess(rows)
    stream = model().stream()
    pieces = []
    for first, last in ((0, 37), (37, 75), (75, 150)):
        pieces.append(stream.push(rows[first:last]))
        state = stream.state()
        stream = model().stream(State({k: v.copy() for k, v in state.arrays.items()}, state.facts))
    assert_same(joined(pieces), whole)


def test_traces_add_up_to_the_score() -> None:
    rows = rows_of(150, seed=2)
    rows[70] += 4
    evidence = model().assess(rows)
    assert evidence.views == tuple(evidence.traces)
    total = np.sum([evidence.traces[name] for name in evidence.views], axis=0)
    np.testing.assert_allclose(total, evidence.score, rtol=1e-6, atol=1e-4)
    # what lasts counts for half in twice the unit
    own = lasting_of(model())
    halved = replace(model(), lasting=own._replace(unit=2 * own.unit))
    lasting = sum(evidence.traces[name] for name in evidence.views if name not in view_names(3))
    np.testing.assert_allclose(
        halved.assess(rows).score, evidence.score - lasting / 2, rtol=1e-6, atol=1e-4
    )


def test_what_becomes_the_new_normal_is_learned_from() -> None:
    watcher = Watcher(model().learner())
    rows = rows_of(600, seed=1)
    rows[100:] += 20
    watcher.watch(rows[:350])
    assert not watcher.learner.views.history.normal(200).any()
    watcher.watch(rows[350:])
    assert watcher.learner.views.history.normal(490).all()


def test_it_starts_from_nothing() -> None:
    rows = rows_of(600)
    rows[500, 2] += 5
    evidence = OnlineModel.from_nothing(3).assess(rows)
    assert not evidence.score[:64].any()
    assert evidence.score[64:].any()
    assert evidence.score[500] == evidence.score.max()
    assert "level" not in evidence.traces
    restored = OnlineMethod(lasting=None).restore(OnlineModel.from_nothing(3).state(), 3)
    assert_same(restored.assess(rows), evidence)


def test_a_restored_model_is_the_same() -> None:
    rows = rows_of(100, seed=5)
    restored = METHOD.restore(model().state(), 3)
    np.testing.assert_array_equal(restored.assess(rows).score, model().assess(rows).score)
    assert restored.reach == model().reach
    assert restored.reach.after == 0
    # in half the memory, which changes nothing once it is fitted
    assert model().learned is not None
    assert model().state().arrays["learner/views/history/rows"].dtype == np.float32


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"typical_values": np.zeros(2)}, r"typical_values must have shape \(3,\)"),
        ({"unit": 0.0}, "unit must be"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], said: str) -> None:
    arrays, facts = model().state()
    state = State(
        arrays | {k: v for k, v in change.items() if isinstance(v, np.ndarray)},
        facts | {k: v for k, v in change.items() if isinstance(v, float)},
    )
    with pytest.raises(InputError, match=said):
        METHOD.restore(state, 3)


def test_a_model_of_another_number_of_channels_is_refused() -> None:
    arrays, facts = OnlineModel.from_nothing(3).state()
    learned = {k: v for k, v in model(1).state().arrays.items() if k.startswith("learner/")}
    with pytest.raises(InputError, match=r"views/last_sub_adjacent must have shape \(19, 3\)"):
        LEARNER_ALONE.restore(State(arrays | learned, facts), 3)


# ---- the method


def test_scores_of_training_rows_are_as_they_were_watched() -> None:
    values = rows_of(900)
    values[600, 0] += 30
    found = fit(LEARNER_ALONE, values)
    (scores,), (held_out,) = found.scores, found.held_out
    fresh = OnlineModel.from_nothing(3).assess(values)
    learned = found.models.pooled
    assert isinstance(learned, OnlineModel)
    np.testing.assert_allclose(
        scores * learned.unit, fresh.score * FIRST_UNIT, rtol=1e-9, atol=1e-9
    )
    # neither the warm-up nor the spike and its neighbours are held out
    assert len(held_out) < len(values) - WARM_UP
    assert scores[600] == scores.max() > held_out.max()
    assert np.quantile(held_out, 0.99) == pytest.approx(1, rel=0.2)


def test_each_part_of_the_score_has_the_unit_of_normal_rows() -> None:
    alone, both = fit(LEARNER_ALONE, rows_of(900)), fitted()
    assert isinstance(alone.models.pooled, OnlineModel)
    assert model().unit == pytest.approx(alone.models.pooled.unit)
    lasting = both.scores[0] - alone.scores[0]
    # one row in a hundred, and fewer than forty rows
    assert (lasting[WARM_UP:] > 1).mean() < 0.04
    assert lasting_of(model()).unit >= MIN_UNIT


def test_what_lasts_has_the_unit_that_twenty_rows_exceed() -> None:
    scores = np.random.default_rng(0).uniform(0, 0.9, 10_000)
    # 30 rows all over training, a third of a percent
    scores[::333] = 2.0
    alone = _EntityFit(model(), np.zeros(10_000), np.ones(10_000, dtype=bool))
    fit_of_both = _with_lasting(alone, lasting_of(model()), scores)
    assert lasting_of(fit_of_both.model).unit == 2.0
    assert fit_of_both.scores.max() == 1.0


def test_entities_have_models_of_their_own_and_unseen_ones_start_from_nothing() -> None:
    found = fit(METHOD, rows_of(500), 100 + rows_of(400, seed=1))
    first, second = (found.models.of(f"machine {n}") for n in range(2))
    unseen = found.models.pooled
    assert isinstance(unseen, OnlineModel)
    assert unseen.learned is None
    assert unseen.lasting is not None
    rows = 100 + rows_of(100, seed=2)
    assert first.assess(rows).score.mean() > 3 * second.assess(rows).score.mean()
    assert "near residual" in unseen.assess(rows).traces


def test_the_last_rows_are_enough_for_a_model_beside_another() -> None:
    method = OnlineMethod(ViewSettings(views=("level",)), LastRows(watched=300, lasting=400))
    found = fit(method, rows_of(900))
    assert [len(scores) for scores in found.scores] == [300]
    same = fit(
        OnlineMethod(ViewSettings(views=("level",)), LastRows(300, lasting=400)), rows_of(900)[500:]
    )
    rows = rows_of(50, seed=4)
    np.testing.assert_array_equal(
        found.models.pooled.assess(rows).score, same.models.pooled.assess(rows).score
    )


def test_the_rows_to_watch_are_bounded_in_values() -> None:
    rows = LastRows(watched=2_000, values=100_000, total_values=1_000_000)
    assert rows.to_watch(series=1, channels=10) == 2_000
    assert rows.to_watch(series=1, channels=500) == 200
    assert rows.to_watch(series=1_000, channels=10) == 100
    assert rows.to_watch(series=1_000, channels=10_000) == 1


def test_last_rows_keep_their_segments() -> None:
    series = TrainSeries(np.arange(20.0)[:, None], starts=(0, 6, 12), entity="a")
    last = last_rows(series, 10)
    assert (last.values[0, 0], last.starts, last.entity) == (10.0, (0, 2), "a")
    assert last_rows(series, 8).starts == (0,)
    assert last_rows(series, None) is last_rows(series, 20) is series


# ---- odd rows


def test_a_constant_channel_that_moves_is_an_event() -> None:
    train, rows = rows_of(900), rows_of(200, seed=1)
    train[:, 2] = rows[:, 2] = 7.0
    rows[150:, 2] = 7.5
    evidence = fit(METHOD, train).models.pooled.assess(rows)
    assert np.isfinite(evidence.score).all()
    assert evidence.by_channel[150].argmax() == 2
    assert evidence.score[150] > evidence.score[SUPPRESSED_AT_START:150].max()


def test_rows_that_never_move_score_as_training_rows_did() -> None:
    found = fit(METHOD, np.full((300, 2), 4.0))
    assert found.scores[0].max() <= 1
    evidence = found.models.pooled.assess(np.full((50, 2), 4.0))
    assert evidence.score.max() < 1.1
    np.testing.assert_array_equal(evidence.expected, np.full((50, 2), 4.0))


def test_a_gap_goes_on_with_what_was_learned_and_suppresses_the_rows_after_it() -> None:
    rows = rows_of(700, seed=1)
    rows[200:] += 20
    stream = model().stream()
    stream.push(rows[:650])
    stream.gap(13)
    after = stream.push(rows[650:])
    new = [trace for name, trace in after.traces.items() if name in view_names(3)]
    assert not np.sum(new, axis=0)[:SUPPRESSED_AFTER_GAP].any()
    assert np.sum(new, axis=0)[SUPPRESSED_AFTER_GAP:].any()
    # 20 higher is normal by now for the learner, and is not for what lasts
    again = OnlineStream(model())
    again.push(rows[:100])
    again.gap(0)
    other = again.push(rows[650:])
    windows = [evidence.traces["short window"][20:].mean() for evidence in (after, other)]
    assert windows[0] < 0.8 * windows[1]
    np.testing.assert_allclose(after.traces["level"], other.traces["level"])


def test_a_segment_may_begin_at_any_phase_of_a_cycle() -> None:
    rng = np.random.default_rng(1)
    wave = np.sin(2 * np.pi * np.arange(2_400) / 40)[:, None] ** 9 * 5
    rows = wave + 0.1 * rng.standard_normal((2_400, 1))
    found = fit(LEARNER_ALONE, rows[:1_600]).models.pooled
    scores = [found.assess(rows[first : first + 400]).score for first in (1_600, 1_620)]
    assert not scores[1][:SUPPRESSED_AT_START].any()
    level = np.quantile(scores[0][SUPPRESSED_AT_START:], 0.9)
    assert np.quantile(scores[1][SUPPRESSED_AT_START + 40 :], 0.9) < 1.5 * level
    assert isinstance(found, OnlineModel)
    watcher = Watcher(found.learner())
    watcher.watch(rows[1_620:1_800])
    (period,), (shift,) = (
        watcher.learner.views.seasons.periods,
        watcher.learner.views.seasons.shifts,
    )
    assert (period, shift % period) == (40, 20)


def test_segments_of_training_are_watched_with_a_gap_between() -> None:
    values = rows_of(600)
    values[300:] += 50
    broken = LEARNER_ALONE.fit([TrainSeries(values, starts=(0, 300))], Runtime())
    whole = LEARNER_ALONE.fit([TrainSeries(values)], Runtime())
    after = slice(300, 300 + SUPPRESSED_AT_START)
    assert not broken.scores[0][after].any()
    assert whole.scores[0][after].any()


def test_an_alarm_that_a_user_accepts_is_learned_from() -> None:
    rows = rows_of(400, seed=1)
    rows[200:] += 20
    scores = []
    for accepts in (False, True):
        stream = model().stream()
        stream.push(rows[:240])
        if accepts:
            stream.accept(40, 1)
        stream.learn()
        scores.append(stream.push(rows[240:]).traces["short window"].mean())
    assert scores[1] < 0.7 * scores[0]
