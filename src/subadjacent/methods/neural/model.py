"""The model of a trained network: it judges the rows of a segment in one pass.

Shapes: T rows of a segment, C channels, M scores to warm up with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from subadjacent.data.entities import PerEntity
from subadjacent.data.scaling import Scaler
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, stack
from subadjacent.decision.evidence import ERROR_FLOOR, Array, Evidence, Reach
from subadjacent.errors import InputError
from subadjacent.methods.method import Model, State
from subadjacent.methods.neural.defaults import MAX_POINTS_OF_PAIRS
from subadjacent.methods.neural.paper_score import CONTRIBUTION, PaperScore, blockwise
from subadjacent.methods.neural.row_scores import RowEvidence, judge_rows
from subadjacent.networks.network import Attentive, Network, WindowEvidence
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
class EntityNetwork:
    """A trained network on the scale of an entity.

    Parameters
    ----------
    network
        Shared by all entities.
    scaler
        To the units that the network sees, and back.
    window, stride
        Rows of a judged window, and from one to the next.
    """

    network: Network
    scaler: Scaler
    window: int
    stride: int

    def judge(self, rows: Array, score: Callable[[WindowEvidence], Tensor]) -> RowEvidence:
        """Judge the rows of one unbroken segment, in one pass; ``score`` as for ``judge_rows``."""
        judged = judge_rows(self.network, self._stacked(rows), self.stride, score)
        # without the padding of a segment shorter than a window
        own_rows = slice(len(rows))
        return RowEvidence(
            judged.score[own_rows],
            {name: trace[own_rows] for name, trace in judged.traces.items()},
            None if judged.by_channel is None else judged.by_channel[own_rows],
            None if judged.expected is None else judged.expected[own_rows],
        )

    def residuals(self, rows: Array) -> NDArray[np.float32]:
        """The network's residuals of a segment, in scaled units, (T, C)."""
        expected = self.judge(rows, PaperScore(temperature=0.0).of_windows).expected
        if expected is None:
            raise InputError(f"{type(self.network).__name__} expects no values")
        return self.scaler.apply(rows) - expected

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
        """The network's weights and settings, and the scale."""
        weights = self.network.state_dict().items()
        return State(
            {f"{WEIGHTS}{name}": value.cpu().numpy() for name, value in weights}
            | {"center": self.scaler.center, "deviation": self.scaler.deviation},
            {
                "network": asdict(self.network.config),
                "window": self.window,
                "clip": float(self.scaler.clip),
            },
        )

    def _stacked(self, rows: Array) -> Stack:
        return stack([TrainSeries(rows)], PerEntity(self.scaler, {}), self.window)


@dataclass(frozen=True, slots=True, eq=False)
class NeuralModel(Model):
    """Scores a row by the errors of a network.

    Parameters
    ----------
    entity
        The network on the entity's scale.
    calibration
        From held-out rows of all entities.
    paper
        How errors become scores.
    history
        Losses of each epoch of the training.
    """

    entity: EntityNetwork
    calibration: Calibration
    paper: PaperScore
    history: tuple[Epoch, ...] = ()

    @property
    def reach(self) -> Reach:
        """The windows that cover a row, and the scores before it that its own is compared with."""
        if self.paper.needs_all_rows:
            return Reach(0, None)
        around = self.entity.window - 1
        memory = self.paper.memory(self.calibration.warmup)
        return Reach(around + self.paper.smoothing - 1 + memory, around, self.entity.stride)

    @property
    def typical_values(self) -> Array:
        """The mean of each channel in training."""
        return self.entity.scaler.center

    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken segment, in one pass of the network."""
        judged = self.entity.judge(rows, self.paper.of_windows)
        points = row_scores(judged, slice(None), self.paper)
        smoothed = self.paper.smoothed(points, self.calibration.score)
        errors, expected = judged.by_channel, judged.expected
        assert errors is not None
        return Evidence(
            self.paper.compared(smoothed, self.calibration.warmup),
            errors / (self.calibration.errors + ERROR_FLOOR),
            None if expected is None else self.entity.scaler.invert(expected),
            judged.traces | {"score": points},
        )

    def attention_around(self, rows: Array, row: int) -> tuple[int, NDArray[Any]]:
        """For the report: the first row of the window that scores a row, and its attention."""
        return self.entity.attention_around(rows, row)

    def state(self) -> State:
        """The network on its scale, and the calibration."""
        arrays, facts = self.entity.state()
        usual = {"warmup": self.calibration.warmup, "usual_errors": self.calibration.errors}
        more_facts = {
            "usual_score": self.calibration.score,
            "history": encode_history(self.history),
        }
        return State(arrays | usual, facts | more_facts)


def row_scores(judged: RowEvidence, rows: slice, paper: PaperScore) -> NDArray[np.float32]:
    """Eq. 6 for the rows of one segment: over the windows, or over blocks of rows."""
    if paper.block is None or paper.temperature == 0:
        return judged.score[rows]
    error, contribution = judged.traces["error"][rows], judged.traces[CONTRIBUTION][rows]
    return blockwise(error, contribution, paper.block, paper.temperature)
