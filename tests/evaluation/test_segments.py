"""Segments: by hand, at both ends, and back again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.evaluation.segments import segments


def test_segments_by_hand() -> None:
    for labels, expected in (
        ([0, 1, 1, 0, 1, 0], [[1, 3], [4, 5]]),
        ([1], [[0, 1]]),
        ([0], []),
        ([1, 1, 1], [[0, 3]]),
        ([0, 0], []),
        ([1, 0, 1], [[0, 1], [2, 3]]),
        ([True, False, True, True], [[0, 1], [2, 4]]),
    ):
        assert segments(labels).tolist() == expected
    # none have a shape that can be looped over
    assert (segments([0, 0, 0]).shape, segments([0, 0, 0]).dtype) == ((0, 2), np.int64)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60))
def test_rows_inside_segments_are_those_labelled_one(labels: list[int]) -> None:
    bounds = segments(labels)
    rebuilt = np.zeros(len(labels), dtype=int)
    for start, stop in bounds:
        rebuilt[start:stop] = 1
    assert rebuilt.tolist() == labels
    # no two touch, or they would be one
    assert (np.diff(bounds.reshape(-1)) > 0).all()
