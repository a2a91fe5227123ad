"""The rows that the page holds and the segment of them that it shows, in the browser."""

from __future__ import annotations

from typing import Any

import pytest

from service.page.browsing import CHROMIUM, Module

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

# columns of ten rows, a value each, and a view of them
COLUMNS = """const columns = new m.Columns(["a"]);
  const rows = [...Array(10).keys()];
  columns.merge({rows, values: {a: rows}, severity: rows});"""

VIEW = """let told = 0;
  const columns = {first: 0, last: 1000, interval: 1, length: 1001};
  const view = new m.View(() => told++);
  view.watch(columns);
  const shown = () => [view.from, view.to, view.following];"""


@pytest.fixture(scope="module")
def columns(module: Any) -> Module:
    found: Module = module("columns.js")
    return found


@pytest.fixture(scope="module")
def views(module: Any) -> Module:
    found: Module = module("view.js")
    return found


def test_what_comes_takes_the_place_of_what_is_held_between_its_ends(columns: Module) -> None:
    found = columns(f"""m => {{ {COLUMNS}
      columns.merge({{rows: [2, 5], values: {{a: [20, 50]}}, severity: [0, null]}});
      return [columns.rows, columns.values.a, columns.severity.map(String), columns.low.a.length];
    }}""")
    rows, values, severity, length = found
    assert rows == [0, 1, 2, 5, 6, 7, 8, 9]
    assert values == [0, 1, 20, 50, 6, 7, 8, 9]
    assert severity == ["0", "1", "0", "NaN", "6", "7", "8", "9"]
    assert length == 8


def test_a_row_is_added_or_replaced_wherever_it_belongs(columns: Module) -> None:
    found = columns(f"""m => {{ {COLUMNS}
      columns.merge({{rows: [3, 6], values: {{a: [3, 6]}}}});
      columns.take({{row: 10, values: [100], severity: 1}});
      columns.take({{row: 4, values: {{a: 40}}, severity: 1}});
      columns.take({{row: 4, values: {{a: 41}}, severity: 1}});
      columns.take({{row: 10, values: {{a: null}}}});
      return [columns.rows, columns.values.a.map(String)];
    }}""")
    assert found == [
        [0, 1, 2, 3, 4, 6, 7, 8, 9, 10],
        ["0", "1", "2", "3", "41", "6", "7", "8", "9", "NaN"],
    ]


@pytest.mark.parametrize(
    ("times", "kind", "at"),
    [
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"], "time", [1767225600000, 1767225601000]),
        ([0.5, 1.5], "number", [0.5, 1.5]),
        ([None, None], "row", [7, 9]),
        # one that cannot be read stands where the row before it does
        (["2026-01-01T00:00:00Z", None], "time", [1767225600000, 1767225600000]),
    ],
)
def test_the_first_time_tells_what_the_axis_is(
    columns: Module, times: list[Any], kind: str, at: list[float]
) -> None:
    found = columns(
        """(m, times) => {
      const columns = new m.Columns(["a"]);
      times.forEach((time, i) => columns.take({row: 7 + 2 * i, time, values: [i]}));
      return [columns.kind, columns.at];
    }""",
        times,
    )
    assert found == [kind, at]


def test_the_nearest_row_is_found_and_the_interval_is_that_of_rows(columns: Module) -> None:
    found = columns("""m => {
      const columns = new m.Columns(["a"]);
      columns.merge({rows: [0, 10, 20], times: [0, 5, 10], values: {a: [1, 2, 3]}});
      return [[-9, 2.4, 2.6, 9, 99].map(at => columns.nearest(at)), columns.interval];
    }""")
    assert found == [[0, 0, 1, 2, 2], 0.5]


def test_a_gap_is_ten_times_what_rows_are_usually_apart(columns: Module) -> None:
    found = columns("""m => {
      const columns = new m.Columns(["a"]);
      // a row a second, a hundred of them left out, then nothing for long
      const rows = [...Array(300).keys()].filter(row => row < 100 || row >= 200);
      const times = rows.map(row => row < 250 ? row : row + 60);
      columns.merge({rows, times, values: {a: rows}});
      const gap = columns.gaps();
      return rows.filter((_, i) => gap(i));
    }""")
    assert found == [250]


def test_no_more_rows_are_held_than_the_page_can_bear(columns: Module) -> None:
    length, first, values = columns("""m => {
      const columns = new m.Columns(["a"]);
      const rows = [...Array(200001).keys()];
      columns.merge({rows, values: {a: rows}});
      return [columns.length, columns.rows[0], columns.values.a[0]];
    }""")
    assert (length, first, values) == (180_000, 20_001, 20_001)


def test_at_first_the_latest_rows_are_shown_and_followed(views: Module) -> None:
    found = views(f"""m => {{ {VIEW}
      const first = shown();
      columns.last = 1010;
      view.grown();
      return [first, shown(), told];
    }}""")
    assert found == [[500.5, 1000.5, True], [510.5, 1010.5, True], 2]


def test_zoom_keeps_the_end_of_what_follows_and_else_the_place_that_is_pointed_at(
    views: Module,
) -> None:
    found = views(f"""m => {{ {VIEW}
      view.zoom(0.5);
      const following = shown();
      view.show(400, 600);
      view.zoom(0.5);
      const middle = shown();
      view.zoom(0.5, 460);
      const pointed = shown();
      view.zoom(1e-9);
      return [following, middle, pointed, view.span];
    }}""")
    assert found == [
        [750.5, 1000.5, True],
        [450, 550, False],
        [455, 505, False],
        8,
    ]


