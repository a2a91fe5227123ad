"""Thinning, in the browser that runs it: what is drawn looks the same, and is bounded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from service.page.browsing import CHROMIUM, Module

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

# rows of so many places fall into one column of pixels
EDGE = "at => (Math.floor(at / size) + 1) * size"
THIN = f"""(m, at, values, range, size) =>
  m.thin(at, values.map(one => one ?? NaN), m.bins(at, range, {EDGE}))
   .map(one => one === one ? one : null)"""
BAND = f"""(m, at, low, high, range, size) =>
  m.thinBand(at, low.map(one => one ?? NaN), high.map(one => one ?? NaN), m.bins(at, range, {EDGE}))
   .map(one => one === one ? one : null)"""


@pytest.fixture(scope="module")
def thinning(module: Any) -> Module:
    found: Module = module("thinning.js")
    return found


def test_of_every_column_the_lowest_and_the_highest_stay_in_their_order(thinning: Module) -> None:
    values = [1, 5, 2, 4, 0, 3, 7]
    # three rows a column of pixels
    found = thinning(THIN, list(range(7)), values, [0, 7], 3)
    assert found == [0, 1, 1, 5, 3, 4, 4, 0, 6, 7]


def test_where_rows_are_further_apart_than_pixels_all_of_them_stay(thinning: Module) -> None:
    assert thinning(THIN, [0, 1, 2], [3, 1, 2], [0, 3], 0.1) == [0, 3, 1, 1, 2, 2]
    assert thinning(THIN, [0, 1, 2], [3, 1, 2], [1, 2], 0.1) == [1, 1]


def test_a_missing_value_breaks_the_line(thinning: Module) -> None:
    assert thinning(THIN, [0, 1, 2], [3, None, 2], [0, 3], 0.1) == [0, 3, 1, None, 2, 2]
    # within one column as well, after what is there
    assert thinning(THIN, [0, 1, 2], [3, None, 2], [0, 3], 10) == [0, 3, 2, 2, 2, None]


def test_a_long_silence_breaks_the_line_and_the_band(thinning: Module) -> None:
    code = f"""(m, size) => {{
      const gap = i => i === 2, at = [0, 1, 50, 51], values = [1, 2, 3, 4];
      const starts = m.bins(at, [0, 4], {EDGE});
      const whole = points => points.map(one => one === one ? one : null);
      const band = m.thinBand(at, values, values, starts, gap);
      return [whole(m.thin(at, values, starts, gap)), whole(band)];
    }}"""
    line, band = thinning(code, 1)
    assert line == [0, 1, 1, 2, 50, None, 50, 3, 51, 4]
    assert band == [0, 1, 1, 1, 2, 2, 50, None, None, 50, 3, 3, 51, 4, 4]
    # what is in one column of pixels is not torn apart
    assert thinning(code, 1000) == [[0, 1, 51, 4], [0, 1, 4]]


def test_rows_of_a_column_are_found_by_leaps(thinning: Module) -> None:
    at = [*range(100), *range(500, 503), 503, 503, 503]
    for size in (0.5, 1, 7, 64, 1000):
        starts = thinning(f"(m, at, range, size) => m.bins(at, range, {EDGE})", at, [3, 105], size)
        columns = [at[row] // size for row in range(3, 105)]
        begins = [row for row in range(3, 105) if row == 3 or columns[row - 3] != columns[row - 4]]
        assert starts == [*begins, 105]
    assert thinning(f"(m, size) => m.bins([], [0, 0], {EDGE})", 1) == [0]


def test_a_band_is_as_wide_as_the_widest_of_its_column(thinning: Module) -> None:
    low, high = [1, 0, 2, 3, None], [5, 4, 9, 8, 7]
    found = thinning(BAND, [0, 1, 2, 3, 4], low, high, [0, 5], 2)
    assert found == [0, 0, 5, 2, 2, 9, 4, None, None]
    assert thinning(BAND, [], [], [], [0, 0], 1) == []


@pytest.mark.parametrize(
    ("sought", "place"), [(-1, 0), (0, 0), (1, 1), (2, 1), (2.5, 2), (9, 4), (10, 4)]
)
def test_search_finds_the_first_that_is_not_below(
    thinning: Module, sought: float, place: int
) -> None:
    values = [0, 2, 4, 8]
    assert thinning("(m, values, sought) => m.search(values, sought)", values, sought) == place


def test_what_is_in_view_has_one_more_to_either_side(thinning: Module) -> None:
    code = "(m, from, to) => m.inView([0, 1, 2, 2, 3, 4, 5], from, to)"
    assert thinning(code, 1.5, 2) == [1, 5]
    assert thinning(code, -5, 50) == [0, 7]
    assert thinning(code, 2.1, 2.2) == [3, 5]
    code = "(m, from, to) => m.within([0, 1, 2, 2, 3], from, to)"
    assert thinning(code, 1, 2) == [1, 4]
    assert thinning(code, 2.1, 2.2) == [4, 4]


def test_extremes_leave_out_what_is_missing(thinning: Module) -> None:
    code = "(m, range) => m.extremes([9, 3, NaN, 5, -1], range)"
    assert thinning(code, [1, 4]) == [3, 5]
    assert thinning("m => m.extremes([9, 3, 7, 5, -1], [1, 4], 2)") == [3, 5]
    assert thinning("m => m.extremes([9, 3])") == [3, 9]
    assert thinning("m => m.extremes([NaN], [0, 1]).map(String)") == ["Infinity", "-Infinity"]


@pytest.mark.parametrize("rows", [0, 1, 2, 999, 100_000])
def test_no_peak_is_lost_and_the_points_are_bounded(thinning: Module, rows: int) -> None:
    values = np.random.default_rng(rows).normal(size=rows).round(3)
    values[rows // 3 : rows // 2] = math.nan
    given = [None if math.isnan(one) else one for one in values.tolist()]
    width = 400
    found = thinning(THIN, list(range(rows)), given, [0, rows], max(rows, 1) / width)
    places = [at for at, value in zip(found[0::2], found[1::2], strict=True) if value is not None]
    drawn = [value for value in found[1::2] if value is not None]
    most = thinning("m => m.POINTS_PER_COLUMN")
    assert len(found) / 2 <= min(2 * rows, most * width)
    seen = values[~np.isnan(values)]
    if len(seen):
        assert (min(drawn), max(drawn)) == (seen.min(), seen.max())
    assert places == sorted(places)
