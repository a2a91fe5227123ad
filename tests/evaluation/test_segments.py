"""Segments: by hand, at both ends, and back again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.evaluation.segments import segments


def test_segments_by_hand() -> None:
    assert segments([0, 1, 1, 0, 1, 0]).tolist() == [[1, 3], [4, 5]]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1], [[0, 1]]),
        ([0], []),
        ([1, 1, 1], [[0, 3]]),
        ([0, 0], []),
        ([1, 0, 1], [[0, 1], [2, 3]]),
        ([True, False, True, True], [[0, 1], [2, 4]]),
    ],
)
def test_segments_reach_to_both_ends(labels: list[int], expected: list[list[int]]) -> None:
    assert segments(labels).tolist() == expected


def test_no_segments_have_a_shape_that_can_be_looped_over() -> None:
    assert segments([0, 0, 0]).shape == (0, 2)
    assert segments([0, 0, 0]).dtype == np.int64


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60))
def test_rows_inside_segments_are_those_labelled_one(labels: list[int]) -> None:
    bounds = segments(labels)
    rebuilt = np.zeros(len(labels), dtype=int)
    for start, stop in bounds:
        rebuilt[start:stop] = 1
    assert rebuilt.tolist() == labels
    # no two touch, or they would be one
    assert (np.diff(bounds.reshape(-1)) > 0).all()
