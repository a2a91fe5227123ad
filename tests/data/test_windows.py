"""Windows: never across a border, every row scored once, values shared and not copied."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import EntityScalers, Scaler, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Windows, stack, validation_starts
from subadjacent.errors import InputError

# some series, each of segments of these lengths
Layout = list[list[int]]
layouts = st.lists(st.lists(st.integers(1, 17), min_size=1, max_size=4), min_size=1, max_size=4)


def as_they_are(channels: int) -> EntityScalers:
    """Scalers that leave values alone."""
    return PerEntity(Scaler(np.zeros(channels), np.ones(channels), clip=np.inf), {})


def numbered(layout: Layout) -> list[TrainSeries]:
    """Series whose only channel tells series and row: 2007 is row 7 of series 2."""
    series = []
    for number, lengths in enumerate(layout):
        ends = np.cumsum(lengths).tolist()
        values = 1000.0 * number + np.arange(ends[-1])[:, None]
        series.append(TrainSeries(values, starts=(0, *ends[:-1])))
    return series


def stacked(layout: Layout, window: int) -> Stack:
    return stack(numbered(layout), as_they_are(1), window)


def contents(windows: Windows) -> list[list[float]]:
    """What each window holds."""
    return windows.take(torch.arange(len(windows)))[:, :, 0].tolist()


def in_one_segment(rows: list[float], series: list[TrainSeries]) -> bool:
    """Whether numbered rows follow each other within a segment."""
    if any(b - a != 1 for a, b in pairwise(rows)):
        return False
    number, first = divmod(int(rows[0]), 1000)
    return any(
        start <= first and first + len(rows) <= stop for start, stop in series[number].segments
    )


def test_a_short_segment_is_continued_by_its_mirror_image() -> None:
    stack = stacked([[3, 1]], window=5)
    assert stack.values[:, 0].tolist() == [0, 1, 2, 2, 1, 3, 3, 3, 3, 3]
    windows, fresh = stack.scoring_windows(5)
    assert contents(windows) == [[0, 1, 2, 2, 1], [3, 3, 3, 3, 3]]
    assert fresh.tolist() == [0, 0]


@given(layouts, st.integers(1, 8), st.integers(1, 6))
def test_no_window_crosses_a_border(layout: Layout, window: int, stride: int) -> None:
    series, stack = numbered(layout), stacked(layout, window)
    found = contents(stack.windows_within([(0, len(one)) for one in series], stride))
    assert all(in_one_segment(rows, series) for rows in found)
    expected = sum(max(n - window, -1) // stride + 1 for lengths in layout for n in lengths)
    assert len(found) == expected


@given(layouts, st.integers(1, 8), st.data())
def test_training_and_validation_windows_share_no_row(
    layout: Layout, window: int, data: st.DataObject
) -> None:
    series, stack = numbered(layout), stacked(layout, window)
    cuts = [data.draw(st.integers(0, len(one))) for one in series]
    train = contents(stack.windows_within([(0, cut) for cut in cuts], 1))
    ends = [len(one) for one in series]
    held = contents(stack.windows_within(list(zip(cuts, ends, strict=True)), 1))
    assert all(row % 1000 < cuts[int(row) // 1000] for rows in train for row in rows)
    assert all(row % 1000 >= cuts[int(row) // 1000] for rows in held for row in rows)


@given(layouts, st.integers(1, 8), st.data())
def test_every_row_is_scored(layout: Layout, window: int, data: st.DataObject) -> None:
    stack = stacked(layout, window)
    stride = data.draw(st.integers(1, window))
    windows, fresh = stack.scoring_windows(stride)
    counted = np.zeros(len(stack.values), dtype=int)
    rows = windows.rows(torch.arange(len(windows))).numpy()
    for one, first in zip(rows, fresh.tolist(), strict=True):
        counted[one[first:]] += 1
    assert (counted >= 1).all()
    if stride == window:
        assert (counted == 1).all()
    for segment in stack.segments:
        inside = (rows >= segment.at) & (rows < segment.at + segment.padded)
        assert (inside.all(axis=1) | ~inside.any(axis=1)).all()


@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 8), st.data())
def test_the_grid_stays_where_it_is_when_rows_come(
    n: int, more: int, window: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, window))

    def grid(rows: int) -> list[int]:
        windows, fresh = stacked([[rows]], window).scoring_windows(stride)
        return windows.starts[fresh == 0].tolist()

    assert grid(n + more)[: len(grid(n))] == grid(n)


@given(layouts, st.integers(1, 8))
def test_what_is_laid_on_the_stack_comes_back(layout: Layout, window: int) -> None:
    series, stack = numbered(layout), stacked(layout, window)
    parts = [np.column_stack([one.values[:, 0], -one.values[:, 0]]) for one in series]
    laid = stack.restack(parts)
    assert laid.shape == (len(stack.values), 2)
    for part, back in zip(parts, stack.unstack(laid), strict=True):
        np.testing.assert_array_equal(back, part)
    real = stack.restack([np.ones(len(one), dtype=bool) for one in series])
    assert real.sum() == sum(map(len, series))
    # the stack has the rows where they were laid, and zeros on the padding
    np.testing.assert_array_equal(stack.values[real, 0], laid[real, 0])
    assert not laid[~real].any()


def test_each_segment_is_mapped_by_itself() -> None:
    # two series, the first with a break after its second row; the last is padded to a window
    total = stacked([[2, 3], [1]], window=2).map_segments(np.arange(7), np.cumsum)
    assert total.tolist() == [0, 1, 2, 5, 9, 5, 6]


def test_rows_are_scaled_by_their_entity() -> None:
    series = [
        TrainSeries(np.array([[0.0], [2.0]]), entity="low"),
        TrainSeries(np.array([[10.0], [14.0], [10.0], [14.0]]), entity="high", starts=(0, 2)),
    ]
    found = stack(series, fit_scalers(series), window=2)
    assert found.values[:, 0].tolist() == [-1, 1, -1, 1, -1, 1]
    assert [(one.series, one.first, one.rows, one.at) for one in found.segments] == [
        (0, 0, 2, 0),
        (1, 0, 2, 2),
        (1, 2, 2, 4),
    ]


def test_batches_hold_every_window_once_in_an_order_that_the_generator_decides() -> None:
    assert list(Windows(torch.zeros(2, 1), torch.arange(0), 3).batches(4)) == []
    for size in [1, 3, 10, 99]:
        windows = Windows(torch.zeros(102, 1), torch.arange(100), 3)
        batches = list(windows.batches(size))
        assert torch.cat(batches).tolist() == list(range(100))
        assert all(len(batch) == size for batch in batches[:-1])
        first, again, other = (
            torch.cat(list(windows.batches(size, torch.Generator().manual_seed(seed)))).tolist()
            for seed in (1, 1, 2)
        )
        assert first == again != other
        assert list(range(100)) == sorted(first) != first


def test_windows_are_gathered_as_slices_would_be() -> None:
    values = torch.arange(40.0).reshape(20, 2)
    windows = Windows(values, torch.tensor([0, 3, 16]), 4)
    which = torch.tensor([2, 0, 2])
    expected = torch.stack([values[16:20], values[0:4], values[16:20]])
    assert torch.equal(windows.take(which), expected)
    assert windows.rows(torch.tensor([1])).tolist() == [[3, 4, 5, 6]]


def test_windows_share_the_rows_of_the_stack() -> None:
    stack = stacked([[50]], window=5)
    windows = stack.windows_within([(0, 50)], 1)
    scoring, _ = stack.scoring_windows(5)
    moved = windows.to(torch.device("cpu"))
    for one in (windows, scoring, moved):
        assert one.values.data_ptr() == stack.values.data_ptr()
    assert torch.equal(moved.starts, windows.starts)


def test_a_million_rows_cost_only_their_windows_places() -> None:
    n, window = 1_000_000, 100
    stack = stacked([[n]], window)
    tracemalloc.start()
    windows = stack.windows_within([(0, n)], 1)
    scoring, _ = stack.scoring_windows(window)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(windows) == n - window + 1
    assert len(scoring) == n // window
    # a place has 8 bytes, and is made in a few steps; the windows would have 400 MB
    assert peak < 40 * n


def of_length(*lengths: int) -> list[TrainSeries]:
    return [TrainSeries(np.zeros((n, 1))) for n in lengths]


def test_the_end_is_held_back_where_a_series_is_long_enough_for_both() -> None:
    assert validation_starts(of_length(100, 50), window=10, fraction=0.2) == [80, 40]
    assert validation_starts(of_length(100, 19, 20), window=10, fraction=0.2) == [80, 19, 10]


@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=5),
    st.integers(1, 50),
    st.floats(0.001, 0.999),
)
def test_both_sides_hold_a_window_or_nothing_is_held_back(
    lengths: list[int], window: int, fraction: float
) -> None:
    if max(lengths) < 2 * window:
        with pytest.raises(InputError, match="fit needs a series of at least 2 windows"):
            validation_starts(of_length(*lengths), window, fraction)
        return
    for n, start in zip(
        lengths, validation_starts(of_length(*lengths), window, fraction), strict=True
    ):
        if n < 2 * window:
            assert start == n
        else:
            assert window <= start <= n - window
            # as asked, where both sides have room
            if window <= n - round(fraction * n) <= n - window:
                assert start == n - round(fraction * n)


def test_what_cannot_be_held_back_is_refused() -> None:
    share = "validation_fraction must be a finite number above 0; got"
    cases: list[Any] = [
        (
            of_length(12, 19),
            0.2,
            (
                "fit needs a series of at least 2 windows, to learn from and to validate on: "
                "20 rows with window=10; the longest has n_samples = 19"
            ),
        ),
        *(
            (of_length(100), fraction, f"validation_fraction must be below 1; got {fraction!r}")
            for fraction in (1, 1.5, 1e9)
        ),
        *(
            (of_length(100), fraction, f"{share} {fraction!r}")
            for fraction in (0, -0.1, float("nan"), float("inf"), True, "half", None)
        ),
    ]
    for series, fraction, message in cases:
        with pytest.raises(InputError) as caught:
            validation_starts(series, 10, fraction)
        assert str(caught.value) == message
