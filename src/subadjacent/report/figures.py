"""The report's figures as static images, for papers and slides."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.neural import NeuralDetector
from subadjacent.errors import InputError
from subadjacent.report.anatomy import anatomy
from subadjacent.report.downsample import min_max, step_for
from subadjacent.report.findings import Findings, Watch, find
from subadjacent.report.marks import by_severity, marked_stretches
from subadjacent.report.timeline import timeline
from subadjacent.scoring.alarms import Alarm, join, rows_of
from subadjacent.scoring.point import Trace
from subadjacent.training.history import Epoch

# the colours of Okabe and Ito, which people with any colour vision can tell apart
BLUE, ORANGE, VERMILLION, GREEN, INK = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#24303d"
GREY = "#64748b"
BINS = 2_000  # more than an image has columns
STYLE: dict[Any, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.labelsize": "small",
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "font.size": 9.0,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.0,
}


def figure_trace(
    trace: Trace,
    alarms: Sequence[Alarm],
    *,
    threshold: float,
    channels: Sequence[str] | None = None,
    labels: Any = None,
    fitted: Any = None,
) -> Figure:
    """What led to the scores of one series, as in the paper's Figure 5.

    Parameters
    ----------
    trace
        From ``detector.trace``, or from ``find``; what it does not hold is left out.
    alarms
        Those of this series are shaded.
    threshold
        Drawn into the decision score.
    channels
        Which to draw; the one that explains the worst alarm when left out.
    labels
        0 or 1 a row; hatched.
    fitted
        Which rows the detector was fitted on, as 0 or 1 a row; shaded.
    """
    series = trace.series
    own = [alarm for alarm in alarms if alarm.entity == series.entity]
    names = _chosen(series, own) if channels is None else list(channels)
    unknown = [name for name in names if name not in series.channels]
    if unknown:
        raise InputError(f"channels must be among {series.channels}; got {unknown}")
    rows = [name for name in ("error", "contribution", "score") if len(getattr(trace, name))]
    with _styled():
        heights = [2.0] * len(names) + [1.0] * len(rows) + [1.4]
        figure, axes = _stack(heights)
        for axis, name in zip(axes, names, strict=False):
            column = series.channels.index(name)
            _line(axis, series.values[:, column], BLUE, label="seen")
            _line(axis, trace.expected[:, column], ORANGE, linestyle="--", label="expected")
            axis.set_ylabel(name)
        if fitted is not None:
            axes[0].fill_between([], [], color=GREY, alpha=0.2, lw=0, label="fitted on this part")
        axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.1)
        below = axes[len(names) :]
        for axis, name in zip(below, (*rows, "decision"), strict=True):
            _line(axis, getattr(trace, name), INK)
            axis.set_ylabel(name)
        axes[-1].axhline(threshold, color=VERMILLION, linestyle="--")
        marked, learned = _runs(labels), _runs(fitted)
        for axis in axes:
            for start, stop in learned:
                axis.axvspan(start - 0.5, stop - 0.5, color=GREY, alpha=0.12, lw=0)
            for alarm in own:
                axis.axvspan(
                    alarm.first - 0.5, alarm.last + 0.5, color=VERMILLION, alpha=0.15, lw=0
                )
            for start, stop in marked:
                axis.axvspan(start - 0.5, stop - 0.5, fill=False, hatch="////", ec=GREEN, lw=0)
            axis.margins(x=0)
        _name_rows(axes[-1], series)
        figure.align_ylabels()
    return figure


def figure_attention(detector: NeuralDetector, series: TrainSeries, row: int) -> Figure:
    """Attention in the window that a row is scored by, with the band outlined if there is one."""
    first, matrix = detector.attention_around(series, row)
    n = len(matrix)
    with _styled():
        figure = Figure(figsize=(5, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        axis = figure.subplots()
        edges = (first - 0.5, first + n - 0.5)
        image = axis.imshow(
            matrix,
            cmap="Blues",
            vmax=float(np.quantile(matrix, 0.995)) or None,
            extent=(*edges, *edges[::-1]),
        )
        if (band := anatomy(detector).band) is not None:
            points = np.arange(first, first + n)
            inside = band.mask(n).numpy().astype(float)
            axis.contour(points, points, inside, levels=[0.5], colors=ORANGE, linewidths=1.0)
        axis.axhline(row, color=VERMILLION, linewidth=0.8, linestyle=":")
        axis.set_title("Attention" if band is None else "Attention; the band is outlined")
        axis.set_xlabel("point looked at (row)")
        axis.set_ylabel("point that looks (row)")
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure


def figure_training(history: Sequence[Epoch]) -> Figure:
    """Loss, validation error and the network's traces, epoch by epoch."""
    curves = list(history[0].curves())
    with _styled():
        figure = Figure(figsize=(9, 2.4), layout="constrained")
        FigureCanvasAgg(figure)
        for axis, name in zip(figure.subplots(1, len(curves)), curves, strict=True):
            epochs = [epoch.number for epoch in history]
            axis.plot(epochs, [epoch.curves()[name] for epoch in history], "o-", ms=3, color=BLUE)
            axis.set_title(name.replace("_", " ").capitalize())
            axis.set_xlabel("epoch")
            axis.xaxis.get_major_locator().set_params(integer=True)
    return figure


