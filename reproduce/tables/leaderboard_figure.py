"""A picture of the leaderboard: how well each detector ranks and alarms, for how much training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from reproduce.comparison import RANDOM
from reproduce.labels import Box, place
from reproduce.plan import PAPER, Selection
from reproduce.results import Results
from reproduce.tables.decisions import Column
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
# width and height, inches: a page of text is about as wide, and names stay readable on it
SIZE = (8.5, 11.0)
# in points: of names, and from the middle of a mark to its edge
FONT, RADIUS = 8.5, 3.2


class MarkStyle(NamedTuple):
    """How detectors of a kind are drawn; colours that people who are colour-blind can tell."""

    words: str
    color: str
    marker: str
    size: float = 2 * RADIUS
    filled: bool = True


OWN = MarkStyle("ours", "#d55e00", "*", 3 * RADIUS)
PAPERS = MarkStyle("networks of other papers", "#0072b2", "o")
SIMPLE = MarkStyle("what people would take instead", "#00795a", "s")
CONTROL = MarkStyle("controls: what any detector should beat", "#666666", "D", filled=False)
KINDS = {
    **dict.fromkeys([DEFAULT.label, label_of(OURS)], OWN),
    **dict.fromkeys([variant.label for variant in (*PAPERS_RIVALS, ANOMALY_TRANSFORMER)], PAPERS),
    **dict.fromkeys([variant.label for variant in OTHERS], SIMPLE),
}


class Point(NamedTuple):
    """A detector in a panel."""

    label: str
    seconds: float
    value: float

    @property
    def kind(self) -> MarkStyle:
        """Controls are those that are nothing else."""
        return KINDS.get(self.label, CONTROL)


def draw(results: Results, selection: Selection) -> Figure:
    """Average precision and F1 of events against the seconds of training, a point a detector."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 1, sharex=True)
    by_panel = [_points(column, results, selection) for column in (PRECISION, EVENTS)]
    for axis, column, points in zip(panels, (PRECISION, EVENTS), by_panel, strict=True):
        _marks(axis, points)
        axis.set_ylabel(column.heading)
    panels[-1].set_xlabel("training, seconds (mean over the datasets)")
    _legend(figure)
    # sizes are known when all but the names is laid out, and then stay
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis, points in zip(panels, by_panel, strict=True):
        _names(axis, points)
    return figure


def _points(column: Column, results: Results, selection: Selection) -> list[Point]:
    """Detectors that have a row for every dataset."""
    datasets = selection.among(PAPER)
    points = []
    for variant in VARIANTS:
        seconds, value = (
            mean_over(shown, variant, datasets, results, selection).mean
            for shown in (TRAINING, column)
        )
        if not math.isnan(seconds + value):
            points.append(Point(label_of(variant), max(seconds, FASTEST), value))
    return points


def _marks(axis: Axes, points: Sequence[Point]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for point in points:
        kind = point.kind
        axis.plot(
            point.seconds,
            point.value,
            kind.marker,
            color=kind.color,
            markersize=kind.size,
            markerfacecolor=kind.color if kind.filled else "white",
            zorder=3,
        )
        if point.label == RANDOM.label:
            axis.axhline(point.value, color=kind.color, linewidth=0.8, linestyle="--", zorder=1)
    axis.set_xscale("log")
    axis.margins(x=0.12, y=0.08)
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
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


def _names(axis: Axes, points: Sequence[Point]) -> None:
    """Names beside the marks; a line leads to those that had to move away."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    texts = [
        axis.annotate(
            point.label,
            (point.seconds, point.value),
            (0, 0),
            textcoords="offset points",
            verticalalignment="bottom",
            fontsize=FONT,
            fontweight="bold" if point.kind is OWN else "normal",
            color=point.kind.color,
        )
        for point in points
    ]
    # all lengths in points, 72 an inch
    scale = 72 / figure.dpi
    pixels = [axis.transData.transform((point.seconds, point.value)) for point in points]
    centres = [(scale * float(x), scale * float(y)) for x, y in pixels]
    boxes = [text.get_window_extent() for text in texts]
    sizes = [(scale * box.width, scale * box.height) for box in boxes]
    frame = axis.get_window_extent()
    within = Box(*(scale * edge for edge in (frame.x0, frame.y0, frame.x1, frame.y1)))
    # the line of the random score
    lines = [
        Box(within.left, y - 1, within.right, y + 1)
        for point, (_, y) in zip(points, centres, strict=True)
        if point.label == RANDOM.label
    ]
    places = place(centres, sizes, within, RADIUS, lines)
    for text, (x, y), (box, line) in zip(texts, centres, places, strict=True):
        text.set_position((box.left - x, box.bottom - y))
        if line is not None:
            _, (right, up) = line
            axis.annotate(
                "",
                text.xy,
                (right - x, up - y),
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": text.get_color(), "linewidth": 0.6}
                | {"shrinkA": 0, "shrinkB": RADIUS},
            )
