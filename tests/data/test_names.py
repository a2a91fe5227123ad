"""One table of names: a frame and a file give a column the same meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from subadjacent.data.files import open_files
from subadjacent.data.inputs import read
from subadjacent.data.names import (
    ENTITY_NAMES,
    LABEL_NAMES,
    TIME_NAMES,
    as_word,
    columns_named,
    look_like_labels,
)

LABELS = [0, 1, 0]


def test_columns_come_in_the_order_of_the_table_whatever_their_case() -> None:
    assert columns_named(("b", "a"), ["A", 3, "c", "B", "a"]) == ["B", "A", "a"]
    assert columns_named(("a",), ["ab", 1]) == []


def test_a_column_has_one_role_in_a_frame_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plant.csv"
    roles = {"label": LABEL_NAMES, "time": TIME_NAMES, "entity": ENTITY_NAMES}
    cells = {"label": LABELS, "time": [10, 20, 30], "entity": ["x", "y", "x"]}
    for role, names in roles.items():
        for name in (*names, *(name.upper() for name in names)):
            frame = pl.DataFrame({"flow": [1.0, 2.0, 3.0], name: cells[role]})
            series = read(frame).series
            assert {one.channels for one in series} == {("flow",)}
            assert [one.entity for one in series] == (["x", "y"] if role == "entity" else [None])
            assert series[0].label(1) == (20 if role == "time" else 1)
            frame.write_csv(path)
            rows = open_files([str(path)])
            found = {"label": rows.label, "time": rows.time, "entity": rows.entity}
            assert found == {**dict.fromkeys(roles), role: name}
            assert rows.channels == ("flow",)
            labels = rows.whole().labels
            assert (None if labels is None else labels.tolist()) == (
                LABELS if role == "label" else None
            )


def test_a_second_time_column_of_a_file_is_no_channel_that_the_frame_would_refuse(
    tmp_path: Path,
) -> None:
    path = tmp_path / "plant.csv"
    path.write_text("Time,ts,a\n2026-01-01,1,5\n2026-01-02,2,6\n2026-01-03,3,7\n")
    rows = open_files([str(path)])
    assert (rows.time, rows.channels) == ("Time", ("a",))
    assert "column 'ts' is left out: another column has that part" in rows.notes
    assert read(rows.whole().frame).series[0].channels == ("a",)


def test_a_label_is_one_word_however_it_is_written() -> None:
    cases: list[Any] = [
        (1, "1"), (1.0, "1"), ("-1.00", "-1"), (True, "true"), (" Normal ", "normal"),
        ("A ttack", "attack"), ("\u22121", "-1"), (0.5, "0.5"), ("v1.0", "v1"), ("", ""),
    ]  # fmt: skip
    for value, word in cases:
        assert as_word(value) == word


def test_two_words_for_labels_at_most_look_like_labels() -> None:
    likely: list[Any] = [
        [0, 1], [1], [0.0], [-1, 1], ["yes", "NO"], ["Normal", "Attack"], [True, False],
        ["0", 0, 1],
    ]  # fmt: skip
    assert all(map(look_like_labels, likely))
    unlikely: list[Any] = [[], [0, 1, 2], [-1, 0, 1], [20], [0.5, 1], ["on", "off"]]
    assert not any(map(look_like_labels, unlikely))
