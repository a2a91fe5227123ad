"""What is learned with a network: it judges the rows of a stretch in one pass.

Shapes: T rows of a stretch, C channels, M scores to warm up with.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, stack
from subadjacent.errors import InputError
from subadjacent.methods.method import Model, State
from subadjacent.networks.network import Attentive, Network
from subadjacent.scoring.alarms import ERROR_FLOOR
from subadjacent.scoring.evidence import Array, Evidence, Reach
from subadjacent.scoring.network import RowEvidence, judge_rows
from subadjacent.scoring.paper import CONTRIBUTION, PaperScore, blockwise
from subadjacent.training.history import Epoch, encode_history

# before the names of the network's weights in a saved model
WEIGHTS = "network."


class Calibration(NamedTuple):
    """What is usual on rows that the network was not trained on.

    ``score`` stands for the scores before the first row, ``warmup`` for those that Eq. 7 compares
    the first rows with.
    """

    score: float
    warmup: NDArray[np.float64]  # (M,)
    errors: NDArray[np.float64]  # (C,), each channel's mean


@dataclass(frozen=True, slots=True, eq=False)
class NeuralModel(Model):
    """A trained network, the scale of an entity, and what is usual.

    Parameters
    ----------
    network
        Shared by the models of all entities.
    scaler
        To the units that the network sees, and back.
    calibration
        From held-out rows of all entities.
    window, stride
        Rows of a judged window, and from one to the next.
    paper
        How errors become scores.
    history
        What the epochs of the training came to.
    """

    network: Network
    scaler: Scaler
    calibration: Calibration
    window: int
    stride: int
    paper: PaperScore
    history: tuple[Epoch, ...] = ()

    @property
    def reach(self) -> Reach:
        """The windows that cover a row, and the scores before it that its own is compared with."""
        if self.paper.needs_all_rows:
            return Reach(0, None)
        memory = self.paper.memory(self.calibration.warmup)
        before = self.window - 1 + self.paper.smoothing - 1 + memory
        return Reach(before, self.window - 1, self.stride)

    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken stretch, in one pass of the network."""
        judged = self._judge(rows)
        points = row_scores(judged, slice(len(rows)), self.paper)
        smoothed = self.paper.smoothed(points, self.calibration.score)
        errors = judged.by_channel
        assert errors is not None
        expected = None if judged.expected is None else judged.expected[: len(rows)]
        traces = {name: trace[: len(rows)] for name, trace in judged.traces.items()}
        return Evidence(
            self.paper.compared(smoothed, self.calibration.warmup),
            errors[: len(rows)] / (self.calibration.errors + ERROR_FLOOR),
            None if expected is None else self.scaler.invert(expected),
            traces | {"score": points},
        )

    def residuals(self, rows: Array) -> NDArray[np.float32]:
        """What the network's expectation leaves of a stretch's scaled rows, (T, C)."""
        judged = self._judge(rows)
        if judged.expected is None:
            raise InputError(f"{type(self.network).__name__} expects no values")
        return self.scaler.apply(rows) - judged.expected[: len(rows)]

    def attention_around(self, rows: Array, row: int) -> tuple[int, NDArray[Any]]:
        """The attention of the window that scores a row: its first row, and the matrix.

        The matrix is [query, key], the mean over heads and layers.
        """
        if not isinstance(self.network, Attentive):
            raise InputError(f"{type(self.network).__name__} has no attention to look at")
        first = max(min(row // self.window * self.window, len(rows) - self.window), 0)
        window = self._stacked(rows[first : first + self.window]).values[None]
        device = next(self.network.parameters()).device
        with torch.inference_mode():
            matrices = self.network.attention(window.to(device))
        return first, matrices.mean(dim=(0, 1, 2)).cpu().numpy()

    def state(self) -> State:
        """The network's weights and settings, the scale, and what is usual."""
        weights = self.network.state_dict().items()
        arrays = {f"{WEIGHTS}{name}": value.cpu().numpy() for name, value in weights}
        arrays |= {
            "center": self.scaler.center,
            "deviation": self.scaler.deviation,
            "warmup": self.calibration.warmup,
            "usual_errors": self.calibration.errors,
        }
        return State(
            arrays,
            {
                "network": asdict(self.network.config),
                "window": self.window,
                "clip": float(self.scaler.clip),
                "usual_score": self.calibration.score,
                "history": encode_history(self.history),
            },
        )

    def _judge(self, rows: Array) -> RowEvidence:
        return judge_rows(self.network, self._stacked(rows), self.stride, self.paper.of_windows)

    def _stacked(self, rows: Array) -> Stack:
        return stack([TrainSeries(rows)], PerEntity(self.scaler, {}), self.window)


def row_scores(judged: RowEvidence, rows: slice, paper: PaperScore) -> NDArray[np.float32]:
    """Eq. 6 for the rows of one stretch: over the windows, or over blocks of rows."""
    if paper.block is None or paper.temperature == 0:
        return judged.score[rows]
    error, contribution = judged.traces["error"][rows], judged.traces[CONTRIBUTION][rows]
    return blockwise(error, contribution, paper.block, paper.temperature)
