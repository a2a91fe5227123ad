"""Arrays, lists and dicts: read, answered in kind, and refused with a reason."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from subadjacent.data.inputs import read
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

TABLE = [[1, 2], [3, 4], [5, 6]]


def refusal(X: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(X, **options)
    return str(caught.value)


def test_an_array_by_hand() -> None:
    cases: list[Any] = [
        TABLE,
        tuple(map(tuple, TABLE)),
        [np.array(row) for row in TABLE],
        np.array(TABLE),
        np.array(TABLE, order="F"),
        np.array(TABLE, dtype=np.float32),
        np.array(TABLE, dtype=np.uint8),
        np.array(TABLE, dtype=object),
        np.array(TABLE + TABLE)[::2][[0, 2, 1]],
    ]
    for X in cases:
        table = read(X)
        (series,) = table.series
        assert series.values.tolist() == np.array(X, dtype=float).tolist()
        assert series.channels == ("channel_0", "channel_1")
        assert (series.entity, series.index, series.starts, series.interval) == (
            None,
            None,
            (0,),
            None,
        )
        found = np.array([7, 8, 9])
        assert table.restore([found], "score") is found
        pairs = np.eye(3, 2)
        assert table.restore([pairs], ("p", "q")) is pairs
        assert table.header.shape == (1, 2)
        assert table.names is None
        assert not table.by_position


def test_an_array_is_not_copied_and_its_header_is_a_view_of_one_row() -> None:
    for order in ["C", "F"]:
        for dtype in [bool, np.int8, np.int64, np.float16, np.float32, np.float64]:
            X = np.array(TABLE, dtype=dtype, order=order)
            assert np.shares_memory(read(X).series[0].values, X)
            assert read(X).series[0].values.dtype == dtype
    X = np.ones((3, 2))
    for one in (X, TrainSeries(X), [X, X], {"a": X}):
        header = read(one).header
        assert header.shape == (1, 2)
        assert np.shares_memory(header, X)


def test_none_and_what_is_masked_are_gaps() -> None:
    X = [[1, 2], [None, 3]]
    for one in (X, np.array(X, dtype=object)):
        assert read(one).series[0].values.tolist() == [[1, 2], [1, 3]]
    for dtype in [np.int64, np.float32, np.float64]:
        X = np.ma.masked_array(np.array([[1], [99], [3]], dtype=dtype), mask=[[0], [1], [0]])
        assert read(X).series[0].values.tolist() == [[1], [1], [3]]
        assert X.data.tolist() == [[1], [99], [3]]


def test_a_series_is_taken_as_it_is_but_for_gaps() -> None:
    values = np.array([[1.0], [np.nan], [3.0]])
    series = TrainSeries(values, ("flow",), "pump", ["x", "y", "z"], (0, 2), 60.0)
    table = read(series)
    (found,) = table.series
    assert found.values.tolist() == [[1], [1], [3]]
    for field in ("channels", "entity", "index", "starts", "interval"):
        assert getattr(found, field) == getattr(series, field)
    assert table.restore([values[:, 0]], "score").shape == (3,)
    assert found.missing is None
    (found,) = read(series, fill_limit=0).series
    assert found.missing is not None
    assert found.missing.tolist() == [[False], [True], [False]]


def test_what_a_series_says_is_missing_stays_so() -> None:
    said = np.array([[True], [False], [False]])
    for values, wanted in (([1.0, 2.0, 3.0], [0]), ([1.0, np.nan, 3.0], [0, 1])):
        series = TrainSeries(np.array(values)[:, None], missing=said)
        (found,) = read(series, fill_limit=0).series
        assert found.missing is not None
        assert np.flatnonzero(found.missing).tolist() == wanted
    assert said.tolist() == [[True], [False], [False]]


def test_a_gap_is_not_filled_across_the_breaks_of_a_series() -> None:
    values = np.array([[1.0], [np.nan], [3.0], [4.0]])
    found = read(TrainSeries(values, starts=(0, 1))).series[0]
    assert found.values[:, 0].tolist() == [1, 3, 3, 4]


def test_a_list_of_tables_is_a_list_of_entities() -> None:
    for kind in [list, tuple]:
        table = read(kind([np.array(TABLE), np.array(TABLE[:2])]))
        assert [one.entity for one in table.series] == ["0", "1"]
        assert [len(one) for one in table.series] == [3, 2]
        assert table.by_position
        back = table.restore([np.arange(3), np.arange(2)], "score")
        assert type(back) is list
        assert [part.tolist() for part in back] == [[0, 1, 2], [0, 1]]


def test_a_dict_of_tables_names_its_entities() -> None:
    X = {"b": np.array(TABLE), 7: TABLE[:1]}
    table = read(X)
    # a dict may change after it was read
    X["c"] = TABLE
    assert [one.entity for one in table.series] == ["b", "7"]
    assert not table.by_position
    back = table.restore([np.eye(3, 2), np.eye(1, 2)], ("p", "q"))
    assert list(back) == ["b", 7]
    assert back[7].tolist() == [[1, 0]]


def test_every_part_comes_back_in_its_own_librarys_shape() -> None:
    dates = pd.date_range("2024-03-01", periods=2, freq="min")
    X = {
        "pandas": pd.DataFrame({"a": [1, 2]}, index=dates),
        "polars": pl.DataFrame({"a": [3]}),
        "series": TrainSeries(np.array([[5.0]]), ("a",), entity="forgotten"),
    }
    table = read(X)
    assert [one.entity for one in table.series] == list(X)
    assert table.series[0].interval == 60
    back = table.restore([np.array([1, 2]), np.array([3]), np.array([4])], "score")
    pd.testing.assert_series_equal(back["pandas"], pd.Series([1, 2], dates, name="score"))
    assert back["polars"].to_list() == [3]
    assert back["series"].tolist() == [4]
    both = read([X["pandas"], X["polars"]]).restore([np.eye(2), np.eye(1, 2)], ("p", "q"))
    assert type(both[0]) is pd.DataFrame
    assert type(both[1]) is pl.DataFrame
    assert both[0].index.equals(dates)


def test_names_are_known_for_every_kind_of_input_that_has_some() -> None:
    frame = pl.DataFrame({"a": [1.0], "b": [2.0]})
    named = TrainSeries(np.ones((1, 2)), ("a", "b"))
    for X in (frame, named, [frame, frame], {"p": named, "q": frame}, frame.to_pandas()):
        assert read(X).names == ("a", "b")
    for X in (np.ones((1, 2)), TrainSeries(np.ones((1, 2))), [np.eye(2)], {"p": TABLE}):
        assert read(X).names is None


def test_what_is_no_data_is_refused() -> None:
    same = "X must have the same channels in every series; got"
    five = ", ".join(f"channel_{number}" for number in range(5))
    no_rows, no_columns = (
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
        for what, shape in (("sample", "(0, 2)"), ("feature", "(2, 0)"))
    )
    frames = {"p": pl.DataFrame({"a": [1]}), "q": pl.DataFrame({"b": [1]})}
    two = {"plant": pl.DataFrame({"item_id": ["a", "b"], "x": [1, 2]})}
    day, second = np.array([["2024-03-01"]], "datetime64[D]"), np.array([[5]], "timedelta64[s]")
    cases: list[Any] = [
        ({}, "X must hold at least one series; got none"),
        ({1: np.eye(2), "1": np.eye(2)}, "X must have keys that differ as text; got [1, '1']"),
        (
            [np.ones((1, 7)), np.ones((1, 6))],
            f"{same} {five} and 2 more in the first and {five} and 1 more in '1'",
        ),
        (frames, f"{same} a in the first and b in 'q'"),
        (two, "X['plant'] must be one series; got 2"),
        (day, "X must hold numbers; got datetime64[D]: leave times out"),
        (second, "X must hold numbers; got timedelta64[s]: leave times out"),
        (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required."),
        (np.empty((0, 2)), no_rows),
        (np.empty((2, 0)), no_columns),
        (TrainSeries(np.empty((0, 2))), no_rows),
        (TrainSeries(np.empty((2, 0))), no_columns),
        (
            np.arange(800.0),
            (
                "X must be 2-d, (time, channels); got shape (800,): "
                "Reshape your data, with X.reshape(-1, 1) if it is one channel"
            ),
        ),
        *(
            (X, "X must not exceed 1e+100 in magnitude; got a whole number too large for float64")
            for X in ([[10**400, 1]] * 60, np.array([[1, -(10**400)]], dtype=object))
        ),
    ]
    for X, message in cases:
        assert refusal(X) == message
    # a part is named, and a bad limit also where there is nothing to fill
    large = np.full((3, 1), 1e200)
    assert refusal([np.ones((3, 1)), large]).startswith("X[1] must not exceed")
    assert refusal({"pump": large}).startswith("X['pump'] must not exceed")
    assert refusal({"pump": pl.LazyFrame({"a": [1]})}).startswith("X['pump'] must be a frame")
    for limit in [-1, 1.5, "10", None]:
        rule = "fill_limit must be a whole number of at least 0"
        assert refusal(TABLE, fill_limit=limit) == f"{rule}; got {limit!r}"


def test_scikit_learns_words_are_used_where_it_has_some() -> None:
    cases: list[Any] = [
        (np.arange(3.0), "Reshape your data"),
        ([1.0, 2.0, 3.0], "Reshape your data"),
        ([], "Reshape your data"),
        (None, "Reshape your data"),
        (3.0, "Reshape your data"),
        ({"a": [1, 2]}, "Reshape your data"),
        ([[1, 2], [3]], "inhomogeneous"),
        ([["a", "b"]], "not compatible with arrays of bytes/strings"),
        ([["a", None]], "could not convert string to float"),
        (np.array([["a", 1]], dtype=object), "could not convert string to float"),
        (np.array([["a"]]), "not compatible with arrays of bytes/strings"),
        (TrainSeries(np.array([["a"]])), "not compatible with arrays of bytes/strings"),
        (np.array([[1j]]), "Complex data not supported"),
        ([np.eye(2), [[1, 2], [3, 4]]], "dim 3"),
    ]
    for X, words in cases:
        assert words in refusal(X)


def test_a_sparse_array_is_refused_with_scikit_learns_error() -> None:
    for kind in [sparse.csr_array, sparse.dok_array, sparse.dok_matrix]:
        with pytest.raises(
            TypeError, match="Sparse data was passed for X, but dense data is required"
        ):
            read(kind(np.eye(2)))


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FRAMES = "{'pandas', 'polars', 'pyarrow', 'narwhals'}"


def test_reading_an_array_imports_no_library_of_frames_that_scikit_learn_does_not() -> None:
    assert (
        in_a_new_process(
            "import sys, numpy, scipy.sparse, sklearn.utils.validation\n"
            "before = set(sys.modules)\n"
            "from subadjacent.data.inputs import read\n"
            "read(numpy.eye(2)), read([numpy.eye(2)]), read([[1, 2]])\n"
            f"print({FRAMES} & set(sys.modules) - before)"
        )
        == "set()"
    )


@pytest.mark.parametrize(
    ("build", "others"),
    [
        ("import pandas; X = pandas.DataFrame({'a': [1, 2]})", "{'polars'}"),
        ("import polars; X = polars.DataFrame({'a': [1, 2]})", "{'pandas', 'pyarrow'}"),
    ],
    ids=["pandas", "polars"],
)
def test_reading_a_frame_imports_no_other_library(build: str, others: str) -> None:
    assert (
        in_a_new_process(
            f"import sys; {build}\n"
            "from subadjacent.data.frames import is_frame, read_frame\n"
            "import numpy\n"
            "table = read_frame(X, fill_limit=1, name='X')\n"
            "table.restore([numpy.eye(2)], ('p', 'q'))\n"
            f"print(is_frame(X), {others} & set(sys.modules))"
        )
        == "True set()"
    )
