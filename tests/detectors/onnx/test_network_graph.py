"""The graph of a fitted network says what its detector says, whatever the settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from subadjacent import (
    AnomalyTransformerDetector,
    StrictTransformerDetector,
    SubAdjacentTransformerDetector,
    multivariate,
)
from subadjacent.detectors.network import NetworkDetector
from subadjacent.detectors.onnx.network_graph import GraphOutput, ScoringGraph, mirrored, stitch

QUICK: dict[str, Any] = {"epochs": 1, "window": 20, "contamination": 0.05}
PLANT = multivariate(n=400, channels=3)
ROWS = PLANT.test.astype(np.float32)
PLAIN: dict[str, Any] = {"temperature": 0.0, "dynamic": "none"}


def quick(**parameters: Any) -> NetworkDetector:
    return SubAdjacentTransformerDetector(**{"size": "tiny", "stride": 4} | QUICK | parameters)


SETTINGS: dict[str, NetworkDetector] = {
    "plain": quick(**PLAIN, smoothing=20),
    "paper": quick(),
    "overlap": quick(temperature=3.0, dynamic="none", scoring_stride=7),
    "blocks": quick(block=13, memory=50),
    "plain blocks": quick(block=13, **PLAIN),
    "released": quick(dynamic="released"),
    "printed": quick(dynamic="printed"),
    "long": quick(**PLAIN, window=150),
    "strict": StrictTransformerDetector(size="tiny", **QUICK),
    "transformer": AnomalyTransformerDetector(size="small", temperature=5.0, **QUICK),
}


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request: pytest.FixtureRequest) -> NetworkDetector:
    return SETTINGS[request.param].fit(PLANT.train)


def graph_of(detector: NetworkDetector) -> ScoringGraph:
    return ScoringGraph(detector.models_.pooled).eval()


def run(detector: NetworkDetector, rows: np.ndarray, threshold: float) -> GraphOutput:
    with torch.no_grad():
        found: GraphOutput = graph_of(detector)(
            torch.from_numpy(rows), torch.tensor(threshold, dtype=torch.float64)
        )
    return found


@pytest.mark.parametrize("n", [1, 7, 19, 20, 21, 39, 40, 41, 151, 397])
def test_the_graph_gives_what_the_detector_gives(detector: NetworkDetector, n: int) -> None:
    rows = ROWS[:n]
    found = run(detector, rows, detector.threshold_)
    scores = detector.decision_function(rows)
    np.testing.assert_allclose(found.score, scores, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(found.expected, detector.assess(rows).expected, rtol=1e-4, atol=1e-5)
    # what the rows around make of it is decided elsewhere
    assert (found.alarm.numpy() == (scores > detector.threshold_)).all()


def test_a_segment_goes_on_as_its_mirror_image() -> None:
    assert mirrored(torch.arange(8), 3).tolist() == [0, 1, 2, 2, 1, 0, 0, 1]


def test_overlapping_windows_are_averaged_and_what_does_not_count_is_left_out() -> None:
    at = torch.tensor([[0, 1], [1, 2], [2, 3]])
    counts = torch.tensor([[True, True], [True, True], [False, True]])
    found = torch.tensor([[1.0, 2.0], [4.0, 8.0], [100.0, 16.0]])[..., None]
    assert stitch(at, counts, found, 4).flatten().tolist() == [1.0, 3.0, 8.0, 16.0]


def test_the_graph_keeps_what_it_was_made_of() -> None:
    detector = quick().fit(PLANT.train)
    graph = graph_of(detector)
    threshold = torch.tensor(detector.threshold_, dtype=torch.float64)
    with torch.no_grad():
        before = graph(torch.from_numpy(ROWS), threshold).score
        for weight in detector.network_.parameters():
            weight.zero_()
        assert torch.equal(graph(torch.from_numpy(ROWS), threshold).score, before)
