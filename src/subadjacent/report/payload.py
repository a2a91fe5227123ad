"""The data for the page's script: lines of every series, alarms, attention matrices."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.causes import Explainer
from subadjacent.decision.evidence import Array
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.report import model_facts
from subadjacent.report.channels import PARTS, channel_lines, charts_of, missing_segments
from subadjacent.report.marks import AlarmRow, Segments, by_severity
from subadjacent.report.panels import Panel, shown_severity, trace_key, trace_names, trace_of
from subadjacent.report.pieces import BUDGET, MAX_WINDOWS, LinePiece, plan
from subadjacent.report.timeline import Timeline

# numbers that attention matrices may take in all; the worst alarm always has one
ATTENTION_BUDGET = 120_000


@dataclass(frozen=True, slots=True, eq=False)
class SeriesView:
    """One series of the page, with everything that is drawn of it."""

    explainer: Explainer
    severity: Array
    times: Timeline
    alarms: Sequence[Alarm]
    labels: Segments
    fitted: Segments
    pieces: list[LinePiece]
    traces: tuple[str, ...]

    @property
    def series(self) -> TrainSeries:
        """The rows."""
        return self.explainer.series

    def lines(self) -> Iterator[Array]:
        """Every line: the parts of each channel, then each trace, then the severity."""
        for channel in range(len(self.series.channels)):
            yield from channel_lines(self.explainer, channel)
        for name in self.traces:
            yield trace_of(self.explainer.evidence, name)
        yield shown_severity(self.severity)

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.series.channels) * len(PARTS) + len(self.traces) + 1


def series_views(
    assessment: Assessment,
    alarms: Sequence[Alarm],
    times: Sequence[Timeline],
    labels: Sequence[Segments],
    fitted: Sequence[Segments],
    around: int,
) -> list[SeriesView]:
    """Every series with its lines; numbers in the page are shared out by length."""
    series, traces = assessment.series, trace_names(assessment.evidence)
    # of each channel its exact values, which count twice, and the expected ones: the distances to
    # the bounds of the expected range hardly ever change, and take no room
    lines = len(series[0].channels) * 3 + len(traces) + 1
    total = sum(map(len, series))
    windows = _windows(series, alarms, around)
    return [
        SeriesView(
            Explainer.of(one_series, evidence, profiles, decided.anomalous),
            decided.severity,
            when,
            [alarm for alarm in alarms if alarm.entity == one_series.entity],
            marked,
            learned,
            plan(
                len(one_series),
                BUDGET * len(one_series) // (total * lines),
                windows[one_series.entity],
            ),
            traces,
        )
        for one_series, evidence, profiles, decided, when, marked, learned in zip(
            series,
            assessment.evidence,
            assessment.profiles,
            assessment.decisions,
            times,
            labels,
            fitted,
            strict=True,
        )
    ]


def _windows(
    series: Sequence[TrainSeries], alarms: Sequence[Alarm], around: int
) -> Mapping[str | None, Segments]:
    """The rows of each series that are kept in full: those around its worst alarms."""
    windows: dict[str | None, Segments] = {one_series.entity: [] for one_series in series}
    lengths = {one_series.entity: len(one_series) for one_series in series}
    for number in by_severity(alarms)[:MAX_WINDOWS]:
        alarm = alarms[number]
        # the rows that a click on the alarm shows, and some rows around them
        margin = round(1.5 * _margin(alarm, around))
        last = min(alarm.last + 1 + margin, lengths[alarm.entity])
        windows[alarm.entity].append((max(alarm.first - margin, 0), last))
    return windows


def _margin(alarm: Alarm, around: int) -> int:
    """Rows to show on both sides of an alarm: ``around``, or as many as it has."""
    return max(around, alarm.duration)


def payload(
    detector: BaseDetector,
    panels: Sequence[Panel],
    views: Sequence[SeriesView],
    table: Sequence[AlarmRow],
) -> dict[str, Any]:
    """All that the script needs beside the lines, as JSON types."""
    around = model_facts.around(detector)
    numbers = {row.alarm: number for number, row in enumerate(table)}
    band = model_facts.band(detector)
    return {
        "kind": views[0].times.kind,
        "window": around,
        "band": None if band is None else band._asdict(),
        "parts": PARTS,
        "lines": [panel.key for panel in panels],
        "channels": list(views[0].series.channels),
        "series": [_series(view, numbers) for view in views],
        "alarms": [
            {
                "series": row.series,
                "first": row.alarm.first,
                "last": row.alarm.last,
                "margin": _margin(row.alarm, around),
                "charts": charts_of(row, views[row.series].series),
                "severity": row.alarm.severity,
                "when": row.when,
                "status": row.alarm.status,
                "head": row.head,
                "sentence": row.alarm.sentence,
                "view": _panel_of(row.alarm, views[0].traces),
            }
            for row in table
        ],
        "attention": attention_matrices(detector, views, table),
    }


def _panel_of(alarm: Alarm, traces: Sequence[str]) -> str | None:
    """The panel of the view that raised an alarm."""
    return trace_key(traces.index(alarm.view)) if alarm.view in traces else None


def _series(view: SeriesView, numbers: Mapping[Alarm, int]) -> dict[str, Any]:
    return {
        "rows": len(view.series),
        "starts": list(view.series.starts[1:]),
        "anchors": view.times.anchors(),
        "interval": view.times.interval,
        "pieces": [[*piece, piece.size] for piece in view.pieces],
        "missing": missing_segments(view.series),
        "labels": view.labels,
        "fitted": view.fitted,
        "bands": [[alarm.first, alarm.last + 1, numbers.get(alarm, -1)] for alarm in view.alarms],
    }


def attention_matrices(
    detector: BaseDetector, views: Sequence[SeriesView], table: Sequence[AlarmRow]
) -> list[dict[str, Any]]:
    """Attention in the windows of the worst alarms, as bytes; none where a model has none."""
    matrices: list[dict[str, Any]] = []
    size = 0
    for number in by_severity([row.alarm for row in table]):
        row = table[number]
        view = views[row.series]
        start, stop = row.alarm.first, row.alarm.last + 1
        peak = start + int(view.severity[start:stop].argmax())
        looked = model_facts.attention(detector, view.series, peak)
        if looked is None:
            continue
        first, matrix = looked
        size += matrix.size
        if matrices and size > ATTENTION_BUDGET:
            break
        last = min(first + len(matrix), len(view.series)) - 1
        matrices.append(
            {
                "alarm": number,
                "size": len(matrix),
                "from": view.times.name(first),
                "to": view.times.name(last),
                "at": max(start - first, 0),
                "until": min(stop - 1 - first, len(matrix) - 1),
                "shades": base64.b64encode(_shades(matrix)).decode("ascii"),
            }
        )
    return matrices


def _shades(matrix: Array) -> bytes:
    # a few entries stand far above all others; beyond them there is nothing to tell apart
    highest = max(float(np.quantile(matrix, 0.995)), np.finfo(np.float32).tiny)
    shades: Array = np.rint(np.clip(matrix / highest, 0, 1) * 255).astype(np.uint8)
    return bytes(shades)
