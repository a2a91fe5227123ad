"""Which rows are neighbours, and their values without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from subadjacent.errors import FARTHEST, InputError
from subadjacent.ridge.neighbours import Neighbours

LAYOUTS = [
    Neighbours(1, 1, 1),
    Neighbours(2, 5, 5),
    Neighbours(2, 5, 3),
    # a side that reaches less far than the nearest neighbour has none
    Neighbours(3, 4, 2),
    Neighbours(5, 30, 0),
    Neighbours(5, 0, 30),
    Neighbours(1, 7, 7, 3),
    Neighbours(4, 18, 9, 5),
    Neighbours(20, 60, 60, 16),
    Neighbours(3, 4, 4, 9),
]


def test_distances_two_and_three_by_hand() -> None:
    neighbours = Neighbours(2, 3, 3)
    assert neighbours.offsets.tolist() == [-3, -2, 2, 3]
    assert neighbours.sides == ((-3, 2), (2, 2))
    assert neighbours.count == 4
    assert neighbours.complete(10) == slice(3, 7)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_offsets_and_complete_rows_are_the_definition(layout: Neighbours) -> None:
    before, after = (
        [d for d in range(layout.near, reach + 1) if (d - layout.near) % layout.step == 0]
        for reach in (layout.behind, layout.ahead)
    )
    assert layout.offsets.tolist() == [*(-d for d in reversed(before)), *after]
    assert layout.count == len(before) + len(after)
    for rows in (0, 1, 2, 17, 60, 61, 121, 200):
        complete = layout.complete(rows)
        assert 0 <= complete.start <= complete.stop <= rows
        assert list(range(rows))[complete] == [
            row for row in range(rows) if row - layout.behind >= 0 and row + layout.ahead < rows
        ]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize(("more", "columns"), [(1, 3), (3, 1), (16, 3), (83, 1)])
def test_aligned_gives_the_neighbours_of_every_row_once(
    layout: Neighbours, more: int, columns: int
) -> None:
    rows = layout.behind + more + layout.ahead
    values = np.random.default_rng(rows).normal(size=(rows, columns))
    complete = layout.complete(rows)
    seen = []
    for where, views in layout.aligned(values, complete.start, complete.stop):
        here = list(range(complete.start, complete.stop))[where]
        seen += here
        for row, *sides in zip(here, *views, strict=True):
            wanted = np.concatenate([values[row + offset] for offset in layout.offsets])
            np.testing.assert_array_equal(np.concatenate(sides), wanted)
    assert sorted(seen) == list(range(complete.start, complete.stop))


def test_aligned_of_some_rows_counts_from_the_first() -> None:
    values = np.arange(20.0)[:, None]
    found = {}
    for where, (before,) in Neighbours(2, 3, 0).aligned(values, 7, 12):
        found |= dict(zip(range(5)[where], before.tolist(), strict=True))
    # rows 7 to 11, counted from 0: the rows three and two before each
    assert found == {n: [4.0 + n, 5.0 + n] for n in range(5)}
    # without rows there is nothing
    assert list(Neighbours(1, 1, 1).aligned(np.zeros((5, 1)), 2, 2)) == []


def test_layouts_that_make_no_sense_are_refused() -> None:
    refusals: list[tuple[Any, str]] = [
        ((0, 3, 3), "near must be a whole number of at least 1; got 0"),
        ((1, -1, 3), "behind must be a whole number of at least 0; got -1"),
        ((1, 3, 1.5), "ahead must be a whole number of at least 0; got 1.5"),
        ((1, 3, 3, 0), "step must be a whole number of at least 1; got 0"),
    ]
    # neighbours have a farthest
    Neighbours(*[FARTHEST] * 4)
    for place in range(4):
        layout = [FARTHEST + (n == place) for n in range(4)]
        refusals.append((layout, "must be a whole number of at most 100,000"))
    for arguments, message in refusals:
        with pytest.raises(InputError, match=message):
            Neighbours(*arguments)