def save_figures(
    detector: BaseDetector,
    X: Any,
    folder: str | os.PathLike[str],
    *,
    fitted: Any = None,
    found: Findings | None = None,
    watch: Watch | None = None,
) -> list[Path]:
    """Write the figures of ``X`` into a folder as PNG; return their paths.

    One of every series, one of the attention at the worst alarm where the detector has any,
    and one of the training where it had two epochs or more. The rest is as for ``page``;
    ``watch`` is told of figures.
    """
    found = found or find(detector, X)
    traces, alarms = found.traces, found.alarms
    learned = None if fitted is None else marked_stretches(fitted, found.table, "fitted")
    figures: dict[str, Callable[[], Figure]] = {}
    for number, trace in enumerate(traces):
        # an entity's name may hold what a file's name may not
        name = "" if trace.series.entity is None else f"-{number}-{_safe(trace.series.entity)}"
        part = None if learned is None else rows_of(learned[number], len(trace.series))
        figures[f"trace{name}"] = partial(
            figure_trace, trace, alarms, threshold=detector.threshold_, fitted=part
        )
    has = anatomy(detector)
    if alarms and has.attentive is not None:
        worst = alarms[by_severity(alarms)[0]]
        series = next(one.series for one in traces if one.series.entity == worst.entity)
        figures["attention"] = partial(figure_attention, has.attentive, series, worst.first)
    if has.history is not None and len(has.history) > 1:
        figures["training"] = partial(figure_training, has.history)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    # one at a time: with many entities all of them would not fit into memory
    for name, draw in figures.items():
        paths.append(target / f"{name}.png")
        _save(draw(), paths[-1])
        if watch is not None:
            watch(len(paths), len(figures), "figures")
    return paths


def _save(figure: Figure, path: Path) -> None:
    """Write an image; it appears under its name only once it is whole."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        figure.savefig(unfinished, dpi=150, format="png")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _runs(marks: Any) -> list[tuple[int, int]]:
    return [] if marks is None else join(np.asarray(marks).astype(bool))


def _chosen(series: TrainSeries, alarms: Sequence[Alarm]) -> list[str]:
    explained = [alarms[number] for number in by_severity(alarms) if alarms[number].causes]
    return [explained[0].causes[0].channel if explained else series.channels[0]]


@contextmanager
def _styled() -> Iterator[None]:
    with mpl.rc_context(STYLE):
        yield


def _stack(heights: list[float]) -> tuple[Figure, list[Axes]]:
    # not through pyplot: that would choose a backend and keep the figure alive
    figure = Figure(figsize=(9, 0.95 * sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    return figure, list(axes)


def _line(axis: Axes, values: NDArray[Any], color: str, **style: Any) -> None:
    step = step_for(len(values), BINS)
    fewer = min_max(np.ascontiguousarray(values), step)
    # two points a bin, a quarter from either end of it
    rows = np.arange(len(values), dtype=float)
    if step > 1:
        rows = (np.arange(len(fewer)) + 0.5) * step / 2 - 0.5
    axis.plot(np.minimum(rows, len(values) - 1), fewer, color=color, **style)


def _name_rows(axis: Axes, series: TrainSeries) -> None:
    """Write times, where they are known, below the rows' numbers."""
    times = timeline(series)
    if times.kind == "row":
        axis.set_xlabel("row")
        return
    ticks = np.unique(np.linspace(0, len(series) - 1, 5).round().astype(int))
    axis.set_xticks(ticks, [times.name(int(row)) for row in ticks])


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)
