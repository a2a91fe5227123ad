"""Frames of pandas, polars and Arrow: read alike, and results come back in their own shape."""

from __future__ import annotations

import gc
import re
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from subadjacent.data.frames import Table, is_frame
from subadjacent.data.inputs import read
from subadjacent.errors import InputError


@dataclass(frozen=True)
class Library:
    """How one library builds a frame, and what it gives back."""

    frame: Callable[[dict[str, Any]], Any]
    vector: type
    table: type
    listed: Callable[[Any], list[Any]]


LIBRARIES = [
    Library(pd.DataFrame, pd.Series, pd.DataFrame, lambda vector: vector.tolist()),
    Library(pl.DataFrame, pl.Series, pl.DataFrame, lambda vector: vector.to_list()),
    Library(pa.table, pa.ChunkedArray, pa.Table, lambda vector: vector.to_pylist()),
]
each = pytest.mark.parametrize("library", LIBRARIES, ids=["pandas", "polars", "arrow"])

NOON = datetime(2024, 3, 1, 12)


def minutes(*numbers: float) -> list[datetime]:
    """Times so many minutes after noon."""
    return [NOON + timedelta(minutes=number) for number in numbers]


def refusal(X: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(X, **options)
    return str(caught.value)


def check_way_back(library: Library, table: Table) -> None:
    """Numbers of rows, as a vector and as a table, in the library's own types."""
    numbers = [np.arange(len(one)) + 100 * n for n, one in enumerate(table.series)]
    vector = table.restore(numbers, "score")
    assert isinstance(vector, library.vector)
    pairs = [np.column_stack([one, -one]).astype(float) for one in numbers]
    both = table.restore(pairs, ("up", "down"))
    assert isinstance(both, library.table)
    assert library.listed(both["up"]) == library.listed(vector)
    assert library.listed(both["down"]) == [-one for one in library.listed(vector)]


@each
def test_a_frame_by_hand(library: Library) -> None:
    frame = library.frame({"a": [1, 2, 3], "t": minutes(0, 1, 2), "b": [True, False, True]})
    table = read(frame)
    (series,) = table.series
    assert series.values.tolist() == [[1, 1], [2, 0], [3, 1]]
    assert series.channels == ("a", "b")
    assert series.entity is None
    assert series.interval == 60
    assert series.starts == (0,)
    assert [series.label(row) for row in range(3)] == minutes(0, 1, 2)
    assert library.listed(table.restore([np.array([7, 8, 9])], "score")) == [7, 8, 9]
    assert list(nw.from_native(table.header).columns) == ["a", "b"]
    assert table.names == ("a", "b")
    check_way_back(library, table)


@each
def test_what_is_no_series_is_refused_with_the_way_out(library: Library) -> None:
    took, clock = [timedelta(seconds=n) for n in (5, 3, 3)], [time(1), time(2)]
    if library.table is pd.DataFrame:
        clock = pd.array(clock, dtype=pd.ArrowDtype(pa.time64("us")))
    empty, numbers = np.array([], dtype=float), "X must hold numbers; these columns do not:"
    convert = "drop them, or turn them into numbers"
    parse = "parse it (pandas: to_datetime, polars: str.to_datetime)"
    cases: list[Any] = [
        (
            {"t": [NOON, None, *minutes(2)], "a": range(3)},
            "times of X must be known in every row; row 1 has NaT: drop it first",
        ),
        (
            {"took": took, "a": range(3)},
            rf"{numbers} 'took' \(Duration.*: {convert} \(a duration by dt.total_seconds\(\)\)",
        ),
        # beside a clock it is not a second one
        ({"t": minutes(0, 1, 2), "took": took, "a": range(3)}, f"{numbers} 'took' .*"),
        *(
            (
                {name: ["2024-03-01", "2024-03-02"], "a": [1, 2]},
                f"X must have times or numbers in its time column; {name!r} holds String: "
                + re.escape(parse),
            )
            for name in ("timestamp", "time", "Date", "datetime")
        ),
        ({"t": clock, "a": [1, 2]}, rf"{numbers} 't' \(Time\): {convert}"),
        (
            {"ds": clock, "a": [1, 2]},
            r"times of X must be dates \(datetime64\) or numbers, one a row; got .*",
        ),
        (
            {"seen": minutes(0, 1), "ds": minutes(0, 1), "a": [1, 2]},
            "X must have one time column; got ds, seen: drop all but one",
        ),
        (
            {"a": [1, 2], "state": ["on", "off"], "who": ["x", "y"]},
            rf"{numbers} 'state' \(String\), 'who' \(String\): {convert}",
        ),
        # in scikit-learn's words
        ({"a": empty, "b": empty}, r"X has 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum.*"),
        ({"t": minutes(0, 1)}, r"X has 0 feature\(s\) \(shape=\(2, 0\)\) while a minimum.*"),
        ({}, r"X has 0 feature\(s\) .*"),
        (
            {"item_id": ["a", None, "b"], "a": [1, 2, 3]},
            "item_id must name an entity in every row; row 1 is empty",
        ),
        (
            {"item_id": [4, 5, 4], "timestamp": [1, 1, 1], "a": [1.0, 2.0, 3.0]},
            r"times of X\['4'\] must increase from row to row; row 1 has 1.*",
        ),
        (
            {"item_id": [4, 5, 4], "a": [1.0, 1e200, 3.0]},
            r"X\['5'\] must not exceed .*",
        ),
    ]
    for data, message in cases:
        assert re.fullmatch(message, refusal(library.frame(data))), message


def test_frames_of_some_libraries_are_refused() -> None:
    cases: list[Any] = [
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "X must not have two columns of one"),
        (pa.table([[1], [2], [3]], names=["a", "b", "a"]), "X must not have two columns of one"),
        (
            pl.LazyFrame({"a": [1, 2]}),
            "X must be a frame in memory; got a lazy frame: collect it first",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=pd.Index([1, "a", "1"])),
            "X must have columns whose names differ as text; got 1 and '1': rename one of them",
        ),
        (
            pd.DataFrame({"a": [1]}, pd.MultiIndex.from_tuples([("p", 0)], names=["who", "t"])),
            ("X must have one level of index; got 2 (who, t): turn them into columns with reset"),
        ),
    ]
    for frame, message in cases:
        assert refusal(frame).startswith(message)
        assert "of one" not in message or "'a' 2 times" in refusal(frame)


