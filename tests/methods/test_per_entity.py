"""What is held out of methods that keep rows: by hand, and against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from methods.tasks import noise
from subadjacent.data.series import TrainSeries
from subadjacent.methods.per_entity import FOLDS, PerEntityMethod, without
from subadjacent.rivals.knn import NearestMethod
from subadjacent.rivals.linear import ForecastMethod
from subadjacent.rivals.matrix_profile import ProfileMethod
from subadjacent.rivals.pca import SubspaceMethod
from subadjacent.runtime import Runtime

KEEPING: dict[str, PerEntityMethod] = {
    "knn": NearestMethod(neighbours=1),
    "matrix profile": ProfileMethod(window=5),
    "linear": ForecastMethod(window=15),
}


def test_a_series_is_broken_where_rows_are_left_out() -> None:
    series = TrainSeries(np.arange(10.0)[:, None], starts=(0, 7), index=list("abcdefghij"))
    held = np.isin(np.arange(10), (3, 4))
    kept = without(series, held)
    assert kept.values[:, 0].tolist() == [0, 1, 2, 5, 6, 7, 8, 9]
    assert kept.starts == (0, 3, 5)
    first = without(series, np.arange(10) < 8)
    assert (first.values[:, 0].tolist(), first.starts) == ([8, 9], (0,))


def test_every_fifth_is_judged_by_the_other_four() -> None:
    """Five levels of 4 rows: no other fifth has a row near, and all rows of one are alike."""
    levels = np.repeat(np.arange(5.0), 4)[:, None]
    fitted = NearestMethod(neighbours=1).fit([TrainSeries(levels)], Runtime())
    # standardised by their deviation of sqrt(2), the next level is 1 / sqrt(2) away
    np.testing.assert_allclose(fitted.held_out[0], np.full(20, 0.5**0.5), rtol=1e-6)
    assert fitted.scores[0] is fitted.held_out[0]
    np.testing.assert_array_equal(fitted.models.pooled.assess(levels).score, np.zeros(20))


@pytest.mark.parametrize("name", KEEPING)
def test_rows_that_are_known_by_heart_do_not_set_the_threshold(name: str) -> None:
    """Held-out rows score more nearly as new ones do than rows that were learned from."""
    series = [TrainSeries(noise(400, 5, seed=seed), entity=str(seed)) for seed in range(2)]
    fitted = KEEPING[name].fit(series, Runtime())
    for one, held_out in zip(series, fitted.held_out, strict=True):
        model = fitted.models.of(one.entity)
        new, known = (model.assess(rows).score.mean() for rows in (noise(4000, 5, 9), one.values))
        assert len(held_out) == 400
        assert known < held_out.mean()
        assert abs(held_out.mean() - new) < 0.5 * abs(known - new)


def test_a_short_series_is_judged_by_what_it_taught() -> None:
    method = NearestMethod(neighbours=1)
    rows = noise(4 * FOLDS - 1)
    assert method.fit([TrainSeries(rows)], Runtime()).held_out[0].max() == 0
    longer = noise(4 * FOLDS)
    assert method.fit([TrainSeries(longer)], Runtime()).held_out[0].min() > 0
    # a part has a window at least
    windows = NearestMethod(neighbours=1, window=9)
    assert windows.fit([TrainSeries(noise(9 * FOLDS - 1))], Runtime()).held_out[0][-1] == 0


def test_a_break_in_the_clock_is_one_in_what_is_held_out() -> None:
    """A row after a break is forecast from itself, not from what came before the break."""
    rows = noise(100)
    rows[50:] += 50
    method = ForecastMethod(window=1, clip=1e6)
    broken, whole = (
        method.fit([TrainSeries(rows, starts=starts)], Runtime()).held_out[0]
        for starts in ((0, 50), (0,))
    )
    assert whole[50] > 3 * broken[50]


def test_a_method_that_keeps_no_rows_holds_nothing_out() -> None:
    rows = noise(200)
    fitted = SubspaceMethod().fit([TrainSeries(rows)], Runtime())
    np.testing.assert_array_equal(fitted.held_out[0], fitted.models.pooled.assess(rows).score)
