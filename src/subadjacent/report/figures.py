"""A series and its alarms as a static image, for papers and slides."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import WITHDRAWN, Alarm
from subadjacent.decision.causes import Explainer
from subadjacent.decision.events import join
from subadjacent.detectors.assessment import Assessment
from subadjacent.errors import InputError
from subadjacent.report.marks import Segments, by_severity
from subadjacent.report.panels import in_words, shown_severity, trace_names
from subadjacent.report.pieces import min_max, step_for
from subadjacent.report.timeline import timeline

# the colours of Okabe and Ito, which people with any colour vision can tell apart
BLUE, ORANGE, VERMILLION, GREEN, INK = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#24303d"
GREY, SLATE = "#64748b", "#6b7f99"
FITTED_ALPHA, ALARM_ALPHA = 0.14, 0.25
# share of a panel's height for the data; above it is the strip of labels, which hides none of them
STRIP = 0.93
HAIRLINE = 0.8  # points, around marks: those of a few rows would be too narrow to be seen
LABEL_WIDTH = 14  # letters
BINS = 2_000  # more than an image has columns
MIN_TICKS, MAX_TICKS = 3, 7  # times below an image; more have no room
STYLE: dict[Any, Any] = {
    "axes.formatter.useoffset": False,
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
        shaded, but for withdrawn ones.
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
    decided = assessment.decisions[number]
    alarms = assessment.alarms() if alarms is None else alarms
    series_alarms = [
        alarm for alarm in alarms if alarm.entity == series.entity and alarm.status != WITHDRAWN
    ]
    names = _chosen(series, series_alarms) if channels is None else list(channels)
    unknown = [name for name in names if name not in series.channels]
    if unknown:
        raise InputError(f"channels must be among {series.channels}; got {unknown}")
    shown = _shown(rows, len(series))
    explainer = Explainer.of(series, evidence, assessment.profiles[number], decided.anomalous)
    listed = trace_names([evidence]) if traces else ()
    below = [(in_words(name, len(series.channels)), evidence.traces[name]) for name in listed]
    with mpl.rc_context(STYLE):
        heights = [2.0] * len(names) + [1.0] * len(below) + [1.4]
        figure, axes = _stack(heights)
        for axis, name in zip(axes, names, strict=False):
            _draw_channel(axis, explainer, name, shown)
        _name_marks(
            axes[0], alarmed=bool(series_alarms), labelled=labels is not None, fitted=fitted
        )
        axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, borderaxespad=0.1)
        below.append(("severity", shown_severity(decided.severity)))
        for axis, (name, line) in zip(axes[len(names) :], below, strict=True):
            _line(axis, line, shown, INK)
            # on two lines where one would reach into the next figure
            axis.set_ylabel(fill(name, LABEL_WIDTH))
        axes[-1].axhline(1, color=VERMILLION, linestyle="--")
        for axis in axes:
            _mark(axis, series_alarms, _runs(labels), _runs(fitted))
            axis.set_xlim(shown.start - 0.5, shown.stop - 0.5)
        _name_rows(axes[-1], series, shown)
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
    """Draw a channel over its expected range."""
    column = explainer.series.channels.index(name)
    expected_range = explainer.expected_range(column)
    low, high = expected_range.low[shown], expected_range.high[shown]
    step = step_for(len(low), BINS)
    # with many rows, the band of a bin spans the ranges of all its rows
    bins = np.arange(0, len(low), step)
    axis.fill_between(
        shown.start + bins + (step - 1) / 2,
        np.minimum.reduceat(low, bins),
        np.maximum.reduceat(high, bins),
        color=SLATE,
        alpha=0.3,
        lw=0,
        label="expected range",
    )
    if step == 1:
        _line(axis, expected_range.expected, shown, ORANGE, linestyle="--", label="expected")
    seen, missing = explainer.series.values[:, column], explainer.series.missing
    if missing is not None:
        # values filled in for missing ones were not measured
        seen = np.where(missing[:, column], np.nan, seen)
    _line(axis, seen, shown, BLUE, label="seen")
    axis.set_ylabel(name)


def _mark(axis: Axes, alarms: Sequence[Alarm], labels: Segments, fitted: Segments) -> None:
    """Shade alarms and the rows fitted on; draw labels as a strip above the data."""
    for start, stop in fitted:
        axis.axvspan(start - 0.5, stop - 0.5, color=GREY, alpha=FITTED_ALPHA, lw=0)
    for alarm in alarms:
        axis.axvspan(
            alarm.first - 0.5, alarm.last + 0.5, color=VERMILLION, alpha=ALARM_ALPHA, lw=HAIRLINE
        )
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


def _name_rows(axis: Axes, series: TrainSeries, shown: slice) -> None:
    """Label the horizontal axis with round times or numbers, or with rows."""
    times = timeline(series)
    if times.kind == "row":
        axis.set_xlabel("row")
        return
    places, formatter = times.places, axis.xaxis.get_major_formatter()
    locator: Any = MaxNLocator(MAX_TICKS)
    if times.kind == "time":
        calendar: Any = dates  # it has no types
        places = calendar.date2num(places.astype("datetime64[ms]"))
        # from three on, so that every span has round times that are no more than the most
        locator = calendar.AutoDateLocator(minticks=MIN_TICKS, maxticks=MAX_TICKS)
        formatter = calendar.ConciseDateFormatter(locator)
    first, last = places[shown.start], places[shown.stop - 1]
    ends = calendar.num2date([first, last]) if times.kind == "time" else (first, last)
    ticks = locator.tick_values(*ends)
    inside = [tick for tick in ticks if first <= tick <= last]
    rows = np.interp(inside, places, np.arange(len(places)))
    axis.set_xticks(rows, formatter.format_ticks(inside))
    axis.set_xlabel(formatter.get_offset())


def _runs(marks: Any) -> list[tuple[int, int]]:
    return [] if marks is None else join(np.asarray(marks).astype(bool))


def _chosen(series: TrainSeries, alarms: Sequence[Alarm]) -> list[str]:
    explained = [alarms[number] for number in by_severity(alarms) if alarms[number].causes]
    return [explained[0].causes[0].channel if explained else series.channels[0]]


class SeriesFigure(Figure):
    """A figure that a notebook shows by itself, whatever backend matplotlib has there."""

    def _repr_png_(self) -> bytes:
        """The image as a notebook holds it."""
        image = BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()


def _stack(heights: list[float]) -> tuple[Figure, list[Axes]]:
    # not through pyplot: that would choose a backend and keep the figure alive
    figure = SeriesFigure(figsize=(9, 0.95 * sum(heights)), layout="constrained")
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