@each
def test_days_durations_and_numbers_are_a_clock_where_type_or_name_says_so(
    library: Library,
) -> None:
    days: Any = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]
    since = [timedelta(seconds=2 * n) for n in range(3)]
    in_arrow = pd.array(days, dtype=pd.ArrowDtype(pa.date32()))
    cases: list[Any] = [
        ("day", in_arrow if library.table is pd.DataFrame else days, days, 86400, (0,)),
        *((name, since, since, 2, (0,)) for name in ("timestamp", "ds")),
        # nobody has told the unit of numbers
        *((name, [10, 20, 90], [10, 20, 90], None, (0, 2)) for name in ("timestamp", "Time", "ts")),
    ]
    for name, column, labels, interval, starts in cases:
        (series,) = read(library.frame({name: column, "a": range(3)}), fill_limit=2).series
        assert (series.channels, series.interval, series.starts) == (("a",), interval, starts)
        assert [series.label(row) for row in range(3)] == labels


@each
def test_time_zones_tick_through_the_change_of_clocks(library: Library) -> None:
    for eve in ["2024-03-30", "2024-10-26"]:
        # in Berlin clocks change at 01:00 UTC
        berlin = pd.date_range(f"{eve} 22:00", periods=6, freq="h", tz="UTC").tz_convert(
            "Europe/Berlin"
        )
        column = pa.array(berlin) if library.table is pa.Table else berlin
        (series,) = read(library.frame({"t": column, "a": range(6)}), fill_limit=0).series
        assert series.interval == 3600
        assert series.starts == (0,)
        assert [series.label(row) for row in range(6)] == list(berlin)
        assert series.label(4).utcoffset() == berlin[4].utcoffset()


