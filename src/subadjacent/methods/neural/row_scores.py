"""A network's evidence on every row: windows are assessed, and averaged where they overlap.

Shapes: B windows, N points in a window, C channels, T stacked rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from subadjacent.data.windows import Stack, Windows
from subadjacent.errors import InputError, require_whole
from subadjacent.networks.network import Network, WindowEvidence

# points assessed at a time, in as many windows as hold them; a longer window by itself. Twice as
# many take twice the memory
POINTS_AT_ONCE = 25_600

Rows = NDArray[np.float32]


class RowEvidence(NamedTuple):
    """A network's evidence on each stacked row, the mean over the windows that cover it.

    ``traces`` are those of the network, and "error", the mean over the channels. ``by_channel``
    and ``expected`` are None where they are not wanted.
    """

    score: Rows  # (T,)
    traces: dict[str, Rows]  # (T,) each
    by_channel: Rows | None  # (T, C), the error of each channel
    expected: Rows | None  # (T, C), scaled


def check_stride(stride: int | None, window: int, context: int = 0) -> int:
    """Rows from one assessed window to the next; None stands for as many as a window judges."""
    assessed = window - context
    if assessed < 1:
        raise InputError(
            f"window must be longer than the {context} points that a forecast starts from; "
            f"got window={window}"
        )
    if stride is None:
        return assessed
    require_whole("scoring_stride", stride, least=1)
    if stride > assessed:
        without = f" less the {context} points that a forecast starts from" if context else ""
        raise InputError(
            f"scoring_stride must be at most the window{without}, or rows go unscored; "
            f"got scoring_stride={stride}, window={window}"
        )
    return stride


@torch.inference_mode()
def assess_rows(
    network: Network,
    stack: Stack,
    stride: int,
    score: Callable[[WindowEvidence], Tensor],
    *,
    channels: bool = True,
    points_at_once: int = POINTS_AT_ONCE,
) -> RowEvidence:
    """Judge every row of ``stack`` in one pass of the network.

    ``score`` gives the scores of the points of a batch of windows, (B, N). ``channels=False``
    leaves out the evidence by channel.
    """
    windows, fresh = stack.scoring_windows(stride)
    begins = torch.isin(windows.starts, torch.tensor([segment.at for segment in stack.segments]))
    fresh = torch.where(begins, fresh, fresh.clamp(min=network.context))
    steps = torch.arange(windows.length)
    names: list[str] = []
    totals: _Means | None = None
    for which, assessed in _assessed(network, windows, points_at_once):
        names = list(assessed.traces)
        point_values = [score(assessed), assessed.error.mean(dim=-1), *assessed.traces.values()]
        point_columns = torch.stack(point_values, dim=-1)  # (B, N, …)
        if channels:
            expected = [] if assessed.expected is None else [assessed.expected]
            point_columns = torch.cat([point_columns, assessed.error, *expected], dim=-1)
        if totals is None:
            totals = _Means(len(stack.values), point_columns.shape[-1])
        # rows that do not count in a window go to row -1; points that count in none are left out
        rows = windows.rows(which).masked_fill(steps < fresh[which, None], -1)
        first = int(fresh[which].min())
        totals.add(rows[:, first:], point_columns[:, first:])
    assert totals is not None
    means = totals.means()
    count, c = 2 + len(names), stack.values.shape[1]
    columns = np.ascontiguousarray(means[:, :count].T)
    return RowEvidence(
        columns[0],
        {"error": columns[1], **dict(zip(names, columns[2:], strict=True))},
        means[:, count : count + c] if channels else None,
        means[:, count + c :] if means.shape[1] > count + c else None,
    )


@torch.inference_mode()
def usual_errors(
    network: Network, windows: Windows, points_at_once: int = POINTS_AT_ONCE
) -> NDArray[np.float64]:
    """Mean error of each channel over all windows."""
    total = torch.zeros(windows.values.shape[1], dtype=torch.float64)
    for _, assessed in _assessed(network, windows, points_at_once):
        total += assessed.error[:, network.context :].mean(dim=1).sum(dim=0).cpu().double()
    return (total / len(windows)).numpy()


def _assessed(
    network: Network, windows: Windows, points_at_once: int
) -> Iterator[tuple[Tensor, WindowEvidence]]:
    """The numbers of the windows of each batch, and the network's evidence on them."""
    network.eval()
    device = next(network.parameters()).device
    for which in windows.batches(max(points_at_once // windows.length, 1)):
        yield which, network.assess(windows.take(which).to(device))


class _Means:
    """Sums values of windows by row, and gives the mean where they overlap."""

    def __init__(self, rows: int, columns: int) -> None:
        # one row more, at the end, takes values that do not count
        self.total = torch.zeros(rows + 1, columns, dtype=torch.float32)
        self.count = torch.zeros(rows + 1, dtype=torch.float32)

    def add(self, rows: Tensor, values: Tensor) -> None:
        """Add (B, N, columns) at rows (B, N); -1 counts for nothing."""
        flat = rows.flatten() % len(self.count)
        self.total.index_add_(0, flat, values.flatten(0, 1).float().cpu())
        self.count.index_add_(0, flat, torch.ones(len(flat), dtype=torch.float32))

    def means(self) -> Rows:
        """Mean of what was added, (rows, columns)."""
        means: Rows = self.total.div_(self.count.clamp(min=1)[:, None])[:-1].numpy()
        return means
