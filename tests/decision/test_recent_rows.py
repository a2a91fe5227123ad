"""The latest thousand rows, with what was found in them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from subadjacent.decision.recent_rows import ROWS_KEPT, RecentBuffer, RecentRows


def rows(first: int, count: int) -> RecentRows:
    numbers = np.arange(first, first + count)
    wide = np.column_stack([numbers, -numbers]).astype(float)
    none, ranges = np.zeros(wide.shape, bool), wide[:, None] + np.arange(3)[:, None]
    return RecentRows(wide, wide + 1, none, none, numbers % 3 == 0, numbers % 100 == 0, ranges)


@pytest.mark.parametrize("size", [1, 7, 256, ROWS_KEPT])
def test_the_latest_rows_are_kept_however_they_come(size: int) -> None:
    recent = RecentBuffer(2, keeps_ranges=True)
    for first in range(0, 5 * ROWS_KEPT, size):
        recent.add(rows(first, size), [f"t{n}" for n in range(first, first + size)])
    last = recent.count - 1
    kept = recent.until(last)
    for found, expected in zip(kept, rows(recent.count - ROWS_KEPT, ROWS_KEPT), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert recent.labels(last, 2) == [f"t{last - 1}", f"t{last}"]
    assert recent.label(last - 5) == f"t{last - 5}"
    # what is older than all is as old as can be told
    assert recent.label(3) == f"t{recent.count - ROWS_KEPT}"
    arrays, facts = recent.state()
    again = RecentBuffer.restore(arrays, json.loads(json.dumps(facts)))
    for found, expected in zip(again.until(last), kept, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert again.label(last) == recent.label(last)


def test_rows_up_to_an_earlier_one() -> None:
    recent = RecentBuffer(2, keeps_ranges=True)
    recent.add(rows(0, 10), None)
    assert recent.until(6).values[:, 0].tolist() == list(range(7))
    assert recent.labels(6, 3) == [4, 5, 6]
    assert recent.label(4) == 4


def test_a_channel_was_silent_before_it_was_known() -> None:
    recent = RecentBuffer(2, keeps_ranges=True)
    recent.add(rows(0, 10), None)
    recent.mark(6, 1, 2, missing=True)
    recent.mark(3, 0, 9, missing=False)
    kept = recent.until(9)
    assert np.flatnonzero(kept.missing[:, 1]).tolist() == [4, 5, 6]
    assert np.flatnonzero(kept.silent[:, 1]).tolist() == [4, 5, 6]
    assert np.flatnonzero(kept.silent[:, 0]).tolist() == [0, 1, 2, 3]
    assert not kept.missing[:, 0].any()


def test_a_channel_without_a_value_gets_its_first_one() -> None:
    recent = RecentBuffer(2, keeps_ranges=True)
    recent.add(rows(0, 3), None)
    recent.put(1, 5.0)
    assert recent.until(2).values[:, 1].tolist() == [5, 5, 5]


def test_segments_begin_at_the_first_row_and_where_they_are_marked() -> None:
    assert rows(90, 20).segment_starts == (0, 10)
    assert rows(100, 5).segment_starts == (0,)


def test_rows_are_kept_for_an_event_that_waits_for_its_explanation() -> None:
    recent = RecentBuffer(2, wait=300, keeps_ranges=True)
    for first in range(0, 4000, 100):
        recent.add(rows(first, 100), None)
    again = RecentBuffer.restore(*recent.state(), wait=300)
    for buffer in (recent, again):
        # a thousand rows up to one that came 300 rows ago, and no more of the latest
        for row in (3699, 3999):
            kept = buffer.until(row).values[:, 0]
            assert (len(kept), kept[0], kept[-1]) == (ROWS_KEPT, row + 1 - ROWS_KEPT, row)
        assert len(buffer.until(3500).values) == ROWS_KEPT + 300 - 499
        assert buffer.label(0) == 4000 - ROWS_KEPT - 300
