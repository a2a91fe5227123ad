"""The report: one HTML page that needs no network and explains every alarm."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from subadjacent.detectors.base import BaseDetector
from subadjacent.report import charts, story
from subadjacent.report.anatomy import Anatomy, anatomy
from subadjacent.report.findings import Findings, Watch, find
from subadjacent.report.levels import BUDGET, WINDOWS, Piece, pack, plan
from subadjacent.report.marks import Listed, Stretches, by_severity, listed, marked_stretches
from subadjacent.report.timeline import Timeline, timelines
from subadjacent.scoring.alarms import Alarm
from subadjacent.scoring.point import Trace

# numbers that attention matrices may take in all; the worst alarm always has one
ATTENTION_BUDGET = 120_000

T = TypeVar("T")
Metrics = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One series on the page, and all that is drawn of it."""

    trace: Trace
    fields: tuple[str, ...]
    times: Timeline
    alarms: Stretches
    labels: Stretches
    fitted: Stretches
    pieces: list[Piece]

    def lines(self) -> Iterator[NDArray[Any]]:
        """What was seen in each channel, what was expected, and the rows below them."""
        trace = self.trace
        yield from trace.series.values.T
        yield from trace.expected.T
        yield from (getattr(trace, field) for field in self.fields)


def page(
    detector: BaseDetector,
    X: Any,
    *,
    title: str,
    labels: Any = None,
    fitted: Any = None,
    metrics: Metrics | None = None,
    notes: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    found: Findings | None = None,
    watch: Watch | None = None,
) -> str:
    """Score ``X`` and tell what was found, as the text of an HTML file.

    Parameters
    ----------
    detector
        Fitted.
    X
        Whatever the detector takes; with several entities the page has a switch.
    title
        Name of the page.
    labels
        The truth where it is known, 0 or 1 a row, in the shape of ``X``; only drawn.
    fitted
        Which rows the detector was fitted on, as 0 or 1 a row; shaded, and alarms there tagged.
    metrics
        Row name → metric → value, such as ``{"this detector": {"F1": 0.8}}``.
    notes
        Sentences to show among the warnings.
    facts
        Facts to show before those about the data.
    found
        What ``find`` found in ``X``, where that is known already.
    watch
        Called with how many values are drawn, and of how many.
    """
    found = found or find(detector, X)
    has = anatomy(detector)
    traces, alarms = found.traces, found.alarms
    series = [trace.series for trace in traces]
    times = timelines(series)
    none: list[Stretches] = [[] for _ in series]
    truth = none if labels is None else marked_stretches(labels, found.table)
    learned = none if fitted is None else marked_stretches(fitted, found.table, "fitted")
    rows = listed(alarms, series, times, learned)
    worst = max(rows, key=lambda row: row.alarm.severity, default=None)
    shown = [
        Shown(trace, has.lines, when, _bounds(alarms, trace.series.entity), marked, part, pieces)
        for trace, when, marked, part, pieces in zip(
            traces, times, truth, learned, _plans(traces, alarms, has), strict=True
        )
    ]
    seen = by_severity([row.alarm for row in rows])[: _most_attention(has)]
    matrix = has.around**2
    lines = sum(len(one) * (2 * len(one.channels) + len(has.lines)) for one in series)
    drawn = _Count(lines + len(seen) * matrix, watch)
    total = sum(map(len, series))
    above = sum(int((one.decision > detector.threshold_).sum()) for one in traces) / total
    figures, shared = charts.detail(times[0].kind, has.rows)
    figures["overview"] = charts.overview(times[0].kind, shared)
    figures |= charts.training(has.history or ())
    script, divisions = components(figures, wrap_script=False)
    environment = _environment()
    return environment.get_template("page.html.j2").render(
        source=lambda name: _source(environment, name),
        title=title,
        headline=story.headline(len(alarms), total, len(series), worst),
        warnings=[*notes, *story.warnings(detector, series, above)],
        facts=dict(facts or {}) | story.data_facts(series, times),
        settings=story.settings(detector),
        versions=story.versions(),
        metrics=metrics,
        metric_names=list(dict.fromkeys(name for row in (metrics or {}).values() for name in row)),
        labelled=labels is not None,
        fitted=any(learned),
        alarms=rows,
        unlisted=len(alarms) - len(rows),
        entities=[one.entity or "series" for one in series],
        channels=list(series[0].channels),
        curves=[
            (name, _curve(name, has))
            for epoch in (has.history or ())[:1]
            for name in epoch.curves()
        ],
        rows=has.rows,
        history=has.history,
        attentive=bool(seen),
        band=has.band is not None,
        figures={name: Markup(one) for name, one in divisions.items()},
        bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
        figures_script=Markup(script),
        payload=_json(_payload(detector.threshold_, has, shown, rows, drawn(seen, matrix))),
        lines=[
            [pack(line, one.pieces) for line in drawn(one.lines(), len(one.trace.series))]
            for one in shown
        ],
    )


