"""The model of a trained network: it judges the rows of a segment in one pass.

Shapes: T rows of a segment, C channels, M scores to warm up with.
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
from subadjacent.decision.evidence import ERROR_FLOOR, Array, Evidence, Reach
from subadjacent.errors import InputError
from subadjacent.methods.method import Model, State
from subadjacent.methods.neural.defaults import MAX_POINTS_OF_PAIRS
from subadjacent.methods.neural.paper_score import CONTRIBUTION, PaperScore, blockwise
from subadjacent.methods.neural.row_scores import RowEvidence, assess_rows
from subadjacent.networks.network import Attentive, Network
from subadjacent.training.history import Epoch, encode_history

# before the names of the network's weights in a saved model
WEIGHTS = "network."


class Calibration(NamedTuple):
    """Usual scores and errors, on rows that the network was not trained on.

    ``score`` stands for the scores before the first row, ``warmup`` for those that Eq. 7 compares
    the first rows with.
    """

    score: float
    warmup: NDArray[np.float64]  # (M,)
    errors: NDArray[np.float64]  # (C,), each channel's mean


@dataclass(frozen=True, slots=True, eq=False)
class NeuralModel(Model):
    """Scores a row by the errors of a network.

    Parameters
    ----------
    network
        Shared by all entities.
    scaler
        To the units that the network sees, and back.
    window, stride
        Rows of a assessed window, and from one to the next.
    calibration
        From held-out rows of all entities.
    paper
        How errors become scores.
    history
        Losses of each epoch of the training.
    """

    network: Network
    scaler: Scaler
    window: int
    stride: int
    calibration: Calibration
    paper: PaperScore
    history: tuple[Epoch, ...] = ()

    @property
    def reach(self) -> Reach:
        """The windows that cover a row, and the scores before it that its own is compared with."""
        if self.paper.needs_all_rows:
            return Reach(0, None)
        around = self.window - 1
        memory = self.paper.memory(self.calibration.warmup)
        return Reach(around + self.paper.smoothing - 1 + memory, around, self.stride)

    @property
    def typical_values(self) -> Array:
        """The mean of each channel in training."""
        return self.scaler.center

    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken segment, in one pass of the network."""
        assessed = assess_rows(
            self.network, self._stacked(rows), self.stride, self.paper.of_windows
        )
        # without the padding of a segment shorter than a window
        own_rows = slice(len(rows))
        points = row_scores(assessed, own_rows, self.paper)
        smoothed = self.paper.smoothed(points, self.calibration.score)
        errors, expected = assessed.by_channel, assessed.expected
        assert errors is not None
        return Evidence(
            self.paper.compared(smoothed, self.calibration.warmup),
            errors[own_rows] / (self.calibration.errors + ERROR_FLOOR),
            None if expected is None else self.scaler.invert(expected[own_rows]),
            {name: trace[own_rows] for name, trace in assessed.traces.items()} | {"score": points},
        )

    def attention_around(self, rows: Array, row: int) -> tuple[int, NDArray[Any]]:
        """The attention of the window that scores a row: its first row, and the matrix.

        The matrix is [query, key], the mean over heads and layers.
        """
        if not isinstance(self.network, Attentive):
            raise InputError(f"{type(self.network).__name__} has no attention to look at")
        if self.window > MAX_POINTS_OF_PAIRS:
            raise InputError(
                f"window must be at most {MAX_POINTS_OF_PAIRS:,} points for attention to be looked "
                f"at; got {self.window:,}"
            )
        first = max(min(row // self.window * self.window, len(rows) - self.window), 0)
        window = self._stacked(rows[first : first + self.window]).values[None]
        device = next(self.network.parameters()).device
        with torch.inference_mode():
            matrices = self.network.attention(window.to(device))
        return first, matrices.mean(dim=(0, 1, 2)).cpu().numpy()

    def state(self) -> State:
        """The network's weights and settings, the scale and the calibration."""
        weights = self.network.state_dict().items()
        arrays = {f"{WEIGHTS}{name}": value.cpu().numpy() for name, value in weights}
        return State(
            arrays
            | {
                "center": self.scaler.center,
                "deviation": self.scaler.deviation,
                "warmup": self.calibration.warmup,
                "usual_errors": self.calibration.errors,
            },
            {
                "network": asdict(self.network.config),
                "window": self.window,
                "clip": float(self.scaler.clip),
                "usual_score": self.calibration.score,
                "history": encode_history(self.history),
            },
        )

    def _stacked(self, rows: Array) -> Stack:
        return stack([TrainSeries(rows)], PerEntity(self.scaler, {}), self.window)


def row_scores(assessed: RowEvidence, rows: slice, paper: PaperScore) -> NDArray[np.float32]:
    """Eq. 6 for the rows of one segment: over the windows, or over blocks of rows."""
    if paper.block is None or paper.temperature == 0:
        return assessed.score[rows]
    error, contribution = assessed.traces["error"][rows], assessed.traces[CONTRIBUTION][rows]
    return blockwise(error, contribution, paper.block, paper.temperature)
