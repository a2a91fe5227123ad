"""Scores in units of what one row in a hundred of an entity exceeds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from subadjacent.detectors.levels import LEAST, EntityLevels
from subadjacent.scoring.trust import levelled, trusted

from subadjacent import InputError
from subadjacent.data.series import TrainSeries

# 0, 0.01, …, 1: one row in a hundred is above 0.99, and none is far out
EVEN = np.arange(101) / 100


def series(entity: str | None, rows: int = 101) -> TrainSeries:
    return TrainSeries(np.zeros((rows, 1)), entity=entity)


def test_even_scores_by_hand() -> None:
    levels, scores = EntityLevels.fit([series("a"), series("b")], [EVEN, 10 * EVEN])
    assert levels.by_entity == pytest.approx({"a": 0.99, "b": 9.9})
    # an entity that was not there goes by the median
    assert levels.pooled == pytest.approx((0.99 + 9.9) / 2)
    # both are even from 0 to 1.01 now
    for rows in scores.rows:
        np.testing.assert_allclose(rows, EVEN / 0.99)
    np.testing.assert_allclose(scores.held_out, np.tile(EVEN / 0.99, 2))


def test_a_series_is_scored_in_the_unit_of_its_entity_by_hand() -> None:
    levels = EntityLevels(2.0, {"calm": 0.5, "restless": 4.0})
    scores = np.array([1.0, 2.0])
    assert levels.apply(series("calm"), scores).tolist() == [2.0, 4.0]
    assert levels.apply(series("restless"), scores).tolist() == [0.25, 0.5]
    assert levels.apply(series("stranger"), scores).tolist() == [0.5, 1.0]
    assert levels.apply(series(None), scores).tolist() == [0.5, 1.0]


def slow_unit(scores: NDArray[np.float64]) -> float:
    """The definition read aloud: the score at 99 of 100 of the way up the normal ones."""
    even = levelled(scores)
    ordered: list[float] = sorted(even[trusted(even)].tolist())
    place = 0.99 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return max(ordered[below] + (place - below) * (ordered[above] - ordered[below]), LEAST)


@pytest.mark.parametrize("counts", [(1,), (2, 1), (500, 37, 1200)])
def test_units_are_the_definition(counts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(sum(counts))
    scores = [size * rng.gamma(3.0, size=rows) for size, rows in enumerate(counts, start=1)]
    scores[0][:1] += 1e4
    names = [f"entity {number}" for number in range(len(counts))]
    levels, found = EntityLevels.fit([series(name) for name in names], scores)
    units = [slow_unit(one) for one in scores]
    assert list(levels.by_entity.values()) == pytest.approx(units)
    assert levels.pooled == pytest.approx(np.median(units))
    for rows, one, unit in zip(found.rows, scores, units, strict=True):
        np.testing.assert_allclose(rows, levelled(one) / unit)
    kept = [one[trusted(one)] for one in found.rows]
    np.testing.assert_allclose(found.held_out, np.concatenate(kept))


def test_rows_that_are_not_trusted_set_no_unit_but_are_scored() -> None:
    spoiled = np.tile(EVEN, 20)
    spoiled[700:760] = 500.0
    levels, found = EntityLevels.fit([series(None, len(spoiled))], [spoiled])
    assert levels.pooled == pytest.approx(0.99, abs=0.01)
    assert levels.by_entity == {}
    assert found.rows[0].shape == spoiled.shape
    assert found.rows[0][730] == pytest.approx(levelled(spoiled)[730] / levels.pooled)
    assert found.rows[0][730] > 400
    assert found.held_out.max() < 2


def test_a_part_that_scores_high_for_its_anomalies_sets_no_unit() -> None:
    spoiled = np.tile(EVEN, 20)
    # the fourth of five parts, and what made others calmer than it
    spoiled[1212:1616] *= 3
    spoiled[1400:1420] = 500.0
    levels, found = EntityLevels.fit([series("a", len(spoiled))], [spoiled])
    assert levels.by_entity["a"] == pytest.approx(0.99, abs=0.03)
    assert found.held_out.max() < 1.1
    # a row three times as high as its like elsewhere scores about the same as those
    assert found.rows[0][1300] == pytest.approx(spoiled[1300] / 3 / 0.99, rel=0.05)
    # and anomalies stay what they are
    assert found.rows[0][1410] > 100


def test_an_entity_that_nothing_surprised_has_the_least_unit() -> None:
    levels, found = EntityLevels.fit([series("still")], [np.zeros(50)])
    assert levels.by_entity["still"] == LEAST
    assert not found.rows[0].any()


def test_a_scale_of_all_scores_cancels() -> None:
    scores = np.random.default_rng(1).gamma(3.0, size=400)
    one, other = (
        EntityLevels.fit([series("a")], [factor * scores])[1].rows[0] for factor in (1.0, 37.0)
    )
    np.testing.assert_allclose(one, other)


def test_what_is_kept_as_json_comes_back_the_same() -> None:
    levels = EntityLevels(0.1 + 0.2, {"b": 1 / 3, "a": 2.0})
    again = EntityLevels.from_list(json.loads(json.dumps(levels.to_list())), ("b", "a"))
    assert again == levels
    alone = EntityLevels(0.7, {})
    assert EntityLevels.from_list(alone.to_list(), ()) == alone


@pytest.mark.parametrize(
    "units", [[1.0], [1.0, 2.0, 3.0], [1.0, 0.0], [1.0, -2.0], [1.0, float("nan")], 1.0, [[1.0, 2]]]
)
def test_units_that_do_not_fit_are_refused(units: Any) -> None:
    with pytest.raises(InputError, match="levels must be 2 positive numbers; got"):
        EntityLevels.from_list(units, ("a",))
