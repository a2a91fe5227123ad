"""Which columns are channels, which are left out, and what a user says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent.data.files import Columns, Rows, open_files
from subadjacent.data.files.blocks import Block
from subadjacent.data.files.cells import Marks, counts_rows
from subadjacent.errors import InputError


@pytest.fixture
def open_text(tmp_path: Path):  # type: ignore[no-untyped-def]
    def put(text: str, **given: Any) -> Rows:
        (tmp_path / "plant.csv").write_text(text)
        return open_files([str(tmp_path / "plant.csv")], Columns(**given))

    return put


def refusal(open_text: Any, text: str, **given: Any) -> str:
    with pytest.raises(InputError) as caught:
        open_text(text, **given).whole()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# text


def test_text_is_what_is_numbers_in_fewer_than_half_of_its_cells(open_text: Any) -> None:
    cases: list[Any] = [
        (["x", "y"], True), (["1", "x", "y"], True), (["1", "x"], False), (["", "x", ""], True),
        (["1", "x", "", "NA"], False), (["", "x", "y", "1"], True), (["$5", "$6"], True),
        (["45%", "3"], False), (["yes", "no"], True), (["true", "x"], False),
    ]  # fmt: skip
    for cells, is_text in cases:
        rows = open_text("a,c\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
        assert rows.channels == (("a",) if is_text else ("a", "c"))
        assert ("column 'c' is left out: it holds text" in rows.notes) == is_text


def test_columns_that_are_left_out_for_one_reason_share_a_note(open_text: Any) -> None:
    rows = open_text("a,b,c,d\n1,x,y,\n2,x,y,NA\n")
    assert rows.channels == ("a",)
    assert rows.notes == (
        "columns 'b', 'c' are left out: each holds text",
        "column 'd' is left out: it is empty in the first 2 rows",
    )


def test_many_columns_are_not_all_named(open_text: Any) -> None:
    names = [f"c{n}" for n in range(9)]
    (note,) = open_text(",".join(["a", *names]) + "\n1" + ",x" * 9 + "\n").notes
    listed = ", ".join(map(repr, names[:5]))
    assert note == f"columns {listed} and 4 more are left out: each holds text"
    (note,) = open_text(",".join(["a", *names[:5]]) + "\n1" + ",x" * 5 + "\n").notes
    assert note == f"columns {listed} are left out: each holds text"


def test_one_bad_cell_is_named_wherever_it_is(open_text: Any) -> None:
    text = "a,b\n" + "1,2\n" * 3000 + "1,Bad Input\n" + "1,2\n"
    message = refusal(open_text, text)
    assert "plant.csv, line 3002, column 'b', must hold a number" in message
    assert "(--ignore 'b')" in message
    assert "(--missing 'Bad Input')" in message


def test_columns_that_count_rows_under_such_a_name_are_left_out(open_text: Any) -> None:
    rows = open_text("Row,Unnamed: 0,count,a\n5,0,0,1\n6,1,1,5\n7,2,2,2\n")
    assert rows.channels == ("count", "a")
    assert open_text("index,a\n5,1\n7,2\n").channels == ("index", "a")
    rows = open_text(",timestamp,a,\n0,2024-01-01,1,\n1,2024-01-02,1,\n")
    assert rows.channels == ("a",)
    assert sum("left out" in note for note in rows.notes) == 2
    assert not counts_rows(pl.Series(["1", "", "2"]))
    assert not counts_rows(pl.Series(["1"]))
    assert counts_rows(pl.Series([3, 4, 5]))


# what a user says


def test_columns_are_left_out_and_taken_by_name(open_text: Any) -> None:
    text = "a,b,c,d\n1,2,3,4\n"
    assert open_text(text, ignore=("b", "c, d")).channels == ("a",)
    assert open_text(text, only=("d,a", "b")).channels == ("d", "a", "b")
    assert open_text(text, only=("a",)).notes == ()
    assert open_text('"a,b",a,b\n1,2,3\n', ignore=("a,b",)).channels == ("a", "b")


def test_what_is_left_out_plays_no_part(open_text: Any) -> None:
    rows = open_text("time,item_id,label,a\n0,x,0,1\n1,y,1,2\n", ignore=("time,item_id,label",))
    assert (rows.time, rows.entity, rows.label, rows.channels) == (None, None, None, ("a",))


def test_a_column_that_is_taken_is_no_time_nor_entity(open_text: Any) -> None:
    rows = open_text("ts,time,a\n1,5,2\n2,6,4\n", only=("a,ts",))
    assert (rows.time, rows.channels) == ("time", ("a", "ts"))


def test_what_cannot_be_is_refused(open_text: Any) -> None:
    cases: list[Any] = [
        ({"ignore": ("Fow",)}, "columns to be left out; it has no 'Fow': the nearest are 'flow'"),
        ({"only": ("HEAT",)}, "columns to be taken; it has no 'HEAT': the nearest are 'heat'"),
        ({"ignore": ("flow,xyz",)}, "it has no 'xyz': it has 'flow', 'heat', 'text', 'attack'"),
        ({"ignore": ("flow",), "only": ("flow",)}, "both named and left out; got 'flow'"),
        ({"ignore": ("flow",), "time": "flow"}, "both named and left out; got 'flow'"),
        ({"only": ("attack",)}, "column 'attack' seems to hold them: rename it"),
        ({"only": ("text",)}, "line 2, column 'text', must hold a number"),
        ({"ignore": ("flow,heat",)}, "at least one column of numbers; line 2, column 'text'"),
        ({"ignore": ("flow,heat,text",)}, "numbers beside time, entity and label; it has none"),
    ]
    for given, said in cases:
        assert said in refusal(open_text, "flow,heat,text,attack\n1,2,x,0\n3,4,y,1\n", **given)


def test_the_nearest_names_are_at_most_three(open_text: Any) -> None:
    header = ",".join(f"flow_{n}" for n in range(9))
    said = refusal(open_text, header + "\n" + "1," * 8 + "1\n", only=("flow",))
    assert "it has no 'flow': the nearest are" in said
    assert said.count("'flow_") == 3


def test_a_model_knows_its_channels(open_text: Any) -> None:
    text = "a,b,note,target\n1,,x,0\n2,,y,1\n"
    rows = open_text(text, known=("target", "b"))
    assert rows.channels == ("target", "b")
    assert rows.label is None
    assert rows.notes == ("columns 'a', 'note' are left out: each is unknown to the model",)
    # what a file does not have is for the detector to say
    assert open_text(text, known=("b", "z")).channels == ("a",)


# words for missing


def test_more_words_and_numbers_may_stand_for_missing(open_text: Any) -> None:
    text = "a,b\n1,Bad Input\n-200,BAD INPUT \n-200.0,3\n4,-200.5\n"
    frame = open_text(text, missing=("bad input", "-200")).whole().frame
    assert frame["a"].to_list() == [1, None, None, 4]
    assert frame["b"].to_list() == [None, None, 3, -200.5]
    assert open_text(text, missing=("Bad Input",)).whole().frame["a"].to_list()[1] == -200


def test_they_are_missing_among_decimal_commas_and_in_columns_of_any_type() -> None:
    frame = pl.DataFrame(
        {
            "text": ["-200,0", "1,5", None],
            "whole": pl.Series([-200, 1, None], dtype=pl.Int16),
            "float": [-200.0, 1.5, None],
            "kind": pl.Series(["bad", "good", None], dtype=pl.Categorical),
            "on": [True, False, None],
        }
    )
    found = Block(frame, "x", range(3), marks=Marks(",", ".")).without(["-200", "BAD", "99999"])
    assert [found.frame[name].null_count() for name in frame.columns] == [2, 2, 2, 2, 1]
    assert found.frame["whole"].dtype == pl.Int16
    assert Block(frame, "x", range(3)).without([]).frame is frame


# labels


def test_labels_are_found_and_never_channels(open_text: Any) -> None:
    cases: list[Any] = [
        ("changepoint,a,anomaly\n0,1,0\n0,2,1\n", "anomaly", ("a",)),
        ("a,Normal/Attack\n1,Normal\n2,Attack\n", "Normal/Attack", ("a",)),
        ("a,target\n1,0\n2,1\n", "target", ("a",)),
        ("a,target,label\n1,0,1\n2,1,0\n", "label", ("a",)),
        ("a,target\n1,20\n2,21\n", None, ("a", "target")),
        ("a,class\n1,x\n2,y\n", None, ("a",)),
        ("a,ground_truth\n1,7\n2,8\n", "ground_truth", ("a",)),
    ]
    for text, label, channels in cases:
        rows = open_text(text)
        assert (rows.label, rows.channels) == (label, channels)
    rows = open_text("a,y,attack\n1,0,0\n2,1,1\n", label="y")
    assert (rows.label, rows.channels) == ("y", ("a",))
    assert "column 'attack' is left out" in rows.notes[0]


def test_a_second_column_of_labels_is_said_to_be_left_out(open_text: Any) -> None:
    rows = open_text("a,anomaly,changepoint\n1,0,0\n2,1,1\n")
    assert rows.notes == (
        "column 'anomaly' is taken for labels and kept out of the channels",
        "column 'changepoint' is left out: it seems to hold labels",
    )


def test_a_sign_far_down_tells_what_ones_mean(open_text: Any) -> None:
    rows = open_text("a,label\n" + "1,1\n" * 25_000 + "1,-1\n")
    assert rows.notes[-1] == "labels in 'label' are -1 for anomalous and 1 for normal"
    labels = rows.whole().labels
    assert labels is not None
    np.testing.assert_array_equal(np.flatnonzero(labels), [25_000])
    assert open_text("a,label\n1,1\n1,1\n").whole().labels.tolist() == [1, 1]


def test_a_blank_label_matters_only_where_labels_are_needed(
    open_text: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rows = open_text("a,label\n1,0\n2,\n3,1\n")
    with pytest.raises(InputError, match="line 3, column 'label', must hold 0 or 1"):
        rows.whole()
    assert rows.whole(labels="skip").labels is None
    assert not caplog.messages
    assert rows.whole(labels="take").labels is None
    (said,) = caplog.messages
    assert said.startswith("there are no labels, since one cannot be read: ")
    assert "line 3, column 'label'" in said
    parts = list(rows.chunks(1, labels="take"))
    assert [part.labels is None for part in parts] == [False, True, True]
    assert len(rows.whole(labels="take")) == 3


# Parquet


def test_text_and_nested_columns_of_parquet_are_left_out(tmp_path: Path) -> None:
    data = {
        "number": ["1.5", "NA", "\u22123 %"],
        "text": ["x", "y", "z"],
        "kind": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        "list": [[1], [2], [3]],
        "bytes": [b"1", b"2", b"3"],
        "enum": pl.Series(["1", "2", "3"], dtype=pl.Enum(["1", "2", "3"])),
        "nothing": pl.Series([None] * 3, dtype=pl.Null),
        "gap": [float("nan")] * 3,
    }
    pl.DataFrame(data).write_parquet(tmp_path / "x.parquet")
    rows = open_files([str(tmp_path / "x.parquet")])
    assert rows.channels == ("number", "enum")
    assert rows.whole().frame["number"].to_list() == [1.5, None, -3]
    assert rows.whole().frame["enum"].to_list() == [1, 2, 3]
    assert rows.notes == (
        "columns 'text', 'kind' are left out: each holds text",
        "column 'list' is left out: it holds several values in each cell",
        "column 'bytes' is left out: it holds Binary",
        "columns 'nothing', 'gap' are left out: each is empty in the first 3 rows",
    )
