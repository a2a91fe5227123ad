"""The rows that the page holds, its alarms, lists and events, in the browser that runs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from report.browsing import CHROMIUM, Call

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

Modules = Callable[[str], Call]

# columns of ten rows, a value each
COLUMNS = """const columns = new m.Columns(["a"]);
  const rows = [...Array(10).keys()];
  columns.merge({rows, values: {a: rows}, severity: rows});"""


def test_rows_take_the_place_of_those_that_are_held(module: Modules) -> None:
    columns = module("columns.js")
    assert columns(f"""m => {{ {COLUMNS}
      columns.merge({{rows: [2, 5], values: {{a: [20, 50]}}, severity: [0, null]}});
      return [columns.rows, columns.values.a, columns.severity.map(String), columns.low.a.length];
    }}""") == [
        [0, 1, 2, 5, 6, 7, 8, 9],
        [0, 1, 20, 50, 6, 7, 8, 9],
        ["0", "1", "0", "NaN", "6", "7", "8", "9"],
        8,
    ]
    # one by one, wherever it belongs
    assert columns(f"""m => {{ {COLUMNS}
      columns.merge({{rows: [3, 6], values: {{a: [3, 6]}}}});
      columns.take({{row: 10, values: [100], severity: 1}});
      columns.take({{row: 4, values: {{a: 40}}, severity: 1}});
      columns.take({{row: 4, values: {{a: 41}}, severity: 1}});
      columns.take({{row: 10, values: {{a: null}}}});
      const [channel, severity] = [0, "severity"].map(key => columns.lines(key).values);
      return [columns.rows, channel.map(String), severity.length];
    }}""") == [
        [0, 1, 2, 3, 4, 6, 7, 8, 9, 10],
        ["0", "1", "2", "3", "41", "6", "7", "8", "9", "NaN"],
        10,
    ]
    # no more than the page can bear
    assert columns("""m => {
      const columns = new m.Columns(["a"]);
      const rows = [...Array(200001).keys()];
      columns.merge({rows, values: {a: rows}});
      return [columns.length, columns.rows[0], columns.values.a[0]];
    }""") == [180_000, 20_001, 20_001]


def test_the_first_time_tells_what_the_axis_is(module: Modules) -> None:
    columns = module("columns.js")
    first, second = 1767225600000, 1767225601000
    for times, kind, at in (
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"], "time", [first, second]),
        ([0.5, 1.5], "number", [0.5, 1.5]),
        ([None, None], "row", [7, 9]),
        # one that cannot be read stands where the row before it does
        (["2026-01-01T00:00:00Z", None], "time", [first, first]),
    ):
        code = """(m, times) => {
          const columns = new m.Columns(["a"]);
          times.forEach((time, i) => columns.take({row: 7 + 2 * i, time, values: [i]}));
          return [columns.kind, columns.at];
        }"""
        assert columns(code, times) == [kind, at]


def test_the_nearest_row_and_gaps_are_found(module: Modules) -> None:
    columns = module("columns.js")
    assert columns("""m => {
      const columns = new m.Columns(["a"]);
      columns.merge({rows: [0, 10, 20], times: [0, 5, 10], values: {a: [1, 2, 3]}});
      return [[-9, 2.4, 2.6, 9, 99].map(at => columns.nearest(at)), columns.interval];
    }""") == [[0, 0, 1, 2, 2], 0.5]
    # a row a second, a hundred of them left out, then nothing for ten times as long
    assert columns("""m => {
      const columns = new m.Columns(["a"]);
      const rows = [...Array(300).keys()].filter(row => row < 100 || row >= 200);
      columns.merge({rows, times: rows.map(row => row < 250 ? row : row + 60), values: {a: rows}});
      const gap = columns.gaps();
      return rows.filter((_, i) => gap(i));
    }""") == [250]


def test_alarms_lie_half_a_row_to_either_side_and_open_ones_last_on(module: Modules) -> None:
    found = module("spans.js")("""m => {
      const columns = {kind: "row", interval: 1, last: 90};
      const alarms = [
        {id: 1, first: 5, last: 5, start: 5, end: 5, state: "closed"},
        {id: 2, first: 50, last: 60, start: 50, end: 60, state: "open"},
      ];
      const timed = {kind: "time", interval: 60000, last: 0}, at = "2026-01-01T00:00:00Z";
      const some = [{id: 3, start: at, end: at}, {id: 4, start: "?", end: at}];
      return [...m.spansOf(alarms, columns, alarms[1]), ...m.spansOf(some, timed, null)]
        .map(one => [one.id, one.from, one.until, one.to, one.chosen]);
    }""")
    jan, half = 1767225600000, 30_000
    assert found == [
        [1, 4.5, 5.5, 5.5, False],
        [2, 49.5, 60.5, 90.5, True],
        [3, jan - half, jan + half, jan + half, False],
    ]


def test_events_are_read_however_they_are_cut(module: Modules) -> None:
    text = ': hello\n\nevent: alarm\ndata: {"a":\ndata: 1}\n\r\ndata:x\r\n\r\nevent: none\n\n'
    for size in (1, 2, 5, len(text)):
        found = module("stream.js")(
            """(m, parts) => {
          const told = [];
          const parser = new m.Parser((event, data) => told.push([event, data]));
          for (const part of parts) parser.feed(part);
          return told;
        }""",
            [text[at : at + size] for at in range(0, len(text), size)],
        )
        assert found == [["alarm", '{"a":\n1}'], ["message", "x"]]


def test_the_worst_series_is_first(module: Modules) -> None:
    listed = module("series_list.js")
    assert listed("""m => [
      {name: "pump 10", state: "calm", severity: 0.9}, {name: "pump 9", state: "calm", severity: 0},
      {name: "b", state: "alarm", severity: 2}, {name: "z", state: "muted", severity: 9},
      {name: "a", state: "alarm", severity: 1.5}, {name: "new", state: "learning", severity: 0},
    ].sort(m.worstFirst).map(one => one.name)""") == ["b", "a", "new", "pump 9", "pump 10", "z"]
    calm = {"name": "a", "state": "calm", "severity": 0}
    for unseen, words in ((1, "1 unseen alarm"), (2, "2 unseen alarms")):
        assert listed("(m, one) => m.inWords(one)", {**calm, "unseen": unseen}) == f"Calm · {words}"
    assert listed("(m, one) => m.inWords(one)", calm) == "Calm"


def test_the_headline_without_alarms(module: Modules) -> None:
    said = module("headline.js")
    for states, severity, text in (
        ("", 0, "Nothing to watch yet"),
        ("calm", 0.4, "Nothing stands out in 1 series"),
        ("calm", 0.6, "No alarm; one weak sign: flow of s0 at row 9, severity 0.6"),
        ("calm muted", 0.4, "Nothing stands out in 2 series"),
        ("calm learning", 0.4, "No open alarm; 1 of 2 series still learns"),
        ("learning learning", 0.4, "No open alarm; 2 of 2 series still learn"),
        ("alarm learning", 1, "1 of 2 series has an open alarm, s0"),
        ("alarm alarm", 1, "2 of 2 series have open alarms, the worst s0"),
    ):
        series = [
            # what is muted is as severe as can be
            {"name": f"s{place}", "state": state, "severity": 9 if state == "muted" else severity,
             "channels": ["flow"], "rows": 10, "last_time": None}
            for place, state in enumerate(states.split())
        ]  # fmt: skip
        assert said("(m, all) => m.headline(all)", series) == text


def test_the_headline_says_how_many_alarms_the_worst_and_the_latest(module: Modules) -> None:
    said = module("headline.js")
    first = {
        "id": 1, "series": "pump", "start": "2026-01-02T12:57:00Z", "first": 3, "severity": 4,
        "status": "confirmed", "sentence": "flow jumped to 9",
    }  # fmt: skip
    latest = {**first, "id": 2, "series": "fan", "start": "2026-01-03T12:00:00Z", "severity": 2}
    calm = {"name": "fan", "state": "calm", "severity": 0, "unseen": 1, "open_alarm": None}

    def headline(series: dict[str, Any], *alarms: dict[str, Any]) -> str:
        text: str = said("(m, [all, alarms]) => m.headline(all, alarms)", [[series], list(alarms)])
        return text

    worst = "in pump at 2026-01-02 12:57: flow jumped to 9"
    assert headline(calm, first) == f"No open alarm in 1 series. 1 unseen alarm, {worst}"
    assert headline(calm, first, latest) == (
        f"No open alarm in 1 series. 2 alarms, 1 unseen. The worst {worst}. "
        "The latest in fan at 2026-01-03 12:00"
    )
    assert headline(calm, first, {**latest, "severity": 5}) == (
        "No open alarm in 1 series. 2 alarms, 1 unseen. The worst and latest in fan at "
        "2026-01-03 12:00: flow jumped to 9"
    )
    withdrawn = {**first, "status": "withdrawn"}
    assert headline({**calm, "unseen": 0}, withdrawn) == "Nothing stands out in 1 series"
    opened = {**calm, "state": "alarm", "open_alarm": 2}
    assert headline(opened, first, latest) == ("Open alarm in fan: flow jumped to 9")


def test_a_series_is_called_as_its_file(module: Modules) -> None:
    names = ["pump-7.csv", "a.b.csv", ".csv", "plain"]
    found = module("upload.js")("(m, all) => all.map(m.nameOf)", names)
    assert found == ["pump-7", "a.b", "upload", "plain"]
