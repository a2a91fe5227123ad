"""Rows with those before them, and samples of them: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from methods.tasks import task
from subadjacent.methods.trailing import CHUNK, by_channel, sample, trailing


def test_a_row_comes_after_those_before_it_and_the_first_stands_for_what_was_earlier() -> None:
    rows = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    ((part, vectors),) = trailing(rows, 2)
    assert part == slice(0, 3)
    assert vectors.tolist() == [[1, 10, 1, 10], [1, 10, 2, 20], [2, 20, 3, 30]]


@pytest.mark.parametrize("n", [1, CHUNK, CHUNK + 1])
def test_all_rows_come_however_many(n: int) -> None:
    rows = np.arange(float(n))[:, None]
    parts = list(trailing(rows, 3))
    assert [part.start for part, _ in parts] == list(range(0, n, CHUNK))
    vectors = np.concatenate([one for _, one in parts])
    np.testing.assert_array_equal(vectors[:, 2], rows[:, 0])
    np.testing.assert_array_equal(vectors[:, 0], np.maximum(rows[:, 0] - 2, 0))


def test_entries_are_added_up_over_the_rows_of_a_window() -> None:
    assert by_channel(np.array([[1.0, 10.0, 2.0, 20.0]]), 2).tolist() == [[3, 30]]


def test_few_windows_are_all_taken_and_none_reaches_over_a_break() -> None:
    rows = np.arange(5.0)[:, None]
    assert sample(task(rows), 2, 9).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert sample(task(rows, starts=(0, 2)), 2, 9).tolist() == [[0, 1], [2, 3], [3, 4]]


def test_of_many_windows_some_are_drawn_in_their_order_by_the_seed_alone() -> None:
    rows = np.arange(1000.0)[:, None]
    first = sample(task(rows, starts=(0, 300)), 1, 100)[:, 0]
    assert len(np.unique(first)) == 100
    assert (np.diff(first) > 0).all()
    # from both segments, about as many as they are long
    assert 15 < (first < 300).sum() < 45
    np.testing.assert_array_equal(first, sample(task(rows, starts=(0, 300)), 1, 100)[:, 0])
    other = sample(task(rows, starts=(0, 300), seed=1), 1, 100)[:, 0]
    assert not np.array_equal(first, other)


def test_very_long_vectors_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.methods.trailing.MAX_SAMPLE_VALUES", 60)
    rows = np.zeros((50, 2))
    assert sample(task(rows), 3, 100).shape == (10, 6)
    assert sample(task(rows), 40, 100).shape == (1, 80)
