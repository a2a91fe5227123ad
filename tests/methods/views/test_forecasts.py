"""The weighted mean over the parts of all forecasting views."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from methods.views.combining import fitted, part_surprises, waves
from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.forecasts import Forecasts
from subadjacent.ridge.few import MAX_GATHERED_ROWS

PATH = "subadjacent.methods.views.forecasts"


@pytest.fixture(scope="module")
def entity() -> EntityViews:
    views = fitted()
    typical = views.weights.typical * np.array([1, 1, 1, 40, 1, 9, 1, 200, 1])
    return replace(views, weights=replace(views.weights, typical=typical))


@pytest.mark.parametrize(("chunk", "many"), [(7, 10**9), (4096, 0)])
@pytest.mark.parametrize("rows", [1, 31, 700])
def test_the_combination_is_the_definition(
    entity: EntityViews, rows: int, chunk: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each row the mean over the parts that assess it, by weights and factors."""
    monkeypatch.setattr(f"{PATH}.CHUNK_VALUES", 0)
    monkeypatch.setattr(f"{PATH}.MIN_CHUNK_ROWS", chunk)
    monkeypatch.setattr(f"{PATH}.MANY", many)
    monkeypatch.setattr(f"{PATH}.FEW_VALUES", 0)
    segment = waves(rows, seed=4)
    forecasts = Forecasts(entity.forecasting, entity.weights, 3)
    residuals = forecasts.residuals(segment, 0, rows, expected=False)
    values, by_part = forecasts.combine(residuals.table, residuals.assessed, 0, rows, None)
    surprises = part_surprises(entity, segment)
    factors = dict(
        zip(
            [(part.view, part.form) for part in sorted(forecasts.parts, key=_place)],
            entity.weights.factors(),
            strict=True,
        )
    )
    assert len(set(factors.values())) > 2
    for row in {0, 15, rows // 2, rows - 1} & set(range(rows)):
        there = {key: one for key, one in surprises.items() if one.assessed[row]}
        weight = sum(one.part.weight for one in there.values())
        shares = {
            key: one.part.weight * factors[key] * one.surprise[row] / weight
            for key, one in there.items()
        }
        np.testing.assert_allclose(values[row], np.sum(list(shares.values()), axis=0), rtol=1e-9)
        for number, part in enumerate(forecasts.parts):
            own = shares.get((part.view, part.form), np.zeros(3))
            assert by_part[row, number] == pytest.approx(own.mean())


def _place(part: object) -> int:
    from subadjacent.methods.views.view import PARTS

    return PARTS.index(part)  # type: ignore[arg-type]


def test_residuals_of_few_rows_are_those_of_many(entity: EntityViews) -> None:
    rows, forecasts = waves(900, seed=5), Forecasts(entity.forecasting, entity.weights, 3)
    whole = forecasts.residuals(rows, 0, 900, expected=True)
    assert whole.expected is not None
    for first in (0, 20, 400, 890):
        for count in (1, MAX_GATHERED_ROWS, MAX_GATHERED_ROWS + 2):
            here = slice(first, first + count)
            some = forecasts.residuals(rows, first, first + count, expected=True)
            np.testing.assert_allclose(some.table, whole.table[here], rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(some.assessed, whole.assessed[here])
            np.testing.assert_allclose(some.expected, whole.expected[here], rtol=1e-4, atol=1e-5)


def test_no_views_say_nothing() -> None:
    views = fitted()
    nothing = replace(views.weights, typical=np.zeros(0), comparable=np.zeros(0, dtype=bool))
    forecasts = Forecasts({}, nothing, 3)
    residuals = forecasts.residuals(waves(5), 0, 5, expected=True)
    assert residuals.expected is None
    values, by_part = forecasts.combine(residuals.table, residuals.assessed, 0, 5, None)
    assert not values.any()
    assert by_part.shape == (5, 0)
