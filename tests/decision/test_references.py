"""What a channel was at the same time of other cycles, or just before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.references import (
    BLOCK_ROWS,
    CYCLES,
    LONG_MEMORY,
    MAX_CYCLES,
    MIN_CYCLES,
    NEAREST_BLOCK,
    SHORT_MEMORY,
    level_before,
    phase_levels,
    phase_of,
    same_time,
)

NONE = np.zeros(400, dtype=bool)


def test_the_same_time_of_earlier_cycles_by_hand() -> None:
    # cycles of two rows: 1 3, 2 5, 9 4
    column = np.array([1.0, 3.0, 2.0, 5.0, 9.0, 4.0])
    # before row 4 stand 2 and 1, before row 5 stand 5 and 3; before row 3 stands 3 alone
    median, lowest, highest = same_time(column, NONE[:6], 2, slice(3, 6))
    assert median[1:].tolist() == [1.5, 4.0]
    assert (lowest[1:].tolist(), highest[1:].tolist()) == ([1.0, 3.0], [2.0, 5.0])
    assert MIN_CYCLES == 2
    assert math.isnan(median[0])


def test_rows_that_are_not_normal_are_nothing_to_compare_with() -> None:
    column = np.array([1.0, 3.0, 2.0, 5.0, 9.0, 4.0, 7.0])
    left_out = np.arange(7) == 2
    assert same_time(column, left_out, 2, slice(6, 7))[0].tolist() == [5.0]


def test_the_latest_cycles_count_and_older_ones_where_none_of_them_is_normal() -> None:
    column = np.arange(40.0)
    last = slice(39, 40)
    latest = [39 - k for k in range(1, CYCLES + 1)]
    assert same_time(column, NONE[:40], 1, last)[0].tolist() == [np.median(latest)]
    left_out = NONE[:40].copy()
    left_out[39 - CYCLES : 39] = True
    older = [39 - k for k in range(CYCLES + 1, 2 * CYCLES + 1)]
    assert same_time(column, left_out, 1, last)[0].tolist() == [np.median(older)]
    left_out[39 - MAX_CYCLES : 39] = True
    assert math.isnan(same_time(column, left_out, 1, last)[0][0])


def test_the_phase_of_a_template_is_found() -> None:
    template = np.sin(2 * np.pi * np.arange(24) / 24) + (np.arange(24) > 12)
    column = np.tile(np.roll(template, -5), 3)
    levels = phase_levels(column, NONE[:72], 24)
    assert levels.tolist() == column[:24].tolist()
    assert phase_of(levels, template) == 5
    few = np.arange(72) >= 11
    assert phase_of(phase_levels(column, few, 24), template) is None


def test_the_level_before_by_hand() -> None:
    # ten blocks at level 0, 1, 2, …
    column = np.repeat(np.arange(10.0), BLOCK_ROWS)
    found = level_before(column, NONE[:200], slice(0, 200), SHORT_MEMORY)
    assert (NEAREST_BLOCK, SHORT_MEMORY) == (2, 6)
    # block 8: the median of blocks 2 to 6; block 3: of 0 and 1; the first has none before it
    assert found[8 * BLOCK_ROWS] == 4.0
    assert found[3 * BLOCK_ROWS] == 0.5
    assert found[0] == 0.0
    assert found[9 * BLOCK_ROWS - 1] == 4.0
    # a long memory goes back to the first
    assert level_before(column, NONE[:200], slice(180, 200), LONG_MEMORY).tolist() == [3.5] * 20


def test_a_level_outlasts_rows_that_are_not_usual() -> None:
    column = np.concatenate([np.full(100, 3.0), np.full(300, 50.0)])
    left_out = np.arange(400) >= 90
    assert set(level_before(column, left_out, slice(0, 400), SHORT_MEMORY).tolist()) == {3.0}
    # though they are asked for from the middle of them
    assert set(level_before(column, left_out, slice(350, 400), SHORT_MEMORY).tolist()) == {3.0}
    assert np.isnan(
        level_before(column, np.ones(400, dtype=bool), slice(0, 400), SHORT_MEMORY)
    ).all()


@given(
    st.integers(1, 300),
    st.integers(1, 60),
    st.integers(0, 5),
    st.data(),
)
def test_a_piece_is_as_the_whole(rows: int, cycle: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    column, left_out = rng.normal(size=rows), rng.random(rows) < 0.3
    start = data.draw(st.integers(0, rows - 1))
    stop = data.draw(st.integers(start + 1, rows))
    whole, part = slice(0, rows), slice(start, stop)
    for reference in (
        lambda asked: same_time(column, left_out, cycle, asked)[0],
        lambda asked: level_before(column, left_out, asked, SHORT_MEMORY),
    ):
        known = ~np.isnan(reference(whole)[part])
        np.testing.assert_array_equal(reference(part)[known], reference(whole)[part][known])


@pytest.mark.parametrize("rows", [1, 2, 19, 20, 21])
def test_the_shortest_segments_have_a_level(rows: int) -> None:
    found = level_before(np.full(rows, 2.5), NONE[:rows], slice(0, rows), SHORT_MEMORY)
    assert found.tolist() == [2.5] * rows
