"""A fitted network with its pre- and postprocessing as one module: rows in, score and alarm out.

What ``NeuralModel`` does in NumPy and in batches is done here in tensors and at once, so that it
can be exported as a graph and run without Python.

Shapes: T rows, C channels, B windows, N points in a window.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from subadjacent.methods.neural.model import NeuralModel
from subadjacent.scoring.paper import CONTRIBUTION
from subadjacent.scoring.tensors import FORMS, blockwise, smooth


class GraphOutput(NamedTuple):
    """The outputs of the graph for each row."""

    score: Tensor  # (T,), float64: what decision_function gives
    expected: Tensor  # (T, C), float32, in the data's own units
    alarm: Tensor  # (T,), whether the score is above the threshold


class ScoringGraph(nn.Module):
    """Scores one unbroken segment of complete rows of one entity, as its model does.

    The network is copied: what happens to the model later changes nothing here.
    """

    def __init__(self, model: NeuralModel) -> None:
        super().__init__()
        entity, self.paper = model.entity, model.paper
        self.network = copy.deepcopy(entity.network).cpu().eval()
        self.window, self.stride = entity.window, entity.stride
        self.clip = float(entity.scaler.clip)
        self.before = model.calibration.score
        self.compared = FORMS[model.paper.dynamic]
        for name, values in (
            ("center", entity.scaler.center),
            ("deviation", entity.scaler.deviation),
            ("warmup", model.calibration.warmup),
        ):
            self.register_buffer(name, torch.as_tensor(values, dtype=torch.float64))

    def forward(self, rows: Tensor, threshold: Tensor) -> GraphOutput:
        """Rows (T, C) in their own units; a threshold is a number, in float64."""
        t = rows.shape[0]
        center, deviation = self.get_buffer("center"), self.get_buffer("deviation")
        scaled = ((rows.double() - center) / deviation).clamp(-self.clip, self.clip).float()
        at, counts = self._places(t)
        judged = self.network.judge(scaled[mirrored(at, t)])  # of windows (B, N, C)
        assert judged.expected is not None
        points = self.paper.of_windows(judged)  # (B, N)
        means = stitch(at, counts, torch.cat([judged.expected, points[..., None]], dim=-1), t)
        expected, score = means[:, :-1], means[:, -1]
        if (block := self.paper.block) is not None and self.paper.temperature:
            point_values = [judged.error.mean(dim=-1), judged.traces[CONTRIBUTION]]
            error, contribution = stitch(at, counts, torch.stack(point_values, dim=-1), t).unbind(
                dim=-1
            )
            score = blockwise(error, contribution, block, self.paper.temperature)
        smoothed = smooth(score.double(), self.paper.smoothing, self.before)
        decision = self.compared(smoothed, self.get_buffer("warmup"))
        raw = (expected.double() * deviation + center).float()
        return GraphOutput(decision, raw, decision > threshold)

    def _places(self, t: int) -> tuple[Tensor, Tensor]:
        """The row that each point of each window stands on, and whether it counts, (B, N).

        The grid and the window aligned to the end are those of ``Stack.scoring_windows``.
        """
        n, stride = self.window, self.stride
        # not Python's max, which would fix its result while the length is unknown
        last = torch.sym_max(t - n, 0)  # type: ignore[no-untyped-call]  # torch says nothing
        grid = torch.arange((last + stride - 1) // stride + 1)[:, None] * stride  # (B, 1)
        at = grid.clamp(max=last) + torch.arange(n)
        # a window moved back from the grid counts for the rows that no other window covers
        fresh = (grid <= last) | (at >= grid - stride + n)
        # the rows that a forecast starts from count in the first window alone
        judged = (torch.arange(n) >= self.network.context) | (grid == 0)
        return at, fresh & judged & (at < t)


def mirrored(at: Tensor, t: int) -> Tensor:
    """Row numbers of a segment that is continued by mirroring after its ``t`` rows."""
    # as a tensor, for the remainder has no form with a length that is not known yet
    # and at least 1: where there are no rows, nothing may be divided by their number
    rows = torch.scalar_tensor(t, dtype=torch.int64).clamp(min=1)
    turn = at % (2 * rows)
    return torch.where(turn < rows, turn, 2 * rows - 1 - turn)


def stitch(at: Tensor, counts: Tensor, values: Tensor, t: int) -> Tensor:
    """Mean over windows of the values that count, (B, N, K) at rows (B, N) → (T, K)."""
    places = at.clamp(max=t - 1).flatten()
    weights = counts.flatten().float()
    # not by a product: values that do not count may be NaN
    counted = torch.where(counts[..., None], values, 0.0).flatten(0, 1)
    total = values.new_zeros(t, values.shape[-1]).index_add(0, places, counted)
    count = weights.new_zeros(t).index_add(0, places, weights)
    return total / count[:, None]
