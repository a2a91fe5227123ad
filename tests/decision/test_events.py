"""Rows above a threshold, joined into events, and what of them is the event itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.decision.events import join, rows_of
from subadjacent.errors import InputError


def flags(text: str) -> np.ndarray:
    """Rows above the threshold, drawn as #."""
    return np.array([mark == "#" for mark in text], dtype=bool)


def join_oracle(above: list[bool], gap: int, shortest: int) -> list[tuple[int, int]]:
    """Row by row: a row above joins the event before it when few enough rows lie between."""
    events: list[list[int]] = []
    for row, is_above in enumerate(above):
        if is_above and events and row - events[-1][1] - 1 <= gap:
            events[-1][1] = row
        elif is_above:
            events.append([row, row])
    return [(first, last + 1) for first, last in events if last + 1 - first >= shortest]


def test_events_by_hand() -> None:
    cases: list[Any] = [
        ("..##..#.", 0, 1, [(2, 4), (6, 7)]),
        ("..##..#.", 1, 1, [(2, 4), (6, 7)]),
        ("..##..#.", 2, 1, [(2, 7)]),
        ("..##..#.", 0, 2, [(2, 4)]),
        # joined first, then assessed by its span
        ("#.#..#", 1, 3, [(0, 3)]),
        ("#.....#", 0, 1, [(0, 1), (6, 7)]),
        ("###", 0, 1, [(0, 3)]),
        ("#", 0, 1, [(0, 1)]),
        ("#", 0, 2, []),
        ("....", 9, 1, []),
        ("", 0, 1, []),
    ]
    for above, gap, shortest, events in cases:
        assert join(flags(above), gap, shortest) == events


def test_no_event_reaches_across_a_break() -> None:
    above = flags(".##|#.#".replace("|", ""))
    assert join(above, gap=5) == [(1, 6)]
    assert join(above, gap=5, segments=[(0, 3), (3, 6)]) == [(1, 3), (3, 6)]


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 5), st.integers(1, 5))
def test_events_are_those_of_a_loop(above: list[bool], gap: int, shortest: int) -> None:
    found = join(np.array(above, dtype=bool), gap, shortest)
    assert found == join_oracle(above, gap, shortest)


@given(st.lists(st.booleans(), max_size=40))
def test_without_gaps_the_events_rows_are_the_rows_above(above: list[bool]) -> None:
    marked = np.array(above, dtype=bool)
    np.testing.assert_array_equal(rows_of(join(marked), len(marked)), marked)


def test_rows_of_events_by_hand() -> None:
    assert rows_of([(1, 3), (4, 5)], 6).tolist() == [False, True, True, False, True, False]
    assert rows_of([], 2).tolist() == [False, False]


def test_what_is_no_number_of_rows_is_refused() -> None:
    cases: list[Any] = [
        ({"gap": -1}, "gap must be a whole number of at least 0; got -1"),
        ({"shortest": 0}, "shortest must be a whole number of at least 1; got 0"),
        ({"gap": 1.5}, "gap must be a whole number of at least 0; got 1.5"),
    ]
    for options, message in cases:
        with pytest.raises(InputError) as caught:
            join(flags("#"), **options)
        assert str(caught.value) == message