@each
@pytest.mark.parametrize("name", ["label", "IS_ANOMALY", "is_attack", "Normal/Attack"])
def test_a_column_of_labels_never_becomes_a_channel(
    library: Library, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    frame = library.frame({"a": [1, 2], name: [0, 1], "Outlier": [3.5, 1.0]})
    table = read(frame)
    assert table.series[0].channels == table.names == ("a",)
    np.testing.assert_array_equal(table.series[0].values, [[1], [2]])
    (said,) = caplog.messages
    assert said == (
        f"X: labels never reach a detector, so {name!r}, 'Outlier' are kept out of the channels"
    )
    near = library.frame({f"{name}_rate": [1, 2], f"my_{name}": [0, 1]})
    assert read(near).series[0].channels == (f"{name}_rate", f"my_{name}")


@each
@pytest.mark.parametrize("name", ["target", "Class"])
def test_values_tell_whether_a_target_is_a_label(
    library: Library, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    for labels in ([0, 1, 1], [-1, 1, 1], [True, False, True], [1.0, None, 0.0]):
        caplog.clear()
        assert read(library.frame({"a": [1, 2, 3], name: labels})).series[0].channels == ("a",)
        assert f"{name!r} is kept out of the channels" in caplog.text
    caplog.clear()
    for measured in ([0, 1, 2], [0.5, 1.0, 0.5], [-1, 0, 1], [20, 20, 20]):
        frame = library.frame({"a": [1, 2, 3], name: measured})
        assert read(frame).series[0].channels == ("a", name)
    # as every part of a longer frame that a detector was fitted on is read
    known = read(library.frame({"a": [1, 2], name: [0, 1]}), known=("a", name))
    assert known.series[0].channels == ("a", name)
    assert not caplog.messages


@each
def test_missing_values_are_filled(library: Library) -> None:
    frame = library.frame({"a": [1, None, 3], "b": [True, False, None], "c": [0.5, None, 1.5]})
    if library.table is pd.DataFrame:
        frame = frame.convert_dtypes()
        assert list(map(str, frame.dtypes)) == ["Int64", "boolean", "Float64"]
    small = nw.from_native(frame).select(nw.col("a").cast(nw.Int8), "b")
    assert read(small).series[0].values.tolist() == [[1, 1], [1, 0], [3, 0]]
    assert read(small).series[0].values.dtype == np.float32
    (series,) = read(frame).series
    assert series.values.tolist() == [[1, 1, 0.5], [1, 0, 0.5], [3, 0, 1.5]]
    assert series.missing is None
    missing = read(frame, fill_limit=0).series[0].missing
    assert missing is not None
    assert missing.tolist() == [[False] * 3, [True, False, True], [False, True, False]]


@each
def test_a_frame_becomes_float32_where_that_holds_all_columns_exactly(library: Library) -> None:
    def values(dtype: str, numbers: list[int]) -> np.ndarray:
        single = np.array([0.5, 1.5], dtype=np.float32)
        frame = library.frame({"a": single, "b": np.array(numbers, dtype=dtype)})
        found = read(frame).series[0].values
        assert found.tolist() == [[0.5, numbers[0]], [1.5, numbers[1]]]
        return found

    for dtype in ["float32", "float16", "bool", "int8", "int16", "uint8", "uint16"]:
        info = np.iinfo(dtype) if "int" in dtype else None
        assert values(dtype, [0, 1] if info is None else [info.min, info.max]).dtype == np.float32
    for dtype in ["float64", "int32", "uint32", "int64", "uint64"]:
        assert values(dtype, [2**24 + 1, 0]).dtype == np.float64


@each
def test_a_frame_is_never_changed(library: Library) -> None:
    numbers = {"a": np.array([1, np.nan, 3]), "b": np.array([4.0, 5.0, 6.0])}
    frame = library.frame(numbers)
    assert read(frame).series[0].values.tolist() == [[1, 4], [1, 5], [3, 6]]
    assert np.isnan(library.listed(frame["a"])[1])


@each
def test_the_header_is_one_row_and_the_way_back_does_not_hold_the_frame(library: Library) -> None:
    frame = library.frame({"t": minutes(0, 1, 2), "b": [1, 2, 3], "a": [4.0, 5.0, 6.0]})
    table = read(frame)
    header = nw.from_native(table.header)
    assert header.shape == (1, 2)
    assert header.columns == ["b", "a"]
    gone, restore = weakref.ref(frame), table.restore
    del frame, table
    gc.collect()
    assert gone() is None
    assert library.listed(restore([np.array([7, 8, 9])], "score")) == [7, 8, 9]


def test_a_frame_of_many_types_is_copied_once() -> None:
    # with pandas, whose memory Python can trace
    rows = 400_000
    columns = {f"c{n}": np.ones(rows, dtype=np.float32) for n in range(15)}
    frame = pd.DataFrame({"whole": np.ones(rows, dtype=np.int64), **columns})
    read(frame)  # what is imported on the way does not count
    tracemalloc.start()
    try:
        read(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    copy = rows * 16 * 8
    assert peak < 1.4 * copy  # and a column or two, and what checking a chunk takes


def test_a_pandas_frame_of_one_float_type_is_not_copied() -> None:
    for dtype in (np.float32, np.float64):
        rows = np.ones((5, 3), dtype=dtype)
        frame = pd.DataFrame(rows, columns=list("abc"))
        assert np.shares_memory(read(frame).series[0].values, frame.to_numpy())


@each
def test_a_gap_after_a_break_is_filled_from_its_own_segment(library: Library) -> None:
    a = [1.0, 2.0, np.nan, np.nan, 50.0, 60.0]
    frame = library.frame({"t": minutes(0, 1, 2, 100, 101, 102), "a": a})
    (series,) = read(frame).series
    assert series.starts == (0, 3)
    assert series.values[:, 0].tolist() == [1, 2, 2, 50, 50, 60]


@each
def test_a_long_frame_is_read_by_entity_and_answered_by_row(library: Library) -> None:
    for who, when in [("item_id", "timestamp"), ("unique_id", "ds")]:
        frame = library.frame(
            {
                when: minutes(0, 0, 1, 1, 30, 2),
                "a": [10, 20, 11, 21, 22, 12],
                who: ["z", "b", "z", "b", "b", "z"],
            }
        )
        table = read(frame, fill_limit=5)
        first, second = table.series
        assert (first.entity, second.entity) == ("z", "b")
        assert first.values.tolist() == [[10], [11], [12]]
        assert second.values.tolist() == [[20], [21], [22]]
        assert first.starts == (0,)
        assert second.starts == (0, 2)
        assert first.interval == second.interval == 60
        assert [second.label(row) for row in range(3)] == minutes(0, 1, 30)
        found = table.restore([np.array([0, 1, 2]), np.array([10, 11, 12])], "score")
        assert library.listed(found) == [0, 10, 1, 11, 12, 2]
        check_way_back(library, table)


@each
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
@example(["c", "a", "b", "a"] * 50)
def test_rows_of_a_long_frame_come_back_to_their_places(library: Library, who: list[str]) -> None:
    table = read(library.frame({"item_id": who, "a": range(len(who))}))
    assert [one.entity for one in table.series] == list(dict.fromkeys(who))
    for one in table.series:
        in_order = [row for row, name in enumerate(who) if name == one.entity]
        assert one.values[:, 0].tolist() == in_order
    found = table.restore([one.values[:, 0] for one in table.series], "score")
    assert library.listed(found) == list(range(len(who)))


def test_a_vector_is_one_channel() -> None:
    cases: list[Any] = [
        (pd.Series([1, 2, 3], name="flow", index=[5, 6, 7]), LIBRARIES[0], "flow"),
        (pd.Series([1, 2, 3]), LIBRARIES[0], "0"),
        (pl.Series("flow", [1, 2, 3]), LIBRARIES[1], "flow"),
        (pa.chunked_array([[1], [2, 3]]), LIBRARIES[2], ""),
    ]
    for vector, library, name in cases:
        table = read(vector)
        assert table.series[0].channels == (name,)
        assert table.series[0].values.tolist() == [[1], [2], [3]]
        check_way_back(library, table)


def test_what_narwhals_has_wrapped_is_read_too() -> None:
    for library in LIBRARIES:
        table = read(nw.from_native(library.frame({"a": [1, 2]})))
        assert table.series[0].values.tolist() == [[1], [2]]
        check_way_back(library, table)


def test_other_things_are_no_frames() -> None:
    for other in [None, 3, "text", [1], [[1, 2]], np.eye(2), {"a": [1]}, object()]:
        assert not is_frame(other)


INDEXES = {
    "numbers": pd.RangeIndex(3),
    "other numbers": pd.Index([2, 0, 1]),
    "names": pd.Index(["x", "y", "z"], name="row"),
    "dates": pd.DatetimeIndex(minutes(0, 1, 2), name="when"),
    "dates in a zone": pd.date_range("2024-03-31", periods=3, freq="h", tz="Europe/Berlin"),
    "periods": pd.period_range("2024-03", periods=3, freq="M"),
    "time since a start": pd.to_timedelta([0, 1, 2], unit="min"),
    "twice the same": pd.Index(["x", "x", "y"]),
}


def test_the_index_comes_back_and_labels_the_rows() -> None:
    for index in INDEXES.values():
        table = read(pd.DataFrame({"a": [1, 2, 3]}, index=index))
        assert [table.series[0].label(row) for row in range(3)] == list(index)
        vector = table.restore([np.array([0.5, 1.5, 2.5])], "oddness")
        pd.testing.assert_series_equal(vector, pd.Series([0.5, 1.5, 2.5], index, name="oddness"))
        both = table.restore([np.array([[1, 2], [3, 4], [5, 6]])], ("p", "q"))
        pd.testing.assert_frame_equal(both, pd.DataFrame({"p": [1, 3, 5], "q": [2, 4, 6]}, index))


def test_an_index_of_times_is_the_clock() -> None:
    for index, interval in [("dates", 60), ("dates in a zone", 3600), ("time since a start", 60)]:
        assert read(pd.DataFrame({"a": [1, 2, 3]}, INDEXES[index])).series[0].interval == interval


def test_a_time_column_labels_the_rows_whatever_the_index() -> None:
    for index in INDEXES.values():
        frame = pd.DataFrame({"t": minutes(5, 6, 7), "a": [1, 2, 3]}, index)
        table = read(frame)
        assert [table.series[0].label(row) for row in range(3)] == minutes(5, 6, 7)
        assert table.restore([np.arange(3)], "score").index.equals(index)


def test_a_long_frame_may_have_its_times_in_the_index() -> None:
    frame = pd.DataFrame(
        {"item_id": ["a", "b", "a", "b"], "x": [1, 2, 3, 4]},
        index=pd.DatetimeIndex(minutes(0, 0, 1, 1)),
    )
    table = read(frame)
    assert [one.interval for one in table.series] == [60, 60]
    assert table.series[1].label(1) == minutes(1)[0]
    assert table.restore([np.arange(2), np.arange(2)], "score").index.equals(frame.index)


def test_columns_may_be_called_anything() -> None:
    for names in [[0, 1], ["a", 7], [("x", "y"), ("x", "z")]]:
        frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
        frame.columns = pd.Index(names)
        table = read(frame)
        assert table.series[0].channels == tuple(map(str, names))
        assert table.series[0].values.tolist() == [[1, 2], [3, 4]]
        assert table.names == tuple(map(str, names))
        # scikit-learn reads the names of the header, and refuses some that are text and some not
        mixed = names == ["a", 7]
        assert list(table.header.columns) == (["a", "7"] if mixed else names)


def labels_of(frame: pd.DataFrame) -> list[Any]:
    table = read(frame)
    names = tuple(map(str, frame.columns))
    return table.restore([np.zeros((len(frame), len(names)))], names).columns


def test_a_result_for_the_channels_has_the_frames_own_labels() -> None:
    cases: list[Any] = [
        pd.RangeIndex(2),
        pd.Index([5, 3]),
        pd.Index(["a", 7]),
        pd.MultiIndex.from_tuples([("x", "y"), ("x", "z")], names=["place", "what"]),
        pd.Index(["p", "q"], name="sensor"),
    ]
    for columns in cases:
        frame = pd.DataFrame(np.eye(2), columns=columns)
        pd.testing.assert_index_equal(labels_of(frame), columns, exact="equiv")
        # other names are kept as they were asked for
        found = read(frame).restore([np.eye(2)], ("normal", "anomalous"))
        assert list(found.columns) == ["normal", "anomalous"]


def test_own_labels_leave_out_time_and_entity() -> None:
    frame = pd.DataFrame({0: minutes(0, 1), "item_id": ["p", "p"], 7: [1, 2], 2: [3, 4]})
    found = read(frame).restore([np.eye(2)], ("7", "2"))
    assert list(found.columns) == [7, 2]
