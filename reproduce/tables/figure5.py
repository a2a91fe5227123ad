"""Figure 5 and its full version: five kinds of anomaly, and what leads to their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reproduce.plan import SYNTHETIC
from reproduce.run import PUBLISHED, Run
from subadjacent.evaluation.segments import segments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduce.runner import RunContext
    from subadjacent.networks.network import Network

KINDS = ("global", "contextual", "shapelet", "seasonal", "trend")
# the main text's figure: one kind of point, one of pattern
MAIN = ("global", "shapelet")
ROWS = ("data", "error", "contribution", "score", "dynamic")
WORDS = {
    "data": "data", "error": "error", "contribution": "contribution", "score": "score (Eq. 6)",
    "dynamic": "dynamic (Eq. 7)",
}  # fmt: skip
# few enough anomalies to see each, and rows to show around the first
RATIO = 0.005
ROWS_SHOWN = 400
LENGTH, QUICK_LENGTH = 20_000, 2_000
BLUE, RED = "#0072b2", "#d55e00"


class AnomalyKindsFigure:
    """One series for each kind of anomaly, scored by a network trained on a clean series."""

    name = "figure5"
    title = "Kinds of anomaly, and what leads to their scores"
    stems = ("figure5", "figure5-full")

    def dataset(self, quick: bool) -> str:  # noqa: ARG002 — other figures tell them apart
        """One that is always there: it is generated."""
        return SYNTHETIC

    def compute(self, place: RunContext, quick: bool) -> dict[str, NDArray[Any]]:
        """For each kind some rows around an anomaly: data, error, contribution, scores, labels."""
        # drawing needs none of these
        from reproduce.benchmarks.archive import TEST_SEED, TRAIN_SEED
        from reproduce.benchmarks.neurips_ts import neurips_ts
        from reproduce.protocols.published import fit
        from subadjacent.training.device import resolve_device

        n = QUICK_LENGTH if quick else LENGTH
        run = Run(SYNTHETIC, "sub-adjacent", PUBLISHED, quick=quick)
        clean = _standard(neurips_ts(seed=TRAIN_SEED, n=n).base)
        network, window, _ = fit(run, clean, resolve_device(place.device))
        arrays: dict[str, NDArray[Any]] = {}
        for kind in KINDS:
            series = neurips_ts(seed=TEST_SEED, n=n, kinds=[kind], ratio=RATIO)
            rows = _traces(network, window, _standard(series.values))
            first = int(segments(series.labels)[0][0])
            start = max(min(first - ROWS_SHOWN // 2, n - ROWS_SHOWN), 0)
            shown = slice(start, start + ROWS_SHOWN)
            arrays |= {f"{kind}_{name}": values[shown] for name, values in rows.items()}
            arrays[f"{kind}_labels"] = series.labels[shown]
        return arrays

    def draw(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Figure]:
        """The main text's figure, and the appendix's."""
        main, full = self.stems
        return {
            main: _grid(arrays, MAIN, 3.6, kinds_down=True),
            full: _grid(arrays, KINDS, 7, kinds_down=False),
        }


def _standard(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray((values - values.mean()) / values.std(), dtype=np.float32)


def _traces(network: Network, window: int, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    from reproduce.protocols.published import (
        FIXED_BLOCK,
        FIXED_TEMPERATURE,
        unscaled,
    )
    from subadjacent.data.series import TrainSeries
    from subadjacent.data.windows import stack
    from subadjacent.methods.neural.paper_score import CONTRIBUTION, PaperScore, blockwise, dynamic
    from subadjacent.methods.neural.row_scores import assess_rows

    stacked = stack([TrainSeries(values)], unscaled(values.shape[1]), window)
    plain = PaperScore(temperature=0.0).of_windows
    traces = assess_rows(network, stacked, window, plain, channels=False).traces
    error, contribution = (traces[name][: len(values)] for name in ("error", CONTRIBUTION))
    score = blockwise(error, contribution, FIXED_BLOCK, FIXED_TEMPERATURE).astype(np.float64)
    return {
        "data": values[:, 0], "error": error, "contribution": contribution,
        "score": score, "dynamic": dynamic(score, score, "released"),
    }  # fmt: skip


def _grid(
    arrays: Mapping[str, NDArray[Any]], kinds: tuple[str, ...], height: float, *, kinds_down: bool
) -> Figure:
    """A panel for each kind of anomaly and trace; kinds go down the figure, or across it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, height), layout="constrained")
    down, across = (kinds, ROWS) if kinds_down else (ROWS, kinds)
    grid = figure.subplots(len(down), len(across), sharex=True, squeeze=False)
    for axes, row in zip(grid, down, strict=True):
        for axis, column in zip(axes, across, strict=True):
            kind, name = (row, column) if kinds_down else (column, row)
            _panel(axis, arrays[f"{kind}_{name}"], arrays[f"{kind}_labels"])
        axes[0].set_ylabel(WORDS.get(row, row))
    for axis, column in zip(grid[0], across, strict=True):
        axis.set_title(WORDS.get(column, column), fontsize=9, loc="left")
    return figure


def _panel(axis: Axes, values: NDArray[Any], labels: NDArray[Any]) -> None:
    for start, stop in segments(labels):
        # an edge keeps a single row from vanishing between two pixels
        axis.axvspan(start - 0.5, stop - 0.5, color=RED, alpha=0.25, linewidth=2)
    axis.plot(values, color=BLUE, linewidth=0.8)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=7)


FIGURE = AnomalyKindsFigure()
