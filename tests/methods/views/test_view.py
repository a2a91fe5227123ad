"""What is assessed in a view."""

from __future__ import annotations

import numpy as np
import pytest

from methods.views.combining import Rows, fitted, part_surprises, waves
from subadjacent.decision.view_facts import FORECASTING
from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.forecasts import Forecasts
from subadjacent.methods.views.residual_scale import JointSquares, Squares
from subadjacent.methods.views.view import PARTS
from subadjacent.ridge.axes import CLIP


@pytest.fixture(scope="module")
def entity() -> EntityViews:
    return fitted()


def test_nine_parts_of_known_weight_by_hand() -> None:
    weights = {(part.view, part.form): part.weight for part in PARTS}
    # four views by themselves, each half again given the other channels, and rows as a whole
    assert weights == {(view, view): 1.0 for view in FORECASTING} | {
        (view, "other channels"): 0.5 for view in FORECASTING
    } | {("rhythm", "all channels"): 1.0}
    assert sum(weights.values()) == 7.0
    assert len(weights) == len(PARTS) == 9


def test_parts_are_in_units_of_what_a_usual_square_comes_to() -> None:
    assert [part.softness for part in PARTS] == [100.0] * 4 + [30.0] + [100.0] * 4


def test_the_level_of_a_value_is_its_own_residual(entity: EntityViews) -> None:
    rows = waves(50, seed=1)
    rows[10] = [1e4, -1e4, 0.25]
    found = Forecasts(entity.forecasting, entity.weights, 3).residuals(rows, 0, 50, expected=False)
    level = found.table[:, :3]
    assert level[10].tolist() == [CLIP, -CLIP, 0.25]
    np.testing.assert_array_equal(np.delete(level, 10, 0), np.delete(rows, 10, 0))
    assert found.assessed[:, 0].all()


def residuals(entity: EntityViews, view: str, rows: Rows) -> Rows:
    ridge = entity.forecasting[view].ridge
    assert ridge is not None
    return ridge.residuals(rows)


@pytest.mark.parametrize("lookahead", [None, 0, 6])
@pytest.mark.parametrize("name", ["rhythm", "local rhythm", "slow rhythm"])
def test_parts_are_residuals_by_themselves_across_channels_and_of_whole_rows(
    entity: EntityViews, name: str, lookahead: int | None
) -> None:
    """The definition read aloud."""
    rows, view = waves(700, seed=2), entity.forecasting[name]
    left = residuals(entity, name, rows)
    found = part_surprises(entity, rows, lookahead)
    across = view.companions.unexplained(left)
    for form, scale, some in ((name, view.alone, left), ("other channels", view.across, across)):
        wanted = scale.surprise(Squares.of(some, 0, len(rows), lookahead))
        np.testing.assert_allclose(found[name, form].surprise, wanted, rtol=1e-6)
    assert ((name, "all channels") in found) == (name == "rhythm")
    if view.joint is not None:
        whole = view.joint.surprise(JointSquares.of(left, 0, len(rows), lookahead))
        np.testing.assert_allclose(found[name, "all channels"].surprise, whole)


@pytest.mark.parametrize(
    ("count", "row", "judging"),
    [
        # too few rows for any neighbour at a distance of 30
        (30, 15, {"level"}),
        # one more, and the ends have them all on one side
        (31, 0, {"level", "rhythm", "local rhythm"}),
        (31, 15, {"level"}),
        # from 300 rows on the slow rhythm has all of them on one side
        (301, 0, {"level", "rhythm", "local rhythm", "slow rhythm"}),
        (301, 150, {"level", "rhythm", "local rhythm"}),
        (600, 150, {"level", "rhythm", "local rhythm", "slow rhythm"}),
    ],
)
def test_a_view_judges_rows_that_have_all_their_neighbours_by_hand(
    entity: EntityViews, count: int, row: int, judging: set[str]
) -> None:
    found = part_surprises(entity, waves(count, seed=2))
    assert {view for (view, _), one in found.items() if one.assessed[row]} == judging
