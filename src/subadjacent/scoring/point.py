"""A score for every point: reconstruction error, weighted by the contribution (Eq. 6).

Shapes: B windows, N points in a window, C channels, T stacked rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import Stack, Windows
from subadjacent.errors import InputError, require_number, require_whole
from subadjacent.networks.network import Network, WindowEvidence


@dataclass(frozen=True, slots=True)
class PointConfig:
    """How windows become one score a point.

    Parameters
    ----------
    temperature
        T of Eq. 6: how sharply a low contribution raises a score. 0 leaves the plain error.
    block
        Points that share one softmax; None for the window itself.
    stride
        Rows from one scored window to the next; None for the window's length. Where windows
        overlap, a point's score is the mean over them.
    at_once
        Points scored at a time, in as many windows as hold them; a longer window by itself.
    """

    temperature: float = 50.0
    block: int | None = None
    stride: int | None = None
    at_once: int = 25_600

    def __post_init__(self) -> None:
        require_number("temperature", self.temperature, least=0)
        require_whole("at_once", self.at_once, least=1)
        for name in ("block", "stride"):
            if (rows := getattr(self, name)) is not None:
                require_whole(name, rows, least=1)

    def stride_within(self, window: int) -> int:
        """The stride for windows of some length."""
        if self.stride is not None and self.stride > window:
            raise InputError(
                f"scoring_stride must be at most the window, or rows go unscored; "
                f"got scoring_stride={self.stride}, window={window}"
            )
        return self.stride or window

    def windows_at_once(self, window: int) -> int:
        """How many windows of some length are scored at a time."""
        return max(self.at_once // window, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """All that led to the scores of one series, row by row: what the paper's Figure 5 shows.

    ``expected`` is in the data's own units; ``score`` is Eq. 6; ``decision`` is what is held
    against the threshold.
    """

    series: TrainSeries
    expected: NDArray[np.float64]
    error: NDArray[np.float32]
    contribution: NDArray[np.float32]
    score: NDArray[np.float32]
    decision: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PointScores:
    """What the network found at each stacked row."""

    error: NDArray[np.float32]
    contribution: NDArray[np.float32]
    score: NDArray[np.float32]


def score_points(model: Network, stack: Stack, config: PointConfig) -> PointScores:
    """Score every row of ``stack``."""
    windows, fresh = stack.scoring_windows(config.stride_within(stack.window))
    found = _Stitch(len(stack.values), 3)
    for rows, judged in _judge(model, windows, fresh, config):
        error, contribution = judged.error.mean(dim=-1), judged.traces["contribution"]  # (B, N)
        score = weighted(error, contribution, config.temperature)
        found.add(rows, torch.stack([error, contribution, score], dim=-1))
    means = found.means()
    if config.block is not None:
        means[:, 2] = _blockwise(stack, means[:, 0], means[:, 1], config.block, config.temperature)
    return PointScores(error=means[:, 0], contribution=means[:, 1], score=means[:, 2])


def expected_values(
    model: Network, stack: Stack, config: PointConfig, wanted: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """The reconstruction of the wanted stacked rows, (wanted rows, C), in scaled units.

    Only windows that cover a wanted row are run, and only wanted rows are kept.
    """
    windows, fresh = stack.scoring_windows(config.stride_within(stack.window))
    before = np.concatenate([[0], np.cumsum(wanted)])
    starts = windows.starts.numpy()
    needed = torch.from_numpy(before[starts + windows.length] > before[starts])
    windows, fresh = replace(windows, starts=windows.starts[needed]), fresh[needed]
    # where a row goes among the wanted ones; -1, for nothing, also serves rows numbered -1
    places = torch.from_numpy(np.append(np.where(wanted, before[:-1], -1), -1))
    found = _Stitch(int(before[-1]), stack.values.shape[1])
    for rows, judged in _judge(model, windows, fresh, config):
        assert judged.expected is not None
        found.add(places[rows], judged.expected)
    return found.means()


@torch.inference_mode()
def channel_errors(model: Network, windows: Windows, config: PointConfig) -> NDArray[np.float64]:
    """Mean squared error of each channel over all windows: what is usual for it."""
    model.eval()
    device = next(model.parameters()).device
    total = torch.zeros(windows.values.shape[1], dtype=torch.float64)
    for which in windows.batches(config.windows_at_once(windows.length)):
        judged = model.judge(windows.take(which).to(device))
        total += judged.error.mean(dim=1).sum(dim=0).cpu().double()
    return (total / len(windows)).numpy()


def weighted(error: Tensor, contribution: Tensor, temperature: float) -> Tensor:
    """Eq. 6 over the last dimension: error times ``softmax(-T·contribution)``.

    The weights are multiplied by the block's length: their mean is 1, so that scores of
    different blocks compare.
    """
    weights = torch.softmax(-temperature * contribution, dim=-1) * contribution.shape[-1]
    return error * weights


def _blockwise(
    stack: Stack,
    error: NDArray[np.float32],
    contribution: NDArray[np.float32],
    block: int,
    temperature: float,
) -> NDArray[np.float32]:
    """Eq. 6 over blocks of consecutive rows, which begin anew with every stretch.

    The protocol the paper was made with lets them run on from one entity into the next: pass
    all rows as one series for that.
    """
    score = np.zeros_like(error)
    for one in stack.stretches:
        for start in range(one.at, one.at + one.rows, block):
            rows = slice(start, min(start + block, one.at + one.rows))
            weighed = weighted(
                torch.from_numpy(error[rows]), torch.from_numpy(contribution[rows]), temperature
            )
            score[rows] = weighed.numpy()
    return score


@torch.inference_mode()
def _judge(
    model: Network, windows: Windows, fresh: Tensor, config: PointConfig
) -> Iterator[tuple[Tensor, WindowEvidence]]:
    """Run the network; rows that do not count in a window come out as -1."""
    model.eval()
    device = next(model.parameters()).device
    steps = torch.arange(windows.length)
    for which in windows.batches(config.windows_at_once(windows.length)):
        judged = model.judge(windows.take(which).to(device))
        rows = windows.rows(which).masked_fill(steps < fresh[which, None], -1)
        yield rows, judged


class _Stitch:
    """Adds up what windows say of rows, and gives the mean where they overlap."""

    def __init__(self, rows: int, columns: int) -> None:
        # one row more, at the end, takes what does not count
        self.total = torch.zeros(rows + 1, columns, dtype=torch.float32)
        self.count = torch.zeros(rows + 1, dtype=torch.float32)

    def add(self, rows: Tensor, found: Tensor) -> None:
        """Add (B, N, columns) at rows (B, N); -1 counts for nothing."""
        flat = rows.flatten() % len(self.count)
        self.total.index_add_(0, flat, found.flatten(0, 1).float().cpu())
        self.count.index_add_(0, flat, torch.ones(len(flat), dtype=torch.float32))

    def means(self) -> NDArray[np.float32]:
        """Mean of what was added, (rows, columns)."""
        return (self.total / self.count.clamp(min=1)[:, None])[:-1].numpy()
