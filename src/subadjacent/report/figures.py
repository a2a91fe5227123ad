"""The report's figures as static images, for papers and slides."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.durable import whole_file
from subadjacent.errors import InputError
from subadjacent.report import model_facts
from subadjacent.report.marks import Segments, by_severity, marked_segments, occurrences
from subadjacent.report.model_facts import AttentionMatrix, BandShape, attention, curves, history
from subadjacent.report.panels import in_words, trace_names
from subadjacent.report.pieces import min_max, step_for
from subadjacent.report.text import curve
from subadjacent.report.ticks import Plain, name_rows
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.scoring.alarms import Alarm
from subadjacent.scoring.causes import Explainer
from subadjacent.scoring.events import join, rows_of

# the colours of Okabe and Ito, which people with any colour vision can tell apart
BLUE, ORANGE, VERMILLION, GREEN, INK = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#24303d"
GREY, SLATE = "#64748b", "#6b7f99"
FITTED_ALPHA, ALARM_ALPHA = 0.14, 0.25
# share of a panel's height for the data; above it is the strip of labels, which hides none of them
STRIP = 0.93
HAIRLINE = 0.8  # points, around marks: those of a few rows would be too narrow to be seen
LABEL_WIDTH = 14  # letters
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


def figure_series(
    assessment: Assessment,
    number: int = 0,
    *,
    alarms: Sequence[Alarm] | None = None,
    channels: Sequence[str] | None = None,
    labels: Any = None,
    fitted: Any = None,
    rows: tuple[int, int] | None = None,
    traces: bool = True,
) -> Figure:
    """Draw channels, traces and severity of one series, as in the paper's Figure 5.

    A severity of 1 is the threshold, which adapts to a permanent change.

    Parameters
    ----------
    assessment
        What ``detector.assess`` returned.
    number
        Which of its series, from 0.
    alarms
        Those of the assessment, where they were computed before; those of this series are
        shaded.
    channels
        Which to draw; the one that explains the worst alarm when left out.
    labels
        0 or 1 a row of the series; a strip above the data.
    fitted
        Which rows the detector was fitted on, as 0 or 1 a row; shaded.
    rows
        The first and the last to draw, both included, such as ``(alarm.first - 100, alarm.last +
        100)``; what lies outside of the series is left out. All of them when left out.
    traces
        Draw the traces too: for the default, the share of each view in the score.
    """
    series, evidence = assessment.series[number], assessment.evidence[number]
    judgement = assessment.judgements[number]
    alarms = assessment.alarms() if alarms is None else alarms
    series_alarms = [alarm for alarm in alarms if alarm.entity == series.entity]
    names = _chosen(series, series_alarms) if channels is None else list(channels)
    unknown = [name for name in names if name not in series.channels]
    if unknown:
        raise InputError(f"channels must be among {series.channels}; got {unknown}")
    shown = _shown(rows, len(series))
    explainer = Explainer.of(series, evidence, assessment.habits[number], judgement.anomalous)
    listed = trace_names([evidence]) if traces else ()
    below = [(in_words(name), evidence.traces[name]) for name in listed]
    with _styled():
        heights = [2.0] * len(names) + [1.0] * len(below) + [1.4]
        figure, axes = _stack(heights)
        for axis, name in zip(axes, names, strict=False):
            _draw_channel(axis, explainer, name, shown)
        _name_marks(
            axes[0], alarmed=bool(series_alarms), labelled=labels is not None, fitted=fitted
        )
        axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, borderaxespad=0.1)
        below.append(("severity", judgement.severity))
        for axis, (name, line) in zip(axes[len(names) :], below, strict=True):
            _line(axis, line, shown, INK)
            # on two lines where one would reach into the next figure
            axis.set_ylabel(fill(name, LABEL_WIDTH))
        axes[-1].axhline(1, color=VERMILLION, linestyle="--")
        for axis in axes:
            axis.yaxis.set_major_formatter(Plain())
            _mark(axis, series_alarms, _runs(labels), _runs(fitted))
            axis.set_xlim(shown.start - 0.5, shown.stop - 0.5)
        name_rows(axes[-1], series, shown)
        figure.align_ylabels()
    return figure


def _shown(rows: tuple[int, int] | None, length: int) -> slice:
    if rows is None:
        return slice(0, length)
    shown = slice(max(rows[0], 0), min(rows[1] + 1, length))
    if shown.start >= shown.stop:
        raise InputError(f"rows must be a first and a last one of 0 to {length - 1}; got {rows}")
    return shown


def _draw_channel(axis: Axes, explainer: Explainer, name: str, shown: slice) -> None:
    """Draw a channel over its usual bounds."""
    column = explainer.series.channels.index(name)
    usual = explainer.expected_range(column)
    low, high = usual.low[shown], usual.high[shown]
    step = step_for(len(low), BINS)
    # from afar, as far as it reaches in some rows
    bins = np.arange(0, len(low), step)
    axis.fill_between(
        shown.start + bins + (step - 1) / 2,
        np.minimum.reduceat(low, bins),
        np.maximum.reduceat(high, bins),
        color=SLATE,
        alpha=0.3,
        lw=0,
        label="usual",
    )
    if step == 1:
        _line(axis, usual.expected, shown, ORANGE, linestyle="--", label="expected")
    seen, missing = explainer.series.values[:, column], explainer.series.missing
    if missing is not None:
        # what stands in for missing values was not seen
        seen = np.where(missing[:, column], np.nan, seen)
    _line(axis, seen, shown, BLUE, label="seen")
    axis.set_ylabel(name)


def _mark(axis: Axes, alarms: Sequence[Alarm], labels: Segments, fitted: Segments) -> None:
    """Shade alarms and the rows fitted on; draw labels as a strip above the data."""
    for start, stop in fitted:
        axis.axvspan(start - 0.5, stop - 0.5, color=GREY, alpha=FITTED_ALPHA, lw=0)
    for start, stop in (bounds for alarm in alarms for bounds in occurrences(alarm)):
        axis.axvspan(start - 0.5, stop - 0.5, color=VERMILLION, alpha=ALARM_ALPHA, lw=HAIRLINE)
    if labels:
        low, high = axis.get_ylim()
        axis.set_ylim(low, low + (high - low) / STRIP)
    for start, stop in labels:
        axis.axvspan(start - 0.5, stop - 0.5, ymin=STRIP, color=GREEN, lw=HAIRLINE)


def _name_marks(axis: Axes, *, alarmed: bool, labelled: bool, fitted: Any) -> None:
    """Name the marks that are drawn, in a legend."""
    if alarmed:
        axis.fill_between([], [], color=VERMILLION, alpha=ALARM_ALPHA, lw=0, label="alarm")
    if labelled:
        axis.fill_between([], [], color=GREEN, lw=0, label="labelled")
    if fitted is not None:
        axis.fill_between([], [], color=GREY, alpha=FITTED_ALPHA, lw=0, label="fitted on this part")


def figure_attention(found: AttentionMatrix, row: int, band: BandShape | None = None) -> Figure:
    """Attention in the window that a row is scored by, with the band outlined if there is one."""
    first, matrix = found
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
        if band is not None:
            points = np.arange(first, first + n)
            inside = band.mask(n).astype(float)
            axis.contour(points, points, inside, levels=[0.5], colors=ORANGE, linewidths=1.0)
        axis.axhline(row, color=VERMILLION, linewidth=0.8, linestyle=":")
        axis.set_title("Attention" if band is None else "Attention; the band is outlined")
        axis.set_xlabel("point looked at (row)")
        axis.set_ylabel("point that looks (row)")
        for named_axis in (axis.xaxis, axis.yaxis):
            named_axis.set_major_formatter(Plain())
        figure.colorbar(image, ax=axis, shrink=0.8, format=Plain())
    return figure


def figure_training(history: Sequence[Any]) -> Figure:
    """Draw the curves of the training, epoch by epoch."""
    curve_values = curves(history)
    with _styled():
        figure = Figure(figsize=(9, 2.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = np.ravel(figure.subplots(1, len(curve_values)))
        for axis, (name, values) in zip(axes, curve_values.items(), strict=True):
            axis.plot(range(1, len(values) + 1), values, "o-", ms=3, color=BLUE)
            axis.set_title(curve(name))
            axis.set_xlabel("epoch")
            axis.xaxis.get_major_locator().set_params(integer=True)
            axis.yaxis.set_major_formatter(Plain())
    return figure


def save_figures(
    detector: BaseDetector,
    assessment: Assessment,
    folder: str | os.PathLike[str],
    *,
    alarms: Sequence[Alarm] | None = None,
    fitted: Any = None,
    watch: Watch = ignore,
) -> list[Path]:
    """Write figures of an assessment into a folder as PNG; return their paths.

    One of every series, one of the attention at the worst alarm where the model has any, and
    one of the training where it had two epochs or more. The rest is as for ``page``.
    """
    alarms = assessment.alarms() if alarms is None else alarms
    figures = _series_figures(assessment, alarms, fitted) | _model_figures(
        detector, assessment, alarms
    )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    # one at a time: with many entities all of them would not fit into memory
    for name, draw in figures.items():
        paths.append(target / f"{name}.png")
        _save(draw(), paths[-1])
        watch(Progress("drawing", len(paths), len(figures), "figures"))
    return paths


Drawings = dict[str, Callable[[], Figure]]


def _series_figures(assessment: Assessment, alarms: Sequence[Alarm], fitted: Any) -> Drawings:
    learned = None if fitted is None else marked_segments(fitted, assessment.table, "fitted")
    figures: Drawings = {}
    for number, series in enumerate(assessment.series):
        # an entity's name may hold what a file's name may not
        name = "" if series.entity is None else f"-{number}-{_safe(series.entity)}"
        fitted_rows = None if learned is None else rows_of(learned[number], len(series))
        figures[f"series{name}"] = partial(
            figure_series, assessment, number, alarms=alarms, fitted=fitted_rows
        )
    return figures


def _model_figures(
    detector: BaseDetector, assessment: Assessment, alarms: Sequence[Alarm]
) -> Drawings:
    figures: Drawings = {}
    if alarms:
        worst = alarms[by_severity(alarms)[0]]
        series = next(
            one_series for one_series in assessment.series if one_series.entity == worst.entity
        )
        looked = attention(detector, series, worst.first)
        if looked is not None:
            figures["attention"] = partial(
                figure_attention, looked, worst.first, model_facts.band(detector)
            )
    epochs = history(detector)
    if epochs is not None and len(epochs) > 1:
        figures["training"] = partial(figure_training, epochs)
    return figures


def _save(figure: Figure, path: Path) -> None:
    """Write an image; it appears under its name only once it is complete."""
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=150, format="png")


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


def _line(axis: Axes, values: NDArray[Any], shown: slice, color: str, **style: Any) -> None:
    step = step_for(shown.stop - shown.start, BINS)
    fewer = min_max(np.ascontiguousarray(values[shown]), step)
    # two points a bin, a quarter from either end of it
    rows = np.arange(len(fewer), dtype=float)
    if step > 1:
        rows = (rows + 0.5) * step / 2 - 0.5
    axis.plot(np.minimum(shown.start + rows, shown.stop - 1), fewer, color=color, **style)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)
