"""Gaps are carried over; long ones and stuck channels are told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data.gaps import FilledRows, ForwardFill
from subadjacent.decision.silence_stream import SilenceTracker

NAN = np.nan


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def moving(rows: int) -> np.ndarray:
    return column(*np.arange(rows))


def none(rows: int) -> np.ndarray:
    return np.zeros(rows, dtype=bool)


def follow(
    silence: SilenceTracker, values: np.ndarray, gaps: np.ndarray | None = None
) -> list[bool]:
    counts = np.zeros(values.shape, dtype=np.int64) if gaps is None else gaps
    return silence.step(FilledRows(values, counts), none(len(values))).silent[:, 0].tolist()


def test_a_gap_is_silent_once_it_is_longer_than_the_limit() -> None:
    silence = SilenceTracker(1, fill_limit=2)
    found = silence.step(FilledRows(moving(5), column(0, 1, 2, 3, 4).astype(np.int64)), none(5))
    assert found.missing[:, 0].tolist() == [False, False, False, True, True]
    assert found.silent.tolist() == found.missing.tolist()
    assert found.begins[:, 0].tolist() == [False, False, False, True, False]
    assert found.since[:, 0].tolist() == [0, 0, 0, 2, 3]


def test_a_gap_that_was_accepted_is_no_news_until_the_channel_speaks() -> None:
    silence = SilenceTracker(1, fill_limit=0)
    gap = column(1).astype(np.int64)
    assert follow(silence, moving(1), gap) == [True]
    silence.accept()
    assert follow(silence, moving(1), gap + 1) == [False]
    assert follow(silence, moving(3), column(3, 0, 1).astype(np.int64)) == [False, False, True]


def test_a_gap_is_news_again_after_rows_in_which_all_channels_spoke() -> None:
    silence = SilenceTracker(1, fill_limit=0)
    gap = column(1).astype(np.int64)
    follow(silence, moving(1), gap)
    silence.accept()
    assert not any(follow(silence, 5 + moving(3)))
    assert follow(silence, moving(1), gap) == [True]


def test_what_stands_still_for_a_moment_when_something_is_accepted_is_not_usual() -> None:
    silence = SilenceTracker(1, 10, still=np.array([1.0]))
    follow(silence, np.zeros((10, 1)))
    silence.accept()
    follow(silence, 1 + moving(3))
    assert follow(silence, np.zeros((20, 1)))[-1]


def test_a_channel_that_never_stood_still_is_stuck_after_twenty_rows() -> None:
    silence = SilenceTracker(1, 10)
    follow(silence, moving(150))
    assert follow(silence, np.full((25, 1), -1.0)) == [False] * 19 + [True] * 6
    # it moves again, and is stuck again: what was an alarm did not make it usual
    follow(silence, moving(30))
    assert follow(silence, np.full((20, 1), -1.0))[-1]
    # the same where all of it comes at once
    other, stuck = SilenceTracker(1, 10), np.full((25, 1), -1.0)
    follow(other, moving(150))
    assert follow(other, np.vstack([stuck, moving(30), stuck]))[-1]


def test_stuck_since_is_the_first_equal_row() -> None:
    silence = SilenceTracker(1, 10, still=np.array([1.0]))
    found = silence.step(FilledRows(np.full((21, 1), 2.0), np.zeros((21, 1), np.int64)), none(21))
    assert found.since[:, 0].tolist() == [0] * 19 + [19, 20]
    assert found.begins[:, 0].tolist() == [False] * 19 + [True, False]


def test_a_stuck_channel_whose_values_go_missing_is_told_again() -> None:
    silence = SilenceTracker(1, 2, still=np.array([1.0]))
    gaps = np.zeros((30, 1), np.int64)
    gaps[25:, 0] = np.arange(1, 6)
    found = silence.step(FilledRows(np.zeros((30, 1)), gaps), none(30))
    assert np.flatnonzero(found.silent[:, 0]).tolist() == list(range(19, 30))
    assert np.flatnonzero(found.begins[:, 0]).tolist() == [19, 27]


def test_what_was_accepted_does_not_begin() -> None:
    silence = SilenceTracker(1, fill_limit=1)
    assert follow(silence, moving(1), column(1).astype(np.int64)) == [False]
    silence.accepted[:] = True
    found = silence.step(FilledRows(moving(2), column(2, 3).astype(np.int64)), none(2))
    assert not found.begins.any()


@pytest.mark.parametrize("run", [6, 19])
def test_a_channel_that_stood_still_for_some_rows_is_not_stuck(run: int) -> None:
    silence = SilenceTracker(1, 10)
    follow(silence, moving(150))
    follow(silence, np.full((run, 1), -1.0))
    follow(silence, moving(5))
    assert not any(follow(silence, np.full((100, 1), -1.0)))


def test_what_stands_still_in_the_first_hundred_rows_does_so_usually() -> None:
    silence = SilenceTracker(1, 10)
    follow(silence, moving(40))
    assert not any(follow(silence, np.full((40, 1), -1.0)))
    follow(silence, moving(200))
    assert not any(follow(silence, np.full((40, 1), -1.0)))


def test_a_gap_that_was_accepted_is_not_stuck_by_the_value_that_stands_in_for_it() -> None:
    silence = SilenceTracker(1, fill_limit=2, still=np.array([1.0]))
    gaps = np.arange(1, 31)[:, None]
    assert follow(silence, np.zeros((5, 1)), gaps[:5])[-1]
    silence.accept()
    assert not any(follow(silence, np.zeros((25, 1)), gaps[5:]))


def test_a_channel_that_is_constant_from_the_start_is_not_stuck() -> None:
    assert not any(follow(SilenceTracker(1, 10), np.zeros((300, 1))))


def test_what_training_says_holds_for_good() -> None:
    still = SilenceTracker(1, 10, still=np.array([50.0]))
    assert not any(follow(still, np.zeros((300, 1))))
    lively = SilenceTracker(1, 10, still=np.array([5.0]))
    follow(lively, moving(10))
    follow(lively, np.zeros((10, 1)))
    assert follow(lively, np.ones((20, 1)))[-1]


def test_stuck_that_was_accepted_is_usual() -> None:
    silence = SilenceTracker(1, 10, still=np.array([1.0]))
    assert follow(silence, np.zeros((20, 1)))[-1]
    silence.accept()
    assert not any(follow(silence, np.zeros((20, 1))))


def test_a_segment_begins_a_run_anew() -> None:
    silence = SilenceTracker(1, 10, still=np.array([1.0]))
    starts = none(30)
    starts[15] = True
    found = silence.step(FilledRows(np.zeros((30, 1)), np.zeros((30, 1), np.int64)), starts)
    assert not found.silent.any()


cells = st.sampled_from([NAN, 0.0, 0.0, 0.0, 1.0])
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=80)


@given(tables, st.lists(st.integers(1, 30), min_size=1, max_size=5), st.booleans())
def test_grouping_and_stopping_change_nothing(
    rows: list[tuple[float, float]], sizes: list[int], learns: bool
) -> None:
    table = np.array(rows)
    still = None if learns else np.array([5.0, 5.0])

    def begin() -> tuple[ForwardFill, SilenceTracker]:
        return ForwardFill(np.zeros(2)), SilenceTracker(2, 3, still)

    filler, silence = begin()
    filled = filler.step(table)
    expected = silence.step(filled, none(len(table)))
    filler, silence = begin()
    found, start = [], 0
    while start < len(table):
        part = table[start : start + sizes[len(found) % len(sizes)]]
        found.append(silence.step(filler.step(part), none(len(part))))
        saved = filler.state(), silence.state()
        filler, silence = begin()
        filler.restore(saved[0])
        silence.restore(saved[1])
        start += len(part)
    for place, name in enumerate(expected._fields):
        np.testing.assert_array_equal(
            np.concatenate([one[place] for one in found]), expected[place], err_msg=name
        )
