"""How surprising distances are, which rows are held out, and the weight of such a view."""

from __future__ import annotations

import math

import numpy as np
import pytest

from methods.views.combining import Floats, waves
from subadjacent.decision.view_facts import FACTS, NOVELTIES
from subadjacent.methods.views.fit import fit_views
from subadjacent.methods.views.novelty import (
    folds,
    nearer,
    novelty_weight,
    outside,
    surprise,
    usual_distance,
)
from subadjacent.methods.views.residual_scale import FLOOR
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.smoothing import smoothed

# ---- surprise


def test_surprise_by_hand() -> None:
    # the usual squared distance is 1, with a floor of 0.001; three times as much is half of log 2
    squares = np.array([0.0, 1.001, 3.003, 30.03])
    wanted = [0.0, math.log(1 + 1 / 9) / 2, math.log(2) / 2, math.log(101) / 2]
    np.testing.assert_allclose(surprise(squares, np.ones(4)), wanted)


def test_a_single_usual_distance_is_as_precise_as_many() -> None:
    """NumPy 1 would compute with more digits for one than for a row of them."""
    squares = np.linspace(0, 30, 200, dtype=np.float32)
    usual = np.linspace(0.1, 7, 50, dtype=np.float32)
    for one in usual:
        np.testing.assert_array_equal(surprise(squares, one), surprise(squares, np.full(200, one)))
        assert surprise(squares, one).dtype == np.float32


# ---- what is usual


@pytest.mark.parametrize("rows", [1, 2, 9, 10, 11, 25, 100, 137])
def test_the_usual_distance_is_the_definition(rows: int) -> None:
    squares = np.random.default_rng(rows).exponential(size=(rows, 2))
    blocks = [block.mean(axis=0) for block in np.array_split(squares, min(10, rows))]
    wanted = np.sqrt(np.square(blocks).mean(axis=0))
    np.testing.assert_allclose(usual_distance(squares), wanted)
    assert usual_distance(squares[:, 0]) == pytest.approx(wanted[0])


# ---- held-out rows


def test_folds_of_few_rows_by_hand() -> None:
    assert list(folds(11)) == [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8), slice(8, 11)]
    assert list(folds(3)) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert list(folds(1)) == [slice(0, 1)]


@pytest.mark.parametrize("guard", [1, 2, 7, 50])
@pytest.mark.parametrize("fold", [slice(0, 1), slice(0, 30), slice(20, 23), slice(80, 100)])
def test_rows_outside_a_fold_are_the_definition(fold: slice, guard: int) -> None:
    rows = np.arange(0, 100, 3)
    kept = outside(rows, fold, guard)
    for row, there in zip(rows.tolist(), kept.tolist(), strict=True):
        assert there == all(abs(row - other) >= guard for other in range(fold.start, fold.stop))


# ---- weights


def test_more_references_are_nearer_by_hand() -> None:
    # on a line the nearest of four is half as far away as that of two: a quarter, squared
    assert nearer(2, 4, 1) == pytest.approx(1 / 4)
    assert nearer(2, 4, 2) == pytest.approx(1 / 2)
    assert nearer(7, 7, 5) == 1.0


def rising(rows: int = 1001) -> Floats:
    """From 0 to 1, evenly: a quantile is its own share."""
    return np.linspace(0, 1, rows)


def test_the_weight_of_a_view_by_hand() -> None:
    others = rising()
    assert novelty_weight(others, others) == 1
    # it is never turned up
    assert novelty_weight(0.1 * others, others) == 1
    assert novelty_weight(4 * others, others) == pytest.approx(0.25)
    # higher on its highest row alone: 8 instead of 1
    highest = others.copy()
    highest[-1] = 8
    assert novelty_weight(highest, others) == pytest.approx(1 / 8)
    # bounded, but high on a hundredth of the rows: 0.995 where the others have 0.99
    bounded = np.where(others > 0.985, 0.995, 0)
    assert novelty_weight(bounded, others) == pytest.approx(0.99 / 0.995)


@pytest.mark.parametrize("share", [0.99, 0.999, 1.0])
def test_a_view_is_held_against_the_others_at_three_quantiles(share: float) -> None:
    """Each alone can turn it down: it is too high there, and below the others elsewhere."""
    place = rising(100_001)
    own = np.where(place > share - 1e-4, 2.0, 0.1)
    others = np.where(place > share + 1e-4, 100.0, 1.0)
    assert novelty_weight(own, others) == pytest.approx(0.5)
    # what it says of other rows does not matter
    assert novelty_weight(np.where(place < 0.98, 0.9, 1.0), np.where(place < 0.98, 0, 1.0)) == 1


def test_a_view_that_found_nothing_new_counts_as_one_whose_distances_are_the_usual() -> None:
    at_usual = math.log(1 + 1 / 9) / 2
    assert surprise(np.array(1.0), np.array(1.0 - FLOOR)) == pytest.approx(at_usual)
    others = np.full(500, 0.01)
    for own in (0.0, 0.01, at_usual):
        assert novelty_weight(np.full(500, own), others) == pytest.approx(0.01 / at_usual)
    assert novelty_weight(np.full(500, 2 * at_usual), others) == pytest.approx(0.005 / at_usual)


def test_every_view_of_what_is_new_has_a_weight() -> None:
    assert {name: FACTS[name].weight for name in NOVELTIES} == {"state": 0.5, "shape": 1.0}


# ---- weights that are learned


@pytest.mark.parametrize(("tails", "shape"), [(0.0, 0.4), (1.0, 0.7)])
def test_views_that_know_nothing_of_noise_are_turned_down(tails: float, shape: float) -> None:
    """Where nothing comes twice, every row is new; with heavy tails some more than others."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(4000, 4)) * np.exp(tails * rng.normal(size=(4000, 1)))
    rows = (noise / noise.std(axis=0)).astype(np.float32)
    seeking = fit_views([[rows]], ViewSettings())[0].entity.novelty
    assert seeking["state"].weight < 0.1
    assert seeking["shape"].weight < shape


@pytest.mark.parametrize("lookahead", ["full", 0])
def test_weights_are_learned_from_scores_of_held_out_rows(lookahead: int | str) -> None:
    """The definition read aloud: each view beside those that expect values, and all of it added."""
    rows = [waves(900, seed=1), waves(700, seed=2)]

    def scores(segments: list[Floats]) -> Floats:
        ahead = ViewSettings(lookahead=lookahead).ahead.score
        return np.concatenate([smoothed(segment, 20, ahead) for segment in segments])

    unseen = {
        views: fit_views([rows], ViewSettings(views=views, lookahead=lookahead))[0].unseen
        for views in (("state",), ("shape",), ("level", "rhythm", "local rhythm", "slow rhythm"))
    }
    state, shape, expecting = unseen.values()
    # alone they have weight 1, and the share of their kind
    state = [2 * segment for segment in state]
    (found,) = fit_views([rows], ViewSettings(lookahead=lookahead))
    wanted = [novelty_weight(scores(own), scores(expecting)) for own in (state, shape)]
    assert [seeking.weight for seeking in found.entity.novelty.values()] == wanted
    assert 0 < min(wanted) < 1
    for total, plain, *own in zip(found.unseen, expecting, state, shape, strict=True):
        added = 0.5 * wanted[0] * own[0] + wanted[1] * own[1]
        np.testing.assert_allclose(total, plain + added)
