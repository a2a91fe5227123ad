"""Views that expect values, side by side, are what they are one by one."""

from __future__ import annotations

import numpy as np
import pytest

from methods.views.looks import combined, waves
from subadjacent.methods.views.fit import fit_views
from subadjacent.methods.views.settings import EXPECTING, LEVEL, LOCAL, RHYTHM, ViewSettings
from subadjacent.methods.views.stacked import StackedViews


def stacked(
    lookahead: int | str = "full", views: tuple[str, ...] = EXPECTING, rows: int = 3000
) -> tuple[StackedViews, ViewSettings]:
    settings = ViewSettings(views=views, lookahead=lookahead)
    return StackedViews(fit_views([waves(rows)], settings).entity, 3), settings


def test_parts_stand_by_form_and_know_their_numbers() -> None:
    views, _ = stacked(views=(LEVEL, RHYTHM))
    # level, its other channels, rhythm, its other channels, all channels
    assert views.order == [0, 2, 1, 3, 4]
    assert (views.count, views.width) == (2, 2 * 2 * 3)


@pytest.mark.parametrize(
    ("views", "number"), [(EXPECTING, 2), ((LEVEL, RHYTHM), 1), ((LEVEL,), None), ((LOCAL,), 0)]
)
def test_the_local_rhythm_says_what_is_expected_or_another(
    views: tuple[str, ...], number: int | None
) -> None:
    assert stacked(views=views)[0].expects == number


@pytest.mark.parametrize("lookahead", ["full", 0])
@pytest.mark.parametrize("few", [1, 8, 9])
def test_residuals_and_what_they_come_to_are_those_of_a_whole_segment(
    few: int, lookahead: int | str
) -> None:
    views, settings = stacked(lookahead)
    entity = fit_views([waves(3000)], settings).entity
    rows, allowed = waves(1200, seed=1), settings.ahead.residuals
    rows[600] += 30
    looks, whole = entity.look(rows, allowed), combined(entity, rows, allowed)
    left = views.look(rows, 0, 1200)
    for first in (0, 25, 400, 596, 1200 - few):
        last = first + few
        part = views.look(rows, first, last)
        np.testing.assert_array_equal(part.residuals, left.residuals[first:last])
        for number, look in enumerate(looks.expecting.values()):
            own = part.residuals[:, 3 * number : 3 * number + 3]
            np.testing.assert_array_equal(own, look.residuals[first:last])
            np.testing.assert_array_equal(part.judged[:, number], look.judged[first:last])
        found = views.combine(left.residuals, part.judged, first, last, allowed)
        np.testing.assert_allclose(found.values.mean(axis=1), whole.rows[first:last], rtol=1e-12)
        by_part = whole.by_part[views.order, first:last].T
        np.testing.assert_allclose(found.by_part, by_part, rtol=1e-12, atol=1e-15)


def test_without_any_view_there_is_nothing() -> None:
    views = StackedViews(fit_views([waves(600)], ViewSettings(views=("state",))).entity, 3)
    left = views.look(waves(10), 4, 9)
    assert left.residuals.shape == (5, 0)
    assert left.expected is None
    found = views.combine(left.residuals, left.judged, 0, 5, None)
    assert found.values.tolist() == [[0.0] * 3] * 5
    assert found.by_part.shape == (5, 0)


@pytest.mark.parametrize("lookahead", ["full", 0])
def test_means_and_residuals_of_one_row_are_those_of_many(lookahead: int | str) -> None:
    views, settings = stacked(lookahead)
    rows, allowed = waves(900, seed=1), settings.ahead.residuals
    rows[600] += 30
    left = views.look(rows, 0, 900)
    many = views.means(left.residuals, left.judged, 0, 900, allowed)
    combined_ = views.combine(left.residuals, left.judged, 0, 900, allowed)
    np.testing.assert_array_equal(many, combined_.values.sum(axis=1) / 3)
    for row in (0, 25, 199, 200, 400, 600, 610, 699, 700, 899):
        one = views.look(rows, row, row + 1, explained=False)
        assert one.expected is None
        np.testing.assert_array_equal(one.residuals, left.residuals[row : row + 1])
        np.testing.assert_array_equal(one.judged, left.judged[row : row + 1])
        found = views.means(left.residuals, one.judged, row, row + 1, allowed)
        np.testing.assert_allclose(found, many[row : row + 1], rtol=1e-12)
