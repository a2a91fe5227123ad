"""Lines of NDJSON or CSV, in whatever pieces they come, are rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent import InputError, StreamScorer
from subadjacent.streaming.line_reader import MAX_LINE_BYTES, LineReader, measurements
from subadjacent.streaming.line_scorer import MAX_BAD_LINES, LineScorer

CSV = b"time,item_id,flow,label\r\n1,1,2.5,0\r\n\r\n2,1,NA,1\r\n3,01,-1e3,0"
JSON = b'\xef\xbb\xbf{"ts": "2026-01-01", "flow": 1, "speed": null}\n\n{"flow": NaN}\n'


def read(data: bytes, **roles: Any) -> list[Any]:
    reader = LineReader(**roles)
    return reader.feed(data) + reader.finish()


def test_csv_is_told_by_its_header_and_has_roles_by_its_names() -> None:
    lines = read(CSV)
    assert [(line.number, line.time, line.entity) for line in lines] == [
        (2, 1.0, "1"),
        (4, 2.0, "1"),
        (5, 3.0, "01"),
    ]
    assert [dict(line.values) for line in lines] == [{"flow": 2.5}, {"flow": None}, {"flow": -1e3}]


def test_json_is_told_by_its_first_brace() -> None:
    first, second = read(JSON)
    assert (first.number, first.time, first.values) == (1, "2026-01-01", {"flow": 1, "speed": None})
    assert (second.number, second.time) == (3, None)
    assert second.values["flow"] != second.values["flow"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_quotes_of_csv(separator: str) -> None:
    (line,) = read(
        separator.join(["when", '"a b"', "c"]).encode()
        + b'\n"x y"%s1%s2' % ((separator.encode(),) * 2),
        time="when",
    )
    assert (line.time, line.values) == ("x y", {"a b": 1.0, "c": 2.0})


def test_roles_may_be_named() -> None:
    (line,) = read(b'{"when": 3, "who": 7, "time": 4.5}', time="when", entity="who")
    assert (line.time, line.entity, line.values) == (3, "7", {"time": 4.5})


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b'{"a": 1}\n{"a": 1\n[1]\n{"a": 2},{"a": 3}\n7\n', [2, 3, 4, 5]),
        (b'a,b\n1,2\n1\n"1,2\n1,2,3\n\xff,1\n', [3, 4, 5, 6]),
        (b'{"a": ' + b"[" * 100_000 + b"\n", [1]),
        (b'{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n{"a": 4}\n', [2]),
        (b'{"a": 1}\n"must be"\n', [2]),
    ],
)
def test_lines_that_cannot_be_read_say_why(data: bytes, numbers: list[int]) -> None:
    wrong = [line for line in read(data) if line.wrong]
    assert [line.number for line in wrong] == numbers
    assert all(line.wrong.startswith("must ") for line in wrong)


def test_a_line_that_names_a_key_twice_is_told_apart() -> None:
    first, second = read(b'{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n')
    assert first.values == {"a": 1}
    assert second.wrong == "must name every key once; 'a' is there more than once"


def test_a_cell_that_would_go_on_in_the_next_line_spoils_no_other_line() -> None:
    lines = read(b'a,b\n"x\ny",2\n3,4\n')
    assert [line.values for line in lines if not line.wrong][-1] == {"a": 3.0, "b": 4.0}


@pytest.mark.parametrize(
    "header",
    [
        b"a,a\n1,2\n",
        b"a,,b\n1,2,3\n",
        # rows without names, and what is no table at all
        b"1.5,2,3\n4,5,6\n",
        b"2026-01-01,2\n",
        b'a,"b\n1,2\n',
        b"\x00\x01\r\x02\n",
        b"\n\nh\xf6he,a\n1,2\n",
    ],
)
def test_a_header_names_each_column(header: bytes) -> None:
    with pytest.raises(InputError, match="must begin with the names of its columns"):
        read(header)


def test_a_comma_is_a_decimal_mark_where_semicolons_are_between_cells() -> None:
    lines = read(b"a;b;c\n1,5;-,25;2\n1,5e3;1,2,3;\n")
    assert lines[0].values == {"a": 1.5, "b": -0.25, "c": 2.0}
    assert lines[1].values == {"a": 1500.0, "b": "1,2,3", "c": None}
    assert read(b'a|b\n"1,5"|2\n')[0].values == {"a": "1,5", "b": 2.0}


def test_names_that_count_columns_are_names() -> None:
    (line,) = read(b"0,1,2\n5,6,7\n")
    assert line.values == {"0": 5.0, "1": 6.0, "2": 7.0}


@pytest.mark.parametrize("data", [b'[{"a": 1}, {"a": 2}]', b'[\n{"a": 1},\n', b"[[1, 2]]\n"])
def test_a_json_array_is_refused_with_a_way_out(data: bytes) -> None:
    with pytest.raises(InputError, match="line 1 begins a JSON array: jq"):
        read(data)


def test_names_in_brackets_are_names() -> None:
    assert read(b"[a],[b]\n1,2\n")[0].values == {"[a]": 1.0, "[b]": 2.0}


def test_a_column_that_was_asked_for_must_be_there() -> None:
    with pytest.raises(InputError, match="the column 'when', which was requested; it has time, a"):
        read(b"time,a\n1,2\n", time="when")
    lines = read(b'{"a": 1}\n{"a": 2, "who": "x"}\n', entity="who")
    assert [line.wrong for line in lines] == ["must have 'who', which was requested", ""]
    assert lines[1].entity == "x"


def test_a_line_without_an_end_is_not_waited_for() -> None:
    with pytest.raises(InputError, match="line 2 is longer"):
        LineReader().feed(b"a,b\n" + b"1" * (MAX_LINE_BYTES + 1))


@given(st.sampled_from([CSV, JSON]), st.lists(st.integers(0, 30), max_size=10))
def test_pieces_change_nothing(data: bytes, cuts: list[int]) -> None:
    reader, found, start = LineReader(), [], 0
    for cut in cuts:
        found += reader.feed(data[start : start + cut])
        start += cut
    found += reader.feed(data[start:]) + reader.finish()
    assert str(found) == str(read(data))


def test_channels_of_a_new_series_are_its_numbers() -> None:
    row = {"a": 1, "b": 2.5, "c": None, "host": "x", "on": True, "list": [1]}
    assert measurements(row) == ["a", "b", "c"]


def feed(
    data: bytes, scorer: StreamScorer | None = None
) -> tuple[LineScorer, list[Any], list[str]]:
    said: list[str] = []
    one = LineScorer(scorer or StreamScorer(), LineReader(), said.append)
    return one, one.push(data) + one.finish(), said


def test_rows_go_to_their_series_and_bad_lines_are_left_out() -> None:
    rows = [
        {"time": 1, "item_id": "a", "x": 1.0, "host": "h"},
        {"time": 1, "item_id": "b", "x": 2.0, "y": 0},
        {"time": "soon", "item_id": "a", "x": 3.0},
        {"time": 2, "item_id": "a", "x": "high"},
        {"time": 3, "item_id": "a", "x": 4.0, "host": "h"},
    ]
    text = "\n".join(map(json.dumps, [*rows[:2], 7, *rows[2:]]))
    one, answers, said = feed(b"%s\n" % text.encode())
    assert [(a.entity, a.row, a.time) for a in answers] == [("a", 0, 1), ("a", 1, 3), ("b", 0, 1)]
    assert said[0] == "no numbers, so left out: host"
    assert sorted(text[:20] for text in said[1:]) == [
        f"line {number} is left out: " for number in (3, 4, 5)
    ]
    assert any("'x' is 'high'" in text for text in said)
    assert (one.bad, one.rows) == (3, 3)


@pytest.mark.parametrize("together", [True, False])
def test_channels_that_a_series_does_not_have_are_told_however_lines_are_grouped(
    together: bool, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        b'{"a": 1, "host": "x"}\n',
        b'{"a": 2, "host": "x", "new": 5}\n',
        b'{"host": "x", "new": 5}\n',
        b'{"a": 3}\n',
    ]
    said: list[str] = []
    scorer = StreamScorer()
    one = LineScorer(scorer, LineReader(), said.append)
    for part in [b"".join(lines)] if together else lines:
        one.push(part)
    assert said == [
        "no numbers, so left out: host",
        "line 3 is left out: rows must have some of the channels a; got new",
    ]
    assert (scorer.counts[None].accepted, scorer.counts[None].unknown) == (3, 1)
    assert "not a channel of this series, so left out: new" in caplog.text


def test_of_a_series_that_goes_on_it_is_known_what_its_channels_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scorer = StreamScorer()
    feed(b'{"a": 1}\n', scorer)
    _, answers, said = feed(b'{"a": 2, "b": 3}\n', scorer)
    assert [answer.row for answer in answers] == [1]
    assert said == []
    assert "not a channel of this series, so left out: b" in caplog.text


def test_channels_that_were_given_are_taken_alone() -> None:
    one, answers, _ = feed(b'{"x": 1.0, "y": "text"}', StreamScorer(channels=["x"]))
    assert len(answers) == 1
    assert one.bad == 0


def test_what_is_something_else_altogether_is_refused() -> None:
    with pytest.raises(InputError, match=f"{MAX_BAD_LINES} lines could not be read"):
        feed(b'{"a": 1}\n' + b"{\n" * (MAX_BAD_LINES + 5))
    one, _, said = feed(b'{"a": 1}\n' + b"{\n" * (MAX_BAD_LINES - 1))
    assert len(said) == one.bad == MAX_BAD_LINES - 1
