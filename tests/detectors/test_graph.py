"""The graph of a fitted network says what its detector says, whatever the settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from subadjacent import AnomalyTransformerDetector, SubAdjacentDetector, multivariate
from subadjacent.detectors.graph import Found, ScoringGraph, mirrored, stitch
from subadjacent.detectors.neural import NeuralDetector

QUICK: dict[str, Any] = {"epochs": 1, "window": 20, "contamination": 0.05}
PLANT = multivariate(n=400, channels=3)
ROWS = PLANT.test.astype(np.float32)
SETTINGS: dict[str, NeuralDetector] = {
    "network": SubAdjacentDetector(recipe="network", size="tiny", **QUICK),
    "paper": SubAdjacentDetector(recipe="paper", size="tiny", **QUICK),
    "overlap": SubAdjacentDetector(
        recipe="network", size="tiny", temperature=3.0, scoring_stride=7, **QUICK
    ),
    "blocks": SubAdjacentDetector(recipe="paper", size="tiny", block=13, memory=50, **QUICK),
    "released": SubAdjacentDetector(recipe="paper", size="tiny", dynamic="released", **QUICK),
    "printed": SubAdjacentDetector(recipe="paper", size="tiny", dynamic="printed", **QUICK),
    "long": SubAdjacentDetector(recipe="network", size="tiny", **QUICK | {"window": 150}),
    "transformer": AnomalyTransformerDetector(size="small", temperature=5.0, **QUICK),
}


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request: pytest.FixtureRequest) -> NeuralDetector:
    return SETTINGS[request.param].fit(PLANT.train)


def run(detector: NeuralDetector, rows: np.ndarray, threshold: float) -> Found:
    graph = ScoringGraph(detector, detector.scalers_.of(None)).eval()
    with torch.no_grad():
        found: Found = graph(torch.from_numpy(rows), torch.tensor(threshold, dtype=torch.float64))
    return found


@pytest.mark.parametrize("n", [1, 7, 19, 20, 21, 39, 40, 41, 151, 397])
def test_the_graph_gives_what_the_detector_gives(detector: NeuralDetector, n: int) -> None:
    rows = ROWS[:n]
    found = run(detector, rows, detector.threshold_)
    np.testing.assert_allclose(found.score, detector.decision_function(rows), rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(found.expected, detector.trace(rows)[0].expected, rtol=1e-5)
    assert (found.alarm.numpy() == detector.predict(rows)).all()


def test_a_stretch_goes_on_as_its_mirror_image() -> None:
    assert mirrored(torch.arange(8), 3).tolist() == [0, 1, 2, 2, 1, 0, 0, 1]


def test_overlapping_windows_are_averaged_and_what_does_not_count_is_left_out() -> None:
    at = torch.tensor([[0, 1], [1, 2], [2, 3]])
    counts = torch.tensor([[True, True], [True, True], [False, True]])
    found = torch.tensor([[1.0, 2.0], [4.0, 8.0], [100.0, 16.0]])[..., None]
    assert stitch(at, counts, found, 4).flatten().tolist() == [1.0, 3.0, 8.0, 16.0]


def test_the_graph_keeps_what_it_was_made_of() -> None:
    detector = SubAdjacentDetector(recipe="network", size="tiny", **QUICK).fit(PLANT.train)
    graph = ScoringGraph(detector, detector.scalers_.of(None)).eval()
    threshold = torch.tensor(detector.threshold_, dtype=torch.float64)
    with torch.no_grad():
        before = graph(torch.from_numpy(ROWS), threshold).score
        for weight in detector.network_.parameters():
            weight.zero_()
        assert torch.equal(graph(torch.from_numpy(ROWS), threshold).score, before)
