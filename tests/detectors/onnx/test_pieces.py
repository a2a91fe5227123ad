"""A graph that scores piece by piece finds what it would find in all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detectors.onnx.graphs import run
from subadjacent.detectors.onnx import pieces
from subadjacent.detectors.onnx.missing import FilledRows
from subadjacent.detectors.onnx.moving import Window, window_sums
from subadjacent.detectors.onnx.pieces import in_pieces
from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.views import EvidenceOutput
from subadjacent.scoring.evidence import Reach


def assess(rows: Value) -> EvidenceOutput:
    """Sums over two rows before a row, itself and one after it; and how many rows were seen."""
    (total,) = window_sums(rows, [Window(4, 1)])
    seen = rows * 0.0 + rows.count.cast(np.float64)
    return EvidenceOutput(total.sum(1), seen.cast(np.float32))


def found(rows: np.ndarray, missing: np.ndarray, reach: Reach) -> list[Any]:
    def build(values: Value, gaps: Value) -> list[Value]:
        return [*in_pieces(FilledRows(values, gaps), 1, reach, assess)]

    return run(build, [np.float64, np.float32], rows[:, None], missing)


def test_pieces_come_to_the_whole_and_see_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "ROWS", 4)
    monkeypatch.setattr(pieces, "TIMES", 1)
    rows = 2.0 ** np.arange(9)
    score, seen = found(rows, np.zeros(9, bool), Reach(2, 1))
    assert score.tolist() == [3.0, 7.0, 15.0, 30.0, 60.0, 120.0, 240.0, 480.0, 448.0]
    # four rows and one after them, with two before them, and the last with two before it
    assert seen[:, 0].tolist() == [5.0] * 4 + [7.0] * 4 + [3.0]


def test_rows_with_a_missing_value_are_scored_by_themselves() -> None:
    missing = np.array([False, False, True, True, False])
    score, seen = found(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), missing, Reach(2, 1))
    assert score.tolist() == [3.0, 3.0, 12.0, 12.0, 16.0]
    assert seen[:, 0].tolist() == [2.0, 2.0, 2.0, 2.0, 1.0]


def test_pieces_begin_where_windows_of_the_whole_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "ROWS", 4)
    monkeypatch.setattr(pieces, "TIMES", 1)
    # pieces of six rows, of which six before them are seen: multiples of three
    _, seen = found(np.ones(14), np.zeros(14, bool), Reach(4, 1, 3))
    assert seen[:, 0].tolist() == [7.0] * 6 + [13.0] * 6 + [8.0] * 2


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_rows_are_no_trouble(n: int) -> None:
    score, seen = found(np.ones(n), np.zeros(n, bool), Reach(2, 1))
    assert score.tolist() == [1.0] * n
    assert seen.shape == (n, 1)