def test_the_view_stays_within_the_series_and_its_end_follows(views: Module) -> None:
    found = views(f"""m => {{ {VIEW}
      view.show(-50, 50);
      const start = shown();
      view.pan(1);
      const later = shown();
      view.pan(-99);
      const earliest = shown();
      view.pan(99);
      const latest = shown();
      view.all();
      const all = shown();
      view.zoom(8);
      return [start, later, earliest, latest, all, shown()];
    }}""")
    assert found == [
        [-0.5, 99.5, False],
        [99.5, 199.5, False],
        [-0.5, 99.5, False],
        [900.5, 1000.5, True],
        [-0.5, 1000.5, True],
        [-0.5, 1000.5, True],
    ]


def test_what_does_not_follow_stands_still_until_it_is_asked_to(views: Module) -> None:
    found = views(f"""m => {{ {VIEW}
      view.show(100, 700);
      columns.last = 2000;
      view.grown();
      const still = shown();
      view.follow();
      return [still, shown()];
    }}""")
    assert found == [[100, 700, False], [1400.5, 2000.5, True]]


def test_alarms_lie_half_a_row_to_either_side_and_open_ones_last_on(module: Any) -> None:
    found = module("spans.js")("""m => {
      const columns = {kind: "row", interval: 1, last: 90};
      const alarms = [
        {id: 1, first: 5, last: 5, start: 5, end: 5, state: "closed"},
        {id: 2, first: 50, last: 60, start: 50, end: 60, state: "open"},
      ];
      const timed = {kind: "time", interval: 60000, last: 0};
      const at = "2026-01-01T00:00:00Z";
      return [
        m.spansOf(alarms, columns, alarms[1]),
        m.spansOf([{id: 3, start: at, end: at}, {id: 4, start: "?", end: at}], timed, null),
      ];
    }""")
    jan, half = 1767225600000, 30_000
    assert found == [
        [
            {"id": 1, "from": 4.5, "until": 5.5, "to": 5.5, "chosen": False},
            {"id": 2, "from": 49.5, "until": 60.5, "to": 90.5, "chosen": True},
        ],
        [{"id": 3, "from": jan - half, "until": jan + half, "to": jan + half, "chosen": False}],
    ]


def test_events_are_read_however_they_are_cut(module: Any) -> None:
    stream = module("stream.js")
    text = ': hello\n\nevent: alarm\ndata: {"a":\ndata: 1}\n\r\ndata:x\r\n\r\nevent: none\n\n'
    for size in (1, 2, 5, len(text)):
        found = stream(
            """(m, parts) => {
          const told = [];
          const parser = new m.Parser((event, data) => told.push([event, data]));
          for (const part of parts) parser.feed(part);
          return told;
        }""",
            [text[at : at + size] for at in range(0, len(text), size)],
        )
        assert found == [["alarm", '{"a":\n1}'], ["message", "x"]]


def test_the_worst_series_is_first_and_calm_ones_stand_still(module: Any) -> None:
    listed = module("series_list.js")
    found = listed("""m => [
      {name: "pump 10", state: "calm", severity: 0.9}, {name: "pump 9", state: "calm", severity: 0},
      {name: "b", state: "alarm", severity: 2}, {name: "z", state: "muted", severity: 9},
      {name: "a", state: "alarm", severity: 1.5}, {name: "new", state: "learning", severity: 0},
    ].sort(m.worstFirst).map(one => one.name)""")
    assert found == ["b", "a", "new", "pump 9", "pump 10", "z"]


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ([], "Nothing to watch yet"),
        (["calm"], "The series is calm"),
        (["calm", "muted"], "All 2 series are calm"),
        (["calm", "learning"], "No open alarm; 1 of 2 series still learns"),
        (["learning", "learning"], "No open alarm; 2 of 2 series still learn"),
        (["alarm", "learning"], "1 of 2 series has an open alarm: s0"),
        (["alarm", "alarm"], "2 of 2 series have open alarms, the worst s1"),
    ],
)
def test_the_headline_says_how_it_is(module: Any, states: list[str], text: str) -> None:
    series = [
        {"name": f"s{place}", "state": state, "severity": place}
        for place, state in enumerate(states)
    ]
    assert module("series_list.js")("(m, all) => m.headline(all)", series) == text


def test_alarms_that_nobody_saw_are_told_of_calm_series(module: Any) -> None:
    listed = module("series_list.js")
    calm = {"name": "a", "state": "calm", "severity": 0}
    for unseen, words in ((1, "1 unseen alarm"), (2, "2 unseen alarms")):
        series = {**calm, "unseen": unseen}
        assert listed("(m, one) => m.inWords(one)", series) == f"Calm · {words}"
        assert (
            listed("(m, all) => m.headline(all)", [series]) == f"The series is calm, with {words}"
        )
    assert listed("(m, one) => m.inWords(one)", calm) == "Calm"


@pytest.mark.parametrize(
    ("file", "name"),
    [("pump-7.csv", "pump-7"), ("a.b.csv", "a.b"), (".csv", "upload"), ("plain", "plain")],
)
def test_a_series_is_called_as_its_file(module: Any, file: str, name: str) -> None:
    assert module("upload.js")("(m, file) => m.nameOf(file)", file) == name