class _Count:
    """Tells whoever watches how many values are drawn."""

    def __init__(self, total: int, watch: Watch | None) -> None:
        self._done, self._total, self._watch = 0, total, watch

    def __call__(self, things: Iterable[T], values: int) -> Iterator[T]:
        """The same things of ``values`` values each; one is drawn when the next is asked for."""
        for one in things:
            yield one
            self._done += values
            if self._watch is not None:
                self._watch(self._done, self._total, "values drawn")


def _curve(name: str, has: Anatomy) -> str:
    """What a training curve is called."""
    titles = {row.name: row.title for row in has.rows}
    return titles.get(name, name.replace("_", " ").replace("train ", "training ").capitalize())


def _plans(traces: Sequence[Trace], alarms: Sequence[Alarm], has: Anatomy) -> list[list[Piece]]:
    """Pieces of each series: the longer it is, the more of the page it gets."""
    total = sum(len(trace.series) for trace in traces)
    lines = 2 * len(traces[0].series.channels) + len(has.lines)
    around: dict[str | None, Stretches] = {trace.series.entity: [] for trace in traces}
    lengths = {trace.series.entity: len(trace.series) for trace in traces}
    for number in by_severity(alarms)[:WINDOWS]:
        alarm = alarms[number]
        # what a click on the alarm shows, and some way to go from there
        margin = round(1.5 * max(has.around, alarm.duration))
        last = min(alarm.last + 1 + margin, lengths[alarm.entity])
        around[alarm.entity].append((max(alarm.first - margin, 0), last))
    return [
        plan(
            len(trace.series),
            BUDGET * len(trace.series) // (total * lines),
            around[trace.series.entity],
        )
        for trace in traces
    ]


def _payload(
    threshold: float,
    has: Anatomy,
    shown: Sequence[Shown],
    rows: Sequence[Listed],
    seen: Iterable[int],
) -> dict[str, Any]:
    numbers = {(row.series, row.alarm.first): number for number, row in enumerate(rows)}
    return {
        "kind": shown[0].times.kind,
        "threshold": threshold,
        "window": has.around,
        "band": None if has.band is None else asdict(has.band),
        "lines": has.lines,
        "channels": list(shown[0].trace.series.channels),
        "series": [
            {
                "rows": len(one.trace.series),
                "starts": list(one.trace.series.starts[1:]),
                "anchors": one.times.anchors(),
                "interval": one.times.interval,
                "pieces": [[*piece, piece.size] for piece in one.pieces],
                "labels": one.labels,
                "fitted": one.fitted,
                "bands": [
                    [first, last, numbers.get((number, first), -1)] for first, last in one.alarms
                ],
            }
            for number, one in enumerate(shown)
        ],
        "alarms": [
            {
                "series": row.series,
                "first": row.alarm.first,
                "last": row.alarm.last,
                "channel": row.channel,
                "severity": row.alarm.severity,
                "when": row.when,
            }
            for row in rows
        ],
        "attention": _attention(has, shown, rows, seen),
    }


def _most_attention(has: Anatomy) -> int:
    """For how many alarms there is an attention matrix, and room for it."""
    return max(1, ATTENTION_BUDGET // has.around**2) if has.attentive is not None else 0


def _attention(
    has: Anatomy,
    shown: Sequence[Shown],
    rows: Sequence[Listed],
    seen: Iterable[int],
) -> list[dict[str, Any]]:
    """Attention matrices of some alarms' windows, as bytes, in the order given."""
    found: list[dict[str, Any]] = []
    for number in seen:
        assert has.attentive is not None, "there are none to see"
        row = rows[number]
        one = shown[row.series]
        scores = one.trace.decision[row.alarm.first : row.alarm.last + 1]
        peak = row.alarm.first + int(scores.argmax())
        first, matrix = has.attentive.attention_around(one.trace.series, peak)
        # a few entries stand far above all others; beyond them there is nothing to tell apart
        highest = max(float(np.quantile(matrix, 0.995)), np.finfo(np.float32).tiny)
        shades = np.rint(np.clip(matrix / highest, 0, 1) * 255).astype(np.uint8)
        last = min(first + len(matrix), len(one.trace.series)) - 1
        found.append(
            {
                "alarm": number,
                "size": len(matrix),
                "from": one.times.name(first),
                "to": one.times.name(last),
                "at": max(row.alarm.first - first, 0),
                "until": min(row.alarm.last - first, len(matrix) - 1),
                "shades": base64.b64encode(shades.tobytes()).decode("ascii"),
            }
        )
    return found


def _bounds(alarms: Sequence[Alarm], entity: str | None) -> Stretches:
    return [(alarm.first, alarm.last + 1) for alarm in alarms if alarm.entity == entity]


def _json(value: Any) -> Markup:
    # inside a script element only "<" could end it; JSON has another way to write that
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def _source(environment: Environment, name: str) -> Markup:
    """A style sheet or script of ours, as it stands."""
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("subadjacent.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
