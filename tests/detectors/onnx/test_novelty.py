"""States and shapes in a graph: of references that are equally near, the first is it."""

from __future__ import annotations

import numpy as np

from detectors.onnx.graphs import run
from subadjacent.detectors.onnx.novelty import state_novelty
from subadjacent.detectors.onnx.ridge import SegmentGraph
from subadjacent.detectors.onnx.value import Value
from subadjacent.methods.views.states import StateView

AXES = np.eye(2, dtype=np.float32)


def novelty(view: StateView, rows: np.ndarray) -> list[np.ndarray]:
    def build(values: Value) -> list[Value]:
        return [*state_novelty(SegmentGraph(values), view, 2)]

    return run(build, [float, float], rows)


def test_of_references_that_are_equally_near_or_equal_the_first_is_it() -> None:
    # the first and the second are one to either side of the middle; the third is the first again
    references = np.array([[1, 0], [-1, 0], [1, 0], [1, 4]], dtype=np.float32)
    usual = np.array([0.5, 50.0, 99.0, 7.0], dtype=np.float32)
    view = StateView(AXES, references, usual, floor=0.0)
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 5.0]])
    score, values = novelty(view, rows)
    # squared distances 1, 0 and 1, over two channels; usual ones 0.5 and 7, of which thrice count
    ratios = np.array([0.5 / 1.5, 0.0, 0.5 / 21.0])
    np.testing.assert_allclose(score, np.log1p(ratios**2) / 2, rtol=1e-12)
    # all of it is the first channel's, then nothing is, then all is the second's
    np.testing.assert_allclose(values, 2 * np.array([[score[0], 0], [0, 0], [0, score[2]]]))
    own = view.novelty(rows.astype(np.float32))
    np.testing.assert_allclose(score, own.rows, rtol=1e-6)
    np.testing.assert_allclose(values, own.values, rtol=1e-6)


def test_more_rows_than_a_block_holds_are_judged_as_one_by_one() -> None:
    chance = np.random.default_rng(0)
    references = chance.integers(-2, 3, size=(40, 2)).astype(np.float32)
    view = StateView(AXES, references, np.full(40, 0.1, dtype=np.float32))
    rows = chance.integers(-4, 5, size=(517, 2)).astype(np.float64)
    score, values = novelty(view, rows)
    own = view.novelty(rows.astype(np.float32))
    np.testing.assert_allclose(score, own.rows, rtol=1e-6)
    np.testing.assert_allclose(values, own.values, rtol=1e-6)
