"""Times on the grid, worked out by hand."""

from __future__ import annotations

import pytest

from subadjacent.service.watch.grid import (
    MAX_POINTS,
    chunks,
    last_part,
    last_tick,
    next_part,
    points_at_once,
    ticks,
    wait_for_next,
)


def test_the_last_tick_is_a_multiple_of_the_step() -> None:
    assert last_tick(119_999, 60_000) == 60_000
    assert last_tick(120_000, 60_000) == 120_000
    assert last_tick(120_000, 60_000, offset=1) == 60_000


@pytest.mark.parametrize("offset", [0, 7_000, 65_000])
def test_after_the_wait_there_is_a_new_tick(offset: int) -> None:
    for now in (0, 1, 59_999, 60_000, 66_999, 67_000, 123_456):
        wait = wait_for_next(now, 60_000, offset)
        assert wait > 0
        tick = last_tick(now, 60_000, offset)
        assert last_tick(now + wait - 1, 60_000, offset) == tick
        assert last_tick(now + wait, 60_000, offset) == tick + 60_000


def test_parts_hold_at_most_so_many_points() -> None:
    assert next_part(0, 100, step=10, points=3) == (0, 20)
    assert next_part(90, 100, step=10, points=3) == (90, 100)
    assert last_part(0, 100, step=10, points=3) == (80, 100)
    assert last_part(90, 100, step=10, points=3) == (90, 100)
    assert list(ticks(90, 110, 10)) == [90, 100, 110]


def test_the_more_series_the_fewer_points() -> None:
    assert points_at_once(0) == 1_000
    assert points_at_once(1) == MAX_POINTS
    assert points_at_once(1_000) == 500
    assert points_at_once(10**9) == 1


def test_chunks_cover_everything_once() -> None:
    assert [list(range(7))[part] for part in chunks(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(chunks(0, 3)) == []
