"""From rows to evidence by a network: a toy one on fingers, then the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from subadjacent.data.plant import Plant
from subadjacent.data.scaling import Scaler
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.neural.method import NeuralMethod
from subadjacent.methods.neural.model import Calibration, NeuralModel
from subadjacent.methods.neural.paper_score import PaperScore
from subadjacent.methods.neural.transformers import SubAdjacentMethod
from subadjacent.networks.network import Network, WindowEvidence
from subadjacent.runtime import Runtime


@dataclass(frozen=True)
class LevelConfig:
    """Settings of the toy."""

    channels: int


class Level(Network):
    """Expects the same level at every point of a channel; it learns the level."""

    def __init__(self, config: LevelConfig) -> None:
        super().__init__(config)
        self.level = nn.Parameter(torch.zeros(config.channels))
        self.passes = 0

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        return [(windows - self.level).square().mean()]

    def assess(self, windows: Tensor) -> WindowEvidence:
        self.passes += len(windows)
        expected = self.level.expand_as(windows)
        return WindowEvidence((windows - expected).square(), expected, {})


@dataclass(frozen=True, kw_only=True)
class LevelMethod(NeuralMethod):
    """The toy as a method: nothing but a network, and what makes up its settings."""

    network = Level

    def configure(self, channels: int, window: int) -> LevelConfig:  # noqa: ARG002
        return LevelConfig(channels)

    def saved_config(self, saved: dict[str, Any], window: int) -> LevelConfig:  # noqa: ARG002
        return LevelConfig(**saved)


def toy(window: int = 2, stride: int = 2, **others: Any) -> NeuralModel:
    """Expects 10 and 20: the centre of its scale, whose unit is 2 and 5."""
    scaler = Scaler(np.array([10.0, 20.0]), np.array([2.0, 5.0]))
    usual = Calibration(0.5, np.array([0.5]), np.array([0.999, 3.999]))
    paper = PaperScore(0.0, dynamic="none")
    model = NeuralModel(Level(LevelConfig(2)), scaler, window, stride, usual, paper)
    return replace(model, **others)


ROWS = np.array([[10.0, 20.0], [12.0, 20.0], [10.0, 40.0]])


def test_evidence_by_hand() -> None:
    found = toy().assess(ROWS)
    # in units: (0, 0), (1, 0) and (0, 4)
    assert found.score.tolist() == [0.0, 0.5, 8.0]
    # squares over what is usual and a thousandth: 1 / 1 and 16 / 4
    np.testing.assert_allclose(found.by_channel, [[0, 0], [1, 0], [0, 4]])
    assert found.expected is not None
    np.testing.assert_allclose(found.expected, [[10, 20]] * 3)
    assert {name: trace.tolist() for name, trace in found.traces.items()} == {
        "error": [0.0, 0.5, 8.0],
        "score": [0.0, 0.5, 8.0],
    }


def test_a_channel_that_never_moved_is_not_infinitely_unusual() -> None:
    still = toy(calibration=Calibration(0.5, np.array([0.5]), np.zeros(2)))
    np.testing.assert_allclose(still.assess(ROWS).by_channel[1], [1 / 0.001, 0])


def test_smoothing_takes_the_usual_score_before_the_first_row() -> None:
    model = toy(paper=PaperScore(0.0, smoothing=2, dynamic="none"))
    found = model.assess(ROWS)
    assert found.score.tolist() == [0.25, 0.25, 4.25]
    assert found.traces["score"].tolist() == [0.0, 0.5, 8.0]


def test_rows_go_through_the_network_once() -> None:
    model = toy()
    model.assess(np.zeros((7, 2)))
    # three windows of two rows, and one at the end
    assert model.network.passes == 4


@pytest.mark.parametrize(
    ("others", "reach"),
    [
        ({"paper": PaperScore(0.0, dynamic="none")}, (1, 1, 2)),
        ({"window": 10, "stride": 3, "paper": PaperScore(0.0, dynamic="none")}, (9, 9, 3)),
        ({"paper": PaperScore(0.0, smoothing=5, dynamic="none")}, (5, 1, 2)),
        # the trailing form looks at as many scores before as it warms up with
        ({"paper": PaperScore(0.0, smoothing=5, dynamic="trailing")}, (6, 1, 2)),
        ({"paper": PaperScore(0.0, dynamic="released")}, (0, None, 1)),
        ({"paper": PaperScore(1.0, block=5, dynamic="none")}, (0, None, 1)),
    ],
)
def test_reach_by_hand(others: dict[str, Any], reach: tuple[int, int | None, int]) -> None:
    assert tuple(toy(**others).reach) == reach


SMALL: dict[str, Any] = {"size": "tiny", "window": 20, "epochs": 1, "stride": 4, "memory": 30}


@pytest.fixture(scope="module")
def rows(plant: Plant) -> np.ndarray:
    return plant.train


def fitted(method: NeuralMethod, rows: np.ndarray) -> NeuralModel:
    model = method.fit([TrainSeries(rows)], Runtime(device="cpu")).models.pooled
    assert isinstance(model, NeuralModel)
    return model


def test_the_network_learns_what_it_can(rows: np.ndarray) -> None:
    shifted = np.concatenate([rows[:800] + 3, rows[800:]])
    model = fitted(LevelMethod(window=20, epochs=5, learning_rate=0.05, batch_size=8), shifted)
    expected = model.assess(shifted[:50]).expected
    assert expected is not None
    # of the rows before the cut alone
    np.testing.assert_allclose(expected[0], shifted[:800].mean(axis=0), atol=0.2)


def test_attention_is_that_of_the_window_that_scores_the_row(rows: np.ndarray) -> None:
    model = fitted(SubAdjacentMethod(**SMALL), rows)
    first, matrix = model.attention_around(rows[:50], 37)
    assert first == 20
    assert matrix.shape == (20, 20)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-4)
    # the last window is moved back from the grid
    assert model.attention_around(rows[:50], 49)[0] == 30
    assert model.attention_around(rows[:7], 5)[0] == 0


def test_a_network_without_attention_says_so() -> None:
    with pytest.raises(InputError, match="Level has no attention to look at"):
        toy().attention_around(ROWS, 0)
