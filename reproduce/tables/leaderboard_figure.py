"""A picture of the leaderboard: how well each detector ranks and alarms, for how much training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from reproduce.comparison import RANDOM
from reproduce.plan import PAPER, Selection
from reproduce.results import Results
from reproduce.tables.leaderboard import (
    EVENTS,
    PRECISION,
    TRAINING,
    VARIANTS,
    label_of,
    mean_over,
)
from reproduce.tables.main_results import ANOMALY_TRANSFORMER, DEFAULT, OTHERS, OURS, PAPERS_RIVALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# what is trained faster than this is drawn here, in seconds: controls take next to nothing
FASTEST = 0.01
# inches: a page of text is about as wide, and a detector's row is high enough for its name
WIDTH, ROW_HEIGHT = 8.5, 0.24
# points: of names, and across a mark
FONT, MARK = 8.5, 6.4
SHOWN = (PRECISION, EVENTS, TRAINING)


class MarkStyle(NamedTuple):
    """How detectors of a kind are drawn; colours that people who are colour-blind can tell."""

    words: str
    color: str
    marker: str
    size: float = MARK
    filled: bool = True


OWN = MarkStyle("ours", "#d55e00", "*", 1.5 * MARK)
PAPERS = MarkStyle("networks of other papers", "#0072b2", "o")
SIMPLE = MarkStyle("what people would take instead", "#00795a", "s")
CONTROL = MarkStyle("controls: what any detector should beat", "#666666", "D", filled=False)
KINDS = {
    **dict.fromkeys([DEFAULT.label, label_of(OURS)], OWN),
    **dict.fromkeys([variant.label for variant in (*PAPERS_RIVALS, ANOMALY_TRANSFORMER)], PAPERS),
    **dict.fromkeys([variant.label for variant in OTHERS], SIMPLE),
}


def draw(results: Results, selection: Selection) -> Figure:
    """Average precision, F1 of events and seconds of training; a row for each detector."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = _rows(results, selection)
    figure = Figure(figsize=(WIDTH, 1.5 + ROW_HEIGHT * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(SHOWN), sharey=True)
    for number, (axis, column) in enumerate(zip(panels, SHOWN, strict=True)):
        _marks(axis, {label: values[number] for label, values in rows.items()})
        axis.set_xlabel(column.heading)
        if column is not TRAINING and RANDOM.label in rows:
            chance = rows[RANDOM.label][number]
            axis.axvline(chance, color=CONTROL.color, linewidth=0.8, linestyle="--", zorder=1)
    panels[-1].set_xscale("log")
    panels[-1].xaxis.set_major_formatter("{x:g}")
    panels[0].set_yticks(range(len(rows)), rows, fontsize=FONT)
    panels[0].invert_yaxis()
    for name in panels[0].get_yticklabels():
        name.set_color(_kind(name.get_text()).color)
    _legend(figure)
    return figure


def _kind(label: str) -> MarkStyle:
    """Controls are those that are nothing else."""
    return KINDS.get(label, CONTROL)


def _rows(results: Results, selection: Selection) -> dict[str, tuple[float, ...]]:
    """Detectors that have a row for every dataset, the highest average precision first."""
    datasets = selection.among(PAPER)
    rows = {
        label_of(variant): tuple(
            mean_over(column, variant, datasets, results, selection).mean for column in SHOWN
        )
        for variant in VARIANTS
    }
    complete = {label: values for label, values in rows.items() if not math.isnan(sum(values))}
    return dict(sorted(complete.items(), key=lambda row: row[1][0], reverse=True))


def _marks(axis: Axes, values: dict[str, float]) -> None:
    for place, (label, value) in enumerate(values.items()):
        kind = _kind(label)
        axis.plot(
            max(value, FASTEST),
            place,
            kind.marker,
            color=kind.color,
            markersize=kind.size,
            markerfacecolor=kind.color if kind.filled else "white",
            zorder=3,
        )
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.2)


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=kind.color,
            marker=kind.marker,
            markerfacecolor=kind.color if kind.filled else "white",
            markersize=kind.size,
            linestyle="",
            label=kind.words,
        )
        for kind in (OWN, PAPERS, SIMPLE, CONTROL)
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=FONT
    )
