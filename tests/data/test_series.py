"""Series: segments, names and labels of rows, and what they refuse."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.entities import PerEntity
from subadjacent.data.inputs import read
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError


def rows(n: int, channels: int = 2) -> np.ndarray:
    return np.arange(n * channels, dtype=float).reshape(n, channels)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_segments_cover_every_row_once_in_order(lengths: list[int]) -> None:
    ends = np.cumsum(lengths).tolist()
    series = TrainSeries(rows(ends[-1]), starts=(0, *ends[:-1]))
    assert [stop - start for start, stop in series.segments] == lengths
    covered = [row for start, stop in series.segments for row in range(start, stop)]
    assert covered == list(range(len(series)))


def test_a_series_is_one_segment_unless_told_otherwise() -> None:
    assert TrainSeries(rows(4)).segments == ((0, 4),)
    assert TrainSeries(rows(0)).segments == ((0, 0),)


def test_parts_end_where_values_begin_and_cease_to_be_missing_by_hand() -> None:
    missing = np.zeros((9, 2), dtype=bool)
    missing[2:4, 0] = missing[3:5, 1] = missing[8, 0] = True
    series = TrainSeries(rows(9, 2), starts=(0, 4, 6), missing=missing)
    assert series.missing_rows is not None
    assert np.flatnonzero(series.missing_rows).tolist() == [2, 3, 4, 8]
    # cut at 4 by the clock as well, though the rows on either side miss a value
    assert series.parts == ((0, 2), (2, 4), (4, 5), (5, 6), (6, 8), (8, 9))


def test_without_missing_values_parts_are_segments() -> None:
    series = TrainSeries(rows(7), starts=(0, 3))
    assert series.missing_rows is None
    assert series.parts == series.segments
    assert TrainSeries(rows(3), missing=np.ones((3, 2), bool)).parts == ((0, 3),)
    assert TrainSeries(rows(0), missing=np.ones((0, 2), bool)).parts == ((0, 0),)


def test_channels_are_numbered_when_they_have_no_names() -> None:
    assert TrainSeries(rows(2, 3)).channels == ("channel_0", "channel_1", "channel_2")
    assert TrainSeries(rows(2), channels=("a", "b")).channels == ("a", "b")


def test_a_row_is_labelled_by_the_index_or_by_its_number() -> None:
    assert TrainSeries(rows(3)).label(2) == 2
    assert TrainSeries(rows(3), index=["x", "y", "z"]).label(2) == "z"
    dates = pd.date_range("2024-03-01", periods=3, freq="h")
    assert TrainSeries(rows(3), index=dates).label(1) == pd.Timestamp("2024-03-01 01:00")


def test_what_does_not_fit_the_rows_is_refused() -> None:
    shape = "series must be 2-d, (time, channels); got shape"
    names = "channels must name each of the 2 columns; got"
    starts = "starts must begin with 0 and increase, within 3 rows; got"
    mask = np.zeros(3, dtype=bool)
    cases: list[Any] = [
        ({"values": np.zeros(3)}, f"{shape} (3,)"),
        ({"values": np.zeros((3, 2, 1))}, f"{shape} (3, 2, 1)"),
        ({"channels": ("a",)}, f"{names} 1 names"),
        ({"channels": ("a", "b", "c")}, f"{names} 3 names"),
        ({"index": [1, 2]}, "index must have one label for each of the 3 rows; got 2"),
        ({"missing": mask}, "missing must have the shape of values, (3, 2); got (3,)"),
        *(
            ({"starts": bad}, f"{starts} {bad}")
            for bad in ((), (1,), (0, 2, 2), (0, 2, 1), (0, 3), (0, 9))
        ),
    ]
    for arguments, message in cases:
        with pytest.raises(InputError) as caught:
            TrainSeries(**{"values": rows(3), **arguments})
        assert str(caught.value) == message


def test_training_rows_have_no_place_for_labels() -> None:
    assert "labels" not in {field.name for field in dataclasses.fields(TrainSeries)}
    with pytest.raises(TypeError):
        TrainSeries(rows(3), labels=np.zeros(3))  # type: ignore[call-arg]
    with pytest.raises((AttributeError, TypeError)):
        TrainSeries(rows(3)).labels = np.zeros(3)  # type: ignore[attr-defined]


def test_labels_belong_to_rows_and_fit_them() -> None:
    series = TestSeries(TrainSeries(rows(3)), np.array([0, 1, 1]))
    assert (len(series), series.labels.tolist()) == (3, [0, 1, 1])
    cases: list[Any] = [
        (np.array([0, 1]), "labels must have shape (3,), one a row; got (2,)"),
        (np.zeros((3, 1), dtype=int), "labels must have shape (3,), one a row; got (3, 1)"),
        (np.array([0, -1, 1]), "labels must be 0 or 1; got [-1  0  1]"),
        (np.array([0, np.nan, 1]), "labels must be 0 or 1; got [ 0.  1. nan]"),
    ]
    for labels, message in cases:
        with pytest.raises(InputError) as caught:
            TestSeries(TrainSeries(rows(3)), labels)
        assert str(caught.value) == message


def test_labelled_rows_are_not_read() -> None:
    for wrap, name in [(lambda x: x, "X"), (lambda x: [x], "X[0]"), (lambda x: {"a": x}, "X['a']")]:
        labelled = TestSeries(TrainSeries(rows(3)), np.array([0, 1, 0]))
        with pytest.raises(InputError) as caught:
            read(wrap(labelled))
        assert str(caught.value) == f"{name} must not hold labels; got a TestSeries: pass its rows"


UNITS = PerEntity(2.0, {"first": 0.5, "second": 4.0})


def test_each_entity_has_its_own_value_and_unseen_ones_the_pooled_value() -> None:
    assert [UNITS.of(name) for name in ("first", "second", "unseen", None)] == [0.5, 4, 2, 2]
    assert list(UNITS) == [2.0, 0.5, 4.0]
    assert UNITS.map(lambda unit: unit / 2) == PerEntity(1.0, {"first": 0.25, "second": 2.0})
    assert UNITS.pooled == 2.0
