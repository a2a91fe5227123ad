"""A picture of the leaderboard: how well each detector ranks and alarms, for how much training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from subadjacent.experiments.plan import PAPER, Selection
from subadjacent.experiments.results import Results
from subadjacent.experiments.tables.leaderboard import (
    EVENTS,
    PRECISION,
    TRAINING,
    VARIANTS,
    label_of,
    mean_over,
)
from subadjacent.experiments.tables.rivals import OTHERS, PAPERS_RIVALS
from subadjacent.experiments.tables.table2 import ANOMALY_TRANSFORMER, DEFAULT, OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# what is trained faster than this is drawn here, in seconds: controls take next to nothing
FASTEST = 0.01
OWN, PAPERS, SIMPLE, CONTROL = "#d55e00", "#0072b2", "#009e73", "#777777"
COLORS = {
    **dict.fromkeys([DEFAULT.label, label_of(OURS)], OWN),
    **dict.fromkeys([one.label for one in (*PAPERS_RIVALS, ANOMALY_TRANSFORMER)], PAPERS),
    **dict.fromkeys([one.label for one in OTHERS], SIMPLE),
}
KINDS = {OWN: "ours", PAPERS: "networks of other papers", SIMPLE: "plain", CONTROL: "controls"}


def draw(results: Results, selection: Selection) -> Figure:
    """Average precision and F1 of events against the seconds of training, a point a detector."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 12), layout="constrained")
    datasets = selection.among(PAPER)
    panels = figure.subplots(2, 1, sharex=True)
    for axis, column in zip(panels, (PRECISION, EVENTS), strict=True):
        for variant in VARIANTS:
            seconds, value = (
                mean_over(one, variant, datasets, results, selection).mean
                for one in (TRAINING, column)
            )
            if not math.isnan(seconds + value):
                _point(axis, max(seconds, FASTEST), value, label_of(variant))
        axis.set_xscale("log")
        axis.set_ylabel(column.heading)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    panels[-1].set_xlabel("training, seconds (mean over the datasets)")
    for color, words in KINDS.items():
        panels[0].scatter([], [], color=color, label=words)
    panels[0].legend(frameon=False, loc="best")
    return figure


def _point(axis: Axes, seconds: float, value: float, label: str) -> None:
    color = COLORS.get(label, CONTROL)
    axis.scatter([seconds], [value], color=color, s=36, zorder=3)
    axis.annotate(
        label,
        (seconds, value),
        xytext=(5, 3),
        textcoords="offset points",
        fontsize=8,
        color=color,
    )
