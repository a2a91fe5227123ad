"""Modules of the charts, in the browser that runs them: numbers, times, axes, thinning, views."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from report.browsing import CHROMIUM, Call
from subadjacent.report.page import script

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

JAN = 1_767_225_600_000  # 2026-01-01T00:00:00Z
HOUR, DAY = 3_600_000, 86_400_000
Modules = Callable[[str], Call]

# rows of so many places fall into one column of pixels
EDGE = "at => (Math.floor(at / size) + 1) * size"
PLAIN = "points => points.map(one => one === one ? one : null)"
THIN = f"""(m, at, values, range, size) =>
  ({PLAIN})(m.thin(at, values.map(one => one ?? NaN), m.bins(at, range, {EDGE})))"""
BAND = f"""(m, at, low, high, range, size) => {{
  const [below, above] = [low, high].map(some => some.map(one => one ?? NaN));
  return ({PLAIN})(m.thinBand(at, below, above, m.bins(at, range, {EDGE})));
}}"""
VIEW = """let told = 0;
  const columns = {first: 0, last: 1000, interval: 1, length: 1001};
  const view = new m.View(() => told++, true);
  view.watch(columns);
  const shown = () => [view.from, view.to, view.following];"""


def test_numbers_are_written_as_people_do(module: Modules) -> None:
    written = module("format.js")
    numbers = {
        39_200: "39,200", 0.01337: "0.01337", 3.9: "3.9", -0.0: "0", 12345.678: "12,346",
        100: "100", 1e13: "1e+13", 2.5e-9: "2.5e-9", math.nan: "\N{EN DASH}",
    }  # fmt: skip
    assert written("(m, all) => all.map(one => m.number(one))", list(numbers)) == [
        *numbers.values()
    ]
    # to a step, of large numbers as well
    assert written("m => [m.number(39507999968, 1e4), m.number(2.345, 0.01)]") == [
        *("39,508,000,000", "2.35")
    ]
    assert written("m => [0.04, 30, 7e10].map(m.stepOf)") == [1e-5, 0.01, 1e4]
    along = "m => [[0, 0.5, 1], [0, 20000, 40000], [5]].map(m.along)"
    assert written(along) == [["0.0", "0.5", "1.0"], ["0", "20,000", "40,000"], ["5"]]
    assert written("m => [2.345, 0.96, 123.4].map(m.severity)") == ["2.3", "1.0", "123"]


def test_times_are_read_however_they_are_written(module: Modules) -> None:
    # hours as the data has them; a counter is no date, however far it is
    times = {
        "2026-01-01T00:00:00Z": JAN, "2026-01-01T01:00:00+01:00": JAN, "2026-01-01T00:00:00": JAN,
        "2026-01-01 00:00": JAN, "2026-01-01": JAN, JAN: None, 17: None, "soon": None,
        "2026-99-99T00:00": None, None: None,
    }  # fmt: skip
    found = module("format.js")("(m, all) => all.map(one => m.timeOf(one))", list(times))
    assert found == list(times.values())


def test_times_and_durations_are_written_with_what_is_not_zero(module: Modules) -> None:
    written = module("format.js")
    moments = [JAN + 61_000, JAN + 60_000, JAN + 500, math.nan]
    assert written("(m, all) => all.map(m.moment)", moments) == [
        *("2026-01-01 00:01:01", "2026-01-01 00:01", "2026-01-01 00:00:00.500", "\N{EN DASH}")
    ]
    kinds = "m => ['number', 'row', 'epoch'].map(kind => m.place(1234.5, kind))"
    assert written(kinds) == ["1234.5", "row 1,235", "epoch 1,235"]
    when = "m => [m.when('2026-01-01', 3), m.when(12, 12), m.when(12.5, 3)]"
    assert written(when) == ["2026-01-01 00:00", "row 12", "12.5"]
    lasting = [6_960_000, HOUR, DAY + 2 * HOUR, 61_000, 59_000, 10]
    assert written("(m, all) => all.map(m.lasting)", lasting) == [
        *("1 h 56 min", "1 h", "1 d 2 h", "1 min 1 s", "59 s", "under 1 s")
    ]


def test_ticks_are_round_and_few_and_limits_have_room(module: Modules) -> None:
    axis = module("axis.js")
    assert axis("m => m.valueTicks(0, 10, 5)") == [[one, str(one)] for one in range(0, 11, 2)]
    assert axis("m => m.valueTicks(0.13, 0.31, 3).map(one => one[1])") == ["0.2", "0.3"]
    # at least two, though a finer step is needed for them
    assert axis("m => m.valueTicks(6, 14, 3).map(one => one[1])") == ["6", "8", "10", "12", "14"]
    assert axis("m => [m.niceStep(10, 5), m.niceStep(11, 5), m.niceStep(0, 5)]") == [2, 5, 1]
    limits = axis(
        "m => [[0.3, 9.7], [5, 5], [Infinity, -Infinity]].map(one => m.roundLimits(...one))"
    )
    assert limits == [[-1, 11], [4.5, 5.5], [0, 1]]
    for span, texts in (
        (30 * 1000, ["01 Jan", "00:00:10", "00:00:20", "00:00:30"]),
        (4 * HOUR, ["01 Jan", "01:00", "02:00", "03:00", "04:00"]),
        (3 * DAY, ["01 Jan", "02 Jan", "03 Jan", "04 Jan"]),
        (120 * DAY, ["2026", "Feb", "Mar", "Apr", "May"]),
        (4 * 365 * DAY, ["2026", "2027", "2028", "2029"]),
    ):
        found = axis("(m, from, to) => m.timeTicks(from, to, 5, 'time')", JAN, JAN + span)
        assert [text for _, text in found] == texts
        assert all(JAN <= at <= JAN + span for at, _ in found)
    texts = "(m, to, most, kind) => m.timeTicks(0, to, most, kind).map(one => one[1])"
    assert axis(texts, 3, 9, "row") == ["0", "1", "2", "3"]
    assert axis(texts, 1, 2, "number") == ["0.0", "0.5", "1.0"]


def test_of_every_column_the_lowest_and_the_highest_stay_in_their_order(module: Modules) -> None:
    thin = module("thinning.js")
    # three rows a column of pixels, then rows further apart than pixels
    assert thin(THIN, list(range(7)), [1, 5, 2, 4, 0, 3, 7], [0, 7], 3) == [
        *(0, 1, 1, 5, 3, 4, 4, 0, 6, 7)
    ]
    assert thin(THIN, [0, 1, 2], [3, 1, 2], [0, 3], 0.1) == [0, 3, 1, 1, 2, 2]
    assert thin(THIN, [0, 1, 2], [3, 1, 2], [1, 2], 0.1) == [1, 1]
    # a missing value breaks the line; within one column after what is there
    assert thin(THIN, [0, 1, 2], [3, None, 2], [0, 3], 0.1) == [0, 3, 1, None, 2, 2]
    assert thin(THIN, [0, 1, 2], [3, None, 2], [0, 3], 10) == [0, 3, 2, 2, 2, None]
    # a band is as wide as the widest of its column
    found = thin(BAND, [0, 1, 2, 3, 4], [1, 0, 2, 3, None], [5, 4, 9, 8, 7], [0, 5], 2)
    assert found == [0, 0, 5, 2, 2, 9, 4, None, None]
    assert thin(BAND, [], [], [], [0, 0], 1) == []
    # a long silence breaks both, but not what is in one column of pixels
    code = f"""(m, size) => {{
      const gap = i => i === 2, at = [0, 1, 50, 51], values = [1, 2, 3, 4];
      const starts = m.bins(at, [0, 4], {EDGE});
      const line = m.thin(at, values, starts, gap);
      return [line, m.thinBand(at, values, values, starts, gap)].map({PLAIN});
    }}"""
    assert thin(code, 1) == [
        [0, 1, 1, 2, 50, None, 50, 3, 51, 4],
        [0, 1, 1, 1, 2, 2, 50, None, None, 50, 3, 3, 51, 4, 4],
    ]
    assert thin(code, 1000) == [[0, 1, 51, 4], [0, 1, 4]]


def test_rows_of_a_column_are_found_by_leaps(module: Modules) -> None:
    thin = module("thinning.js")
    at = [*range(100), *range(500, 503), 503, 503, 503]
    for size in (0.5, 1, 7, 64, 1000):
        starts = thin(f"(m, at, range, size) => m.bins(at, range, {EDGE})", at, [3, 105], size)
        columns = [at[row] // size for row in range(3, 105)]
        begins = [row for row in range(3, 105) if row == 3 or columns[row - 3] != columns[row - 4]]
        assert starts == [*begins, 105]
    assert thin(f"(m, size) => m.bins([], [0, 0], {EDGE})", 1) == [0]
    code = "(m, all) => all.map(one => m.search([0, 2, 4, 8], one))"
    assert thin(code, [-1, 0, 1, 2, 2.5, 9, 10]) == [0, 0, 1, 1, 2, 4, 4]
    # what is in view has one more to either side
    code = "(m, all) => all.map(([from, to]) => m.inView([0, 1, 2, 2, 3, 4, 5], from, to))"
    assert thin(code, [[1.5, 2], [-5, 50], [2.1, 2.2]]) == [[1, 5], [0, 7], [3, 5]]
    code = "(m, all) => all.map(([from, to]) => m.within([0, 1, 2, 2, 3], from, to))"
    assert thin(code, [[1, 2], [2.1, 2.2]]) == [[1, 4], [4, 4]]
    code = "m => [m.extremes([9, 3, NaN, 5, -1], [1, 4]), m.extremes([9, 3, 7, 5, -1], [1, 4], 2)]"
    assert thin(code) == [[3, 5], [3, 5]]
    assert thin("m => m.extremes([NaN]).map(String)") == ["Infinity", "-Infinity"]


def test_no_peak_is_lost_and_the_points_are_bounded(module: Modules) -> None:
    thin, width = module("thinning.js"), 400
    for rows in (0, 1, 2, 999, 20_000):
        values = np.random.default_rng(rows).normal(size=rows).round(3)
        values[rows // 3 : rows // 2] = math.nan
        given = [None if math.isnan(one) else one for one in values.tolist()]
        found = thin(THIN, list(range(rows)), given, [0, rows], max(rows, 1) / width)
        points = [
            pair for pair in zip(found[0::2], found[1::2], strict=True) if pair[1] is not None
        ]
        assert len(found) / 2 <= min(2 * rows, thin("m => m.POINTS_PER_COLUMN") * width)
        seen, drawn = values[~np.isnan(values)], [value for _, value in points]
        if len(seen):
            assert (min(drawn), max(drawn)) == (seen.min(), seen.max())
        assert points == sorted(points, key=lambda pair: pair[0])


def test_a_view_follows_zooms_and_stays_within_its_series(module: Modules) -> None:
    views = module("view.js")
    assert views(f"""m => {{ {VIEW}
      const first = shown();
      columns.last = 1010;
      view.grown();
      return [first, shown(), told];
    }}""") == [[500.5, 1000.5, True], [510.5, 1010.5, True], 2]
    # zoom keeps the end of what follows, else the place pointed at
    assert views(f"""m => {{ {VIEW}
      view.zoom(0.5);
      const following = shown();
      view.show(400, 600);
      view.zoom(0.5);
      const middle = shown();
      view.zoom(0.5, 460);
      const pointed = shown();
      view.zoom(1e-9);
      return [following, middle, pointed, view.span];
    }}""") == [[750.5, 1000.5, True], [450, 550, False], [455, 505, False], 8]
    assert views(f"""m => {{ {VIEW}
      const seen = [() => view.show(-50, 50), () => view.pan(1), () => view.pan(-99),
        () => view.pan(99), () => view.all(), () => view.zoom(8)];
      return seen.map(act => {{ act(); return shown(); }});
    }}""") == [
        [-0.5, 99.5, False],
        [99.5, 199.5, False],
        [-0.5, 99.5, False],
        [900.5, 1000.5, True],
        [-0.5, 1000.5, True],
        [-0.5, 1000.5, True],
    ]
    # what does not follow stands still until it is told to
    assert views(f"""m => {{ {VIEW}
      view.show(100, 700);
      columns.last = 2000;
      view.grown();
      const still = shown();
      view.follow();
      return [still, shown()];
    }}""") == [[100, 700, False], [1400.5, 2000.5, True]]


def test_modules_in_one_script_have_no_imports_left_and_come_after_those_they_use() -> None:
    text = script()
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    made = re.findall(r'^modules\["([\w.]+)"\] = ', text, re.MULTILINE)
    assert len(made) == len(set(made)) > 10
    assert made[-1] == "report.js"
    for found in re.finditer(r'^const \{[^}]*\} = modules\["([\w.]+)"\];', text, re.MULTILINE):
        assert f'modules["{found[1]}"] = ' in text[: found.start()]
