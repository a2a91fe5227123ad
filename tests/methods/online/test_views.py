"""How far rows depart from what a channel normally does."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.history import MINI_BATCH
from subadjacent.methods.online.views import AVERAGED_ROWS, BURN_IN, ChannelViews, view_count


def after_burn_in() -> ChannelViews:
    views = ChannelViews(2)
    views.add(np.random.default_rng(0).standard_normal((BURN_IN, 2)) * [1, 50] + [0, 1_000])
    views.end_burn_in()
    return views


def test_each_view_is_its_definition() -> None:
    views = after_burn_in()
    rows = np.random.default_rng(1).standard_normal((MINI_BATCH, 2)) * [1, 50] + [0, 1_000]
    found = views.departures(views.add(rows))
    assert found.by_view.shape == (MINI_BATCH, view_count(2), 2)
    negligible = views.moments.negligible
    np.testing.assert_allclose(found.by_view[:, 0], np.abs(found.near) + negligible)
    # residuals before the first are taken to be 0
    sums = np.abs(np.add.accumulate(found.sub_adjacent))
    np.testing.assert_allclose(found.by_view[:, 1], sums / AVERAGED_ROWS + negligible)
    # there is no reference yet
    np.testing.assert_allclose(found.by_view[:, 2:-2], np.tile(negligible, (MINI_BATCH, 2, 1)))
    apart = views.relations.residuals(views.standardiser.standardise(rows))
    np.testing.assert_allclose(found.by_view[:, -2], np.abs(apart) + negligible)
    deviation = views.history.last(30).std(axis=0)
    np.testing.assert_allclose(found.by_view[-1, -1], 1 / (deviation + 0.02))


def test_a_single_channel_has_no_view_of_others() -> None:
    assert (view_count(1), view_count(2)) == (5, 6)
    views = ChannelViews(1)
    views.add(np.random.default_rng(0).standard_normal((BURN_IN, 1)))
    views.end_burn_in()
    departures = views.departures(views.add(np.array([[9.0]])))
    # after the distances comes the stillness
    assert departures.by_view.shape == (1, 5, 1)
    deviation = views.history.last(30).std(axis=0)
    np.testing.assert_allclose(departures.by_view[0, -1], 1 / (deviation + 0.02))


def test_what_stands_in_for_a_missing_value_does_not_depart_from_the_others() -> None:
    views = after_burn_in()
    standardised = views.add(np.array([[9.0, 1_000.0]]), np.array([[False, True]]))
    departs = views.departures(standardised).by_view[0, -2] - views.moments.negligible
    assert departs[0] > 1
    assert departs[1] == pytest.approx(0)
    # of the next row it is known again
    assert (views.departures(views.add(np.array([[9.0, 1_000.0]]))).by_view[0, -2] > 0.2).all()


def test_what_is_missing_is_what_is_expected_of_it_however_rows_are_grouped() -> None:
    together, one_by_one = after_burn_in(), after_burn_in()
    rows = np.random.default_rng(1).standard_normal((14, 2)) * [1, 50] + [0, 1_000]
    missing = np.zeros(rows.shape, dtype=bool)
    missing[2:12, 1] = missing[13] = True
    found = together.add(rows, missing)
    for number, row in enumerate(rows):
        standardised = one_by_one.add(row[None], missing[number][None])
        np.testing.assert_allclose(found[number], standardised[0])
        residual = one_by_one.departures(standardised).sub_adjacent[0]
        assert ((np.abs(residual) < 1e-12) == missing[number]).all()
    np.testing.assert_array_equal(
        found[~missing], together.standardiser.standardise(rows)[~missing]
    )


def test_what_is_expected_is_in_the_units_of_the_series() -> None:
    views = after_burn_in()
    rows = np.array([[0.0, 1_000.0]])
    standardised = views.add(rows)
    departures = views.departures(standardised)
    usual = views.expected_range(departures, np.ones(1, dtype=bool))
    residuals = departures.sub_adjacent * views.standardiser.unit
    np.testing.assert_allclose(rows - usual.expected, residuals)
    np.testing.assert_allclose(usual.high - usual.low, 6 * views.standardiser.unit[None])


def test_windows_that_nearly_overlap_a_row_are_no_references() -> None:
    views = after_burn_in()
    views.history.normal(BURN_IN)[:] = True
    # the latest 16 windows that end before the exclusion zone of 32 rows
    views.add_references(16, waiting=0)
    again = views.history.last(48)[:16].copy()
    assert views.references.nearest_distances(again).max() == pytest.approx(0, abs=1e-6)
    assert views.references.nearest_distances(views.history.last(16)).min() > 0.1
