"""The plain views of one entity: what each is there for, and how they are added up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score
from subadjacent.detectors.learn_members import ENOUGH, PIECE, _some, fit_members
from subadjacent.detectors.members import (
    GIVEN_WEIGHT,
    PARTS,
    TOTAL_WEIGHT,
    VIEWS,
    WIDE,
    WIDE_STEP,
    Mean,
    Members,
    Part,
)
from subadjacent.scoring.loudness import typical
from subadjacent.scoring.standardised import SOFTNESS, averaged, learn_usual
from subadjacent.scoring.together import SOFTNESS as SOFTNESS_TOGETHER
from subadjacent.scoring.together import learn_together
from subadjacent.training.companions import fit_companions
from subadjacent.training.sided import fit_sided

from subadjacent import InputError
from subadjacent.core.band import Band

BAND = Band(5, 30)

Rows = NDArray[np.float32]


def waves(rows: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    values = 1.4 * np.sin(time / [5.0, 8.0, 13.0]) + 0.1 * rng.normal(size=(rows, 3))
    return values.astype(np.float32)


@pytest.fixture(scope="module")
def members() -> Members:
    return fit_members([waves(3000)], BAND, causal=False)[0]


def as_they_come(members: Members) -> Members:
    """Without any part turned down."""
    return replace(members, loudness=replace(members.loudness, typical=np.zeros(PARTS)))


def parts_of(members: Members, rows: Rows) -> dict[tuple[str, str], Part]:
    return {(part.view, part.form): part for part in members.parts(rows)}


def test_nine_parts_of_known_weight_by_hand(members: Members) -> None:
    weights = {name: part.weight for name, part in parts_of(members, waves(1000)).items()}
    # four views by themselves, each half again given the other channels, and rows as a whole
    assert weights == {(view, "alone"): 1.0 for view in VIEWS} | {
        (view, "given"): 0.5 for view in VIEWS
    } | {("ridge", "together"): 1.0}
    assert GIVEN_WEIGHT == 0.5
    assert sum(weights.values()) == TOTAL_WEIGHT == 7.0
    assert len(weights) == PARTS == 9


def test_each_part_is_multiplied_by_its_factor(members: Members) -> None:
    rows, loud = waves(700, seed=9), members.loudness.typical.copy()
    # one at a time, ever louder than most of them are
    loud[::2] *= [3.0, 4.0, 9.0, 20.0, 100.0]
    members = replace(members, loudness=replace(members.loudness, typical=loud))
    factors = members.loudness.factors()
    assert len(set(factors)) > 3
    pairs = zip(members.parts(rows), as_they_come(members).parts(rows), factors, strict=True)
    for turned, before, factor in pairs:
        np.testing.assert_array_equal(turned.surprise, factor * before.surprise)
        assert turned[:2] == before[:2]
        assert turned.weight == before.weight


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("count", [1, 7, 30, 31, 61, 299, 300, 700])
def test_the_surprise_is_the_mean_over_what_judges_a_row(count: int, causal: bool) -> None:
    """The definition read aloud; the wide ridge reaches 300 rows here."""
    members, rows = fit_members([waves(3000)], BAND, causal=causal)[0], waves(count, seed=1)
    parts = list(members.parts(rows))
    found = members.surprise(rows)
    for row in range(count):
        there = [part for part in parts if part.judged[row]]
        total = sum(part.weight * part.surprise[row] for part in there)
        wanted = total / sum(part.weight for part in there)
        np.testing.assert_allclose(found[row], wanted)


@pytest.mark.parametrize(
    ("count", "row", "judging"),
    [
        # too few rows for any neighbour at a distance of 30
        (30, 15, {"level"}),
        # one more, and the ends have them all on one side
        (31, 0, {"level", "ridge", "local"}),
        (31, 15, {"level"}),
        # from 300 rows on the wide ridge has all of them on one side
        (301, 0, {"level", "ridge", "local", "wide"}),
        (301, 150, {"level", "ridge", "local"}),
        (600, 150, {"level", "ridge", "local", "wide"}),
    ],
)
def test_an_unjudged_row_counts_only_what_judges_it(
    members: Members, count: int, row: int, judging: set[str]
) -> None:
    parts = list(members.parts(waves(count, seed=2)))
    assert {part.view for part in parts if part.judged[row]} == judging


def test_a_short_stretch_is_judged_by_its_level_alone(members: Members) -> None:
    rows = waves(20, seed=3)
    rows[10, 1] = 9.0
    parts = parts_of(members, rows)
    alone, given = (parts["level", form].surprise for form in ("alone", "given"))
    np.testing.assert_allclose(members.surprise(rows), (alone + 0.5 * given) / 1.5)
    np.testing.assert_array_equal(members.expected(rows), rows)


@pytest.mark.parametrize(
    ("lengths", "far"),
    # a tenth of the longest stretch, and 400 at most; below 36 a step does not fit
    [((5000,), 400), ((700, 650), 70), ((360,), 36), ((359,), None), ((40,), None)],
)
def test_the_wide_ridge_reaches_as_far_as_there_are_rows_for(
    lengths: tuple[int, ...], far: int | None
) -> None:
    parts = [waves(rows, seed=rows) for rows in lengths]
    members = fit_members(parts, BAND, causal=False)[0]
    wide = members.views[VIEWS.index("wide")].ridge
    assert wide is not None
    if far is None:
        assert wide.models == ()
        assert not wide.judged(5000).any()
    else:
        assert {model.band for model in wide.models} == {Band(WIDE.near, far)}
        assert {model.step for model in wide.models} == {WIDE_STEP}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(2500,), (400, 300), (45, 70), (12,)])
def test_what_is_saved_is_restored_the_same(lengths: tuple[int, ...], causal: bool) -> None:
    parts = [waves(rows, seed=rows) for rows in lengths]
    members = fit_members(parts, BAND, causal=causal)[0]
    tensors = members.tensors("one") | members.tensors("other")
    again = Members.restore(tensors, "one", BAND, 3, causal=causal)
    for count in (5, 40, 900):
        rows = waves(count, seed=count)
        np.testing.assert_array_equal(again.surprise(rows), members.surprise(rows))
        np.testing.assert_array_equal(again.expected(rows), members.expected(rows))
    for view, other in zip(members.views, again.views, strict=True):
        if view.ridge is not None and other.ridge is not None:
            # also how far it reaches, which no setting says
            assert [one.band for one in view.ridge.models] == [
                one.band for one in other.ridge.models
            ]


@pytest.mark.parametrize(
    "name",
    ["together", "loudness", "level.usual", "ridge.gains", "local.both.weights", "wide.companions"],
)
def test_arrays_that_do_not_fit_are_refused(members: Members, name: str) -> None:
    tensors = dict(members.tensors("one"))
    whole = tensors[f"one.{name}"]
    tensors[f"one.{name}"] = whole[..., :-1]
    with pytest.raises(InputError, match=f"one.{name} must be finite and have shape"):
        Members.restore(tensors, "one", BAND, 3, causal=False)
    tensors[f"one.{name}"] = whole * float("nan")
    with pytest.raises(InputError, match=f"one.{name} must be finite"):
        Members.restore(tensors, "one", BAND, 3, causal=False)


def test_how_loud_parts_are_is_not_negative(members: Members) -> None:
    tensors = dict(members.tensors("one"))
    tensors["one.loudness"] = -tensors["one.loudness"]
    with pytest.raises(InputError, match=r"one.loudness must not be negative; got -"):
        Members.restore(tensors, "one", BAND, 3, causal=False)


def test_a_model_that_does_not_say_how_loud_its_parts_are_scores_as_it_did(
    members: Members,
) -> None:
    tensors = dict(members.tensors("one"))
    del tensors["one.loudness"]
    older, rows = Members.restore(tensors, "one", BAND, 3, causal=False), waves(300, seed=10)
    np.testing.assert_array_equal(older.surprise(rows), as_they_come(members).surprise(rows))


def test_a_causal_surprise_does_not_change_when_rows_follow() -> None:
    members = fit_members([waves(2000)], BAND, causal=True)[0]
    rows = waves(600, seed=4)
    rows[300:310] += 2
    whole = members.surprise(rows)
    for stop in (1, 6, 31, 205, 305, 599):
        np.testing.assert_allclose(
            members.surprise(rows[:stop]), whole[:stop], rtol=1e-4, atol=1e-7
        )


def test_a_surprise_depends_on_nothing_beyond_its_reach() -> None:
    members = fit_members([waves(4500)], BAND, causal=False)[0]
    reach = members.reach
    rows = waves(3 * reach, seed=5)
    row, other = len(rows) // 2, rows.copy()
    other[row + reach + 1 :] += 3
    other[: row - reach] -= 3
    before, after = members.surprise(rows), members.surprise(other)
    np.testing.assert_allclose(after[row], before[row], rtol=1e-5)
    assert not np.allclose(after[row + reach // 2], before[row + reach // 2], rtol=1e-3)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [(900,), (500, 20, 45)])
def test_surprise_of_training_rows_is_the_mean_over_what_views_had_not_seen(
    lengths: tuple[int, ...], causal: bool
) -> None:
    """The definition read aloud, view by view; what is loud on the median row is turned down."""
    parts = [waves(rows, seed=rows) for rows in lengths]
    wide = Band(WIDE.near, max(lengths) // 10)
    every = [np.ones(rows, dtype=bool) for rows in lengths]
    views = [(parts, every)]
    for band, local, step in ((BAND, False, 1), (BAND, True, 1), (wide, False, WIDE_STEP)):
        fit = fit_sided(parts, band, local=local, causal=causal, step=step)
        views.append((fit.unseen, [fit.ridge.judged(rows) for rows in lengths]))
    found = []
    for number, (residuals, judged) in enumerate(views):
        left = fit_companions(residuals, judged).unseen
        found.append((1.0, learn_usual(residuals, causal=causal, judged=judged).surprise, judged))
        found.append((0.5, learn_usual(left, causal=causal, judged=judged).surprise, judged))
        if number == VIEWS.index("ridge"):
            found.append((1.0, learn_together(residuals, judged, causal=causal).surprise, judged))
    loud = []
    for number, (_, surprise, judged) in enumerate(found):
        each = [row.mean() for one, ok in zip(surprise, judged, strict=True) for row in one[ok]]
        softness = 30.0 if number == 4 else 100.0
        loud.append(softness * np.median(each) if each else 0.0)
    # those that judge only some rows say nothing of the others
    whole = [all(ok.all() for ok in judged) for _, _, judged in found]
    common = np.median([one for one, peer in zip(loud, whole, strict=True) if one > 0 and peer])
    factors = [min(1.0, 2 * common / one) if one > 0 else 1.0 for one in loud]
    members, unseen = fit_members(parts, BAND, causal=causal)
    np.testing.assert_allclose(members.loudness.typical, loud)
    for number, rows in enumerate(lengths):
        total, weights = np.zeros((rows, 3)), np.zeros(rows)
        for factor, (weight, surprise, judged) in zip(factors, found, strict=True):
            there = judged[number]
            total[there] += factor * weight * surprise[number][there]
            weights[there] += weight
        np.testing.assert_allclose(unseen[number], total / weights[:, None])


@pytest.mark.parametrize("lengths", [(1, 100), (100, 1), (700,), (3, 1200)])
def test_rows_are_picked_evenly_however_short_stretches_are(lengths: tuple[int, ...]) -> None:
    each = [np.zeros((length, 1), dtype=np.float32) for length in lengths]
    parts = each * (4 * ENOUGH // sum(lengths))
    some, judged = _some(parts, [np.ones(len(part), dtype=bool) for part in parts])
    assert list(map(len, some)) == list(map(len, judged))
    assert ENOUGH / 2 <= sum(map(len, some)) <= 2 * ENOUGH
    # of all lengths, as often as they come
    longest = min(max(lengths), PIECE)
    assert sum(len(part) == longest for part in some) * longest >= ENOUGH / 4


def test_some_of_many_rows_tell_how_loud_parts_are() -> None:
    rows = waves(3 * ENOUGH + 7)
    members, unseen = fit_members([rows[: ENOUGH + 3], rows[ENOUGH + 3 :]], BAND, causal=False)
    loud = [
        typical([part.surprise], [part.judged], SOFTNESS_TOGETHER if number == 4 else SOFTNESS)
        for number, part in enumerate(as_they_come(members).parts(rows))
    ]
    np.testing.assert_allclose(members.loudness.typical, loud, rtol=0.1)
    # and all of them were judged, as rows to come will be
    assert [len(part) for part in unseen] == [ENOUGH + 3, 2 * ENOUGH + 4]
    fresh = members.surprise(waves(3 * PIECE, seed=1))
    assert np.median(np.concatenate(unseen)) == pytest.approx(np.median(fresh), rel=0.1)


def test_training_rows_surprise_as_much_as_others_of_their_kind() -> None:
    unseen, fresh, seen = [], [], []
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=(2, 400, 4)).astype(np.float32)
        members, found = fit_members([noise[0]], BAND, causal=False)
        unseen.append(found[0].mean())
        fresh.append(members.surprise(noise[1]).mean())
        seen.append(members.surprise(noise[0]).mean())
    assert np.mean(unseen) == pytest.approx(np.mean(fresh), rel=0.1)
    # models that have seen them are surprised less, each time
    assert (np.array(seen) < unseen).all()


def standing_out(surprise: NDArray[np.float64], rows: slice) -> float:
    """How far rows are above all others, in deviations of these."""
    each = surprise.mean(axis=1)
    others = np.delete(each, rows)
    return float((each[rows].mean() - others.mean()) / others.std())


def test_companions_catch_a_broken_relation_that_no_channel_shows() -> None:
    def pair(rows: int, seed: int) -> Rows:
        rng = np.random.default_rng(seed)
        cause = rng.normal(size=(rows, 1))
        return (cause + 0.1 * rng.normal(size=(rows, 2))).astype(np.float32)

    members = fit_members([pair(4000, 0)], BAND, causal=False)[0]
    rows, broken = pair(1500, 1), slice(700, 740)
    # from another time: each channel as it always is, and the two at odds
    rows[broken, 1] = pair(1500, 2)[broken, 1]
    parts = parts_of(members, rows)
    for view in ("level", "ridge"):
        assert abs(standing_out(parts[view, "alone"].surprise, broken)) < 1
        assert standing_out(parts[view, "given"].surprise, broken) > 3
    assert standing_out(members.surprise(rows), broken) > 1.5


def test_the_wide_ridge_catches_a_missing_beat_that_the_band_does_not() -> None:
    def beats(rows: int, seed: int) -> Rows:
        # a bump of some ten rows, every hundred
        phase = (np.arange(rows) % 100 - 50) / 4
        noise = 0.05 * np.random.default_rng(seed).normal(size=(rows, 1))
        return (3 * np.exp(-(phase**2))[:, None] + noise).astype(np.float32)

    members = fit_members([beats(5000, 0)], BAND, causal=False)[0]
    rows, missing = beats(2000, 1), slice(1046, 1055)
    rows[1020:1080] = 0.05 * np.random.default_rng(2).normal(size=(60, 1))
    parts = parts_of(members, rows)
    wide, band = (parts[view, "alone"].surprise[missing].mean() for view in ("wide", "ridge"))
    usual = parts["wide", "alone"].surprise[200:900].mean()
    assert wide > 10 * usual
    assert wide > 5 * band


def test_restlessness_catches_a_noise_that_has_tripled() -> None:
    rng = np.random.default_rng(8)
    members = fit_members([rng.normal(size=(4000, 2)).astype(np.float32)], BAND, causal=False)[0]
    rows, loud = rng.normal(size=(1500, 2)).astype(np.float32), slice(700, 800)
    rows[loud] *= 3
    deaf = replace(
        members,
        views=tuple(
            replace(
                view,
                alone=view.alone.indifferent_to_spread(),
                given=view.given.indifferent_to_spread(),
            )
            for view in members.views
        ),
    )
    with_it, without = members.surprise(rows), deaf.surprise(rows)
    assert with_it[720:780].min() > without[720:780].min()
    assert standing_out(with_it, loud) > 1.3 * standing_out(without, loud) > 0
    # and where nothing has changed it is silent
    np.testing.assert_allclose(with_it[100:600].mean(), without[100:600].mean(), rtol=0.05)


def test_the_wide_ridge_reaches_over_a_cycle_that_is_long() -> None:
    time = np.arange(9000)[:, None]
    noise = np.random.default_rng(8).normal(size=(9000, 1))
    slow = (np.sin(2 * np.pi * time / 600) + 0.2 * noise).astype(np.float32)
    members, _ = fit_members([slow], BAND, causal=False)
    ridge = members.views[VIEWS.index("wide")].ridge
    assert ridge is not None
    assert 690 <= ridge.models[0].band.far <= 750
    # as many points as before, further between
    assert len(ridge.models[0].offsets) <= 2 * 26
    again = Members.restore(members.tensors("a"), "a", BAND, 1, causal=False)
    np.testing.assert_array_equal(again.surprise(slow[:900]), members.surprise(slow[:900]))


def with_frozen_channels(rows: int, seed: int) -> tuple[Rows, NDArray[np.bool_]]:
    values, frozen = waves(rows, seed), np.zeros(rows, dtype=bool)
    for first in range(200, rows - 60, 250):
        frozen[first : first + 30] = True
        values[first : first + 30, first % 3] = values[first, first % 3]
    return values, frozen


@pytest.mark.parametrize("size", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("number", range(PARTS))
def test_a_part_that_is_but_noise_of_any_size_costs_little(
    members: Members, number: int, size: float
) -> None:
    rng = np.random.default_rng(number)
    rows, frozen = with_frozen_channels(4000, seed=11)
    known, there = (list(as_they_come(members).parts(one)) for one in (waves(3000), rows))
    for parts in (known, there):
        noise = 0.01 * size * rng.exponential(size=parts[number].surprise.shape)
        parts[number] = parts[number]._replace(surprise=noise)
    loud = [
        typical([part.surprise], [part.judged], SOFTNESS_TOGETHER if one == 4 else SOFTNESS)
        for one, part in enumerate(known)
    ]

    def ranking(factors: list[float]) -> float:
        mean = Mean(rows.shape)
        for part, factor in zip(there, factors, strict=True):
            mean.add(part.surprise, part.judged, part.weight, factor)
        scores = averaged(mean.result(), 20, causal=False)
        return float(average_precision_score(frozen, scores))

    clean = average_precision_score(frozen, averaged(members.surprise(rows), 20, causal=False))
    learned = ranking(replace(members.loudness, typical=np.array(loud)).factors())
    assert clean > 0.7
    assert learned > clean - 0.05
    if size > 1:
        assert ranking([1.0] * PARTS) < clean - 0.2
