"""Sums over windows in a graph are those of the library."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.onnx.graphs import run
from subadjacent.detectors.onnx.moving import Window, row_counts, window_sums
from subadjacent.detectors.onnx.value import Value
from subadjacent.scoring import moving


def sums(values: np.ndarray, *windows: Window) -> list[np.ndarray]:
    return run(lambda x: window_sums(x, windows), [float] * len(windows), values)


def test_each_row_has_the_sum_of_its_window() -> None:
    values = np.array([1.0, 2.0, 4.0, 8.0])
    back, around, alone = sums(values, Window(2, 0), Window(3, 1), Window(1, 0))
    assert back.tolist() == [1.0, 3.0, 6.0, 12.0]
    assert around.tolist() == [3.0, 7.0, 14.0, 12.0]
    assert alone.tolist() == values.tolist()


@pytest.mark.parametrize("lookahead", [None, 0, 3])
@pytest.mark.parametrize("n", [1, 2, 9, 10, 41, 100])
def test_sums_and_counts_are_those_of_the_library(n: int, lookahead: int | None) -> None:
    values = np.random.default_rng(n).normal(size=(n, 2))
    lengths = (1, 10, 40, 7)
    windows = [Window.around(length, lookahead) for length in lengths]
    for length, found in zip(lengths, sums(values, *windows), strict=True):
        np.testing.assert_allclose(found, moving.moving_sum(values, length, lookahead), atol=1e-12)

    def counts(x: Value) -> list[Value]:
        here = x.writer.numbers(0, x.count)
        return [row_counts(here, x.count, window) for window in windows]

    for length, found in zip(lengths, run(counts, [int] * 4, values), strict=True):
        assert found.tolist() == moving.row_counts(n, length, lookahead).tolist()
