"""The report: one HTML page that needs no network and explains every alarm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from bokeh.document import Document
from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.report import charts, model_facts, text
from subadjacent.report.channels import SLOTS
from subadjacent.report.marks import Segments, alarm_rows, marked_segments
from subadjacent.report.panels import Panel, panels
from subadjacent.report.payload import SeriesView, payload, series_views
from subadjacent.report.pieces import pack
from subadjacent.report.timeline import Kind, timelines
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.scoring.alarms import Alarm

Metrics = Mapping[str, Mapping[str, float]]


def page(
    detector: BaseDetector,
    assessment: Assessment,
    *,
    title: str,
    alarms: Sequence[Alarm] | None = None,
    labels: Any = None,
    fitted: Any = None,
    metrics: Metrics | None = None,
    notes: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    watch: Watch = ignore,
) -> str:
    """Report a detector's findings in some rows, as the text of an HTML file.

    Parameters
    ----------
    detector
        Fitted.
    assessment
        What ``detector.assess`` returned; with several entities the page has a switch.
    title
        Name of the page.
    alarms
        Those of the assessment, where they were computed before.
    labels
        The truth where it is known, 0 or 1 a row, in the shape of the input; only drawn.
    fitted
        Which rows the detector was fitted on, as 0 or 1 a row; shaded, and alarms there tagged.
    metrics
        Row name → metric → value, such as ``{"this detector": {"F1": 0.8}}``.
    notes
        Sentences to show among the warnings.
    facts
        Facts to show before those about the data.
    watch
        Called with a ``Progress`` as lines are drawn.
    """
    alarms = assessment.alarms() if alarms is None else alarms
    series = assessment.series
    times = timelines(series)
    learned = _segments(fitted, assessment, "fitted")
    table = alarm_rows(alarms, series, times, learned)
    views = series_views(
        assessment,
        alarms,
        times,
        _segments(labels, assessment, "labels"),
        learned,
        model_facts.around(detector),
    )
    shown = panels(assessment)
    read = payload(detector, shown, views, table)
    environment = _environment()
    return environment.get_template("page.html.j2").render(
        source=lambda name: _source(environment, name),
        title=title,
        headline=text.headline(len(alarms), sum(map(len, series)), len(series), table),
        warnings=[*notes, *text.warnings(detector, assessment)],
        facts=dict(facts or {}) | text.data_facts(series, times),
        settings=text.settings(detector),
        versions=text.versions(),
        metrics=metrics,
        metric_names=list(dict.fromkeys(name for row in (metrics or {}).values() for name in row)),
        labelled=labels is not None,
        fitted=any(learned),
        alarms=table,
        unlisted=len(alarms) - len(table),
        entities=[one_series.entity or "series" for one_series in series],
        channels=list(series[0].channels),
        slots=SLOTS,
        panels=shown,
        views=any(evidence.views for evidence in assessment.evidence),
        attentive=bool(read["attention"]),
        band=read["band"] is not None,
        bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
        payload=_json(read),
        lines=list(_packed(views, watch)),
        **_drawn(detector, times[0].kind, shown),
    )


def _segments(marks: Any, assessment: Assessment, name: str) -> list[Segments]:
    """Marked segments of each series; none where there are no marks."""
    if marks is None:
        return [[] for _ in assessment.series]
    return marked_segments(marks, assessment.table, name)


def _drawn(detector: BaseDetector, kind: Kind, shown: Sequence[Panel]) -> dict[str, Any]:
    """Bokeh's figures, for the template: those of the data, and those of a training."""
    history = model_facts.history(detector)
    curves = model_facts.curves(history or ())
    trained = history is not None and len(history) > 1
    drawn = tuple((name, tuple(values)) for name, values in curves.items()) if trained else ()
    script, divisions = _embedded(kind, tuple(shown), drawn)
    return {
        "figures": {name: Markup(division) for name, division in divisions},
        "figures_script": Markup(script),
        "history": history,
        "curves": [(name, text.curve(name), values) for name, values in curves.items()],
    }


@lru_cache(maxsize=8)
def _embedded(
    kind: Kind, shown: tuple[Panel, ...], curves: tuple[tuple[str, tuple[float, ...]], ...]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Bokeh's script, and the element of every figure.

    Kept for other pages with the same panels: figures of the data have none, the page fills it in.
    """
    figures, shared = charts.detail(kind, SLOTS, shown)
    figures["overview"] = charts.overview(kind, shared)
    if curves:
        figures |= charts.training(dict(curves))
    document = Document()
    # all at once: one by one, Bokeh would go through all earlier figures each time
    with document.models.freeze():
        for figure in figures.values():
            document.add_root(figure)
    script, divisions = components(figures, wrap_script=False)
    return script, tuple(divisions.items())


def _packed(views: Sequence[SeriesView], watch: Watch) -> Iterator[list[str]]:
    """The lines of each series, as text."""
    done, total = 0, sum(len(view.series) * view.count for view in views)
    for view in views:
        lines = []
        for line in view.lines():
            lines.append(pack(line, view.pieces))
            done += len(view.series)
            watch(Progress("drawing", done, total, "values"))
        yield lines


def _json(value: Any) -> Markup:
    # inside a script element only "<" could end it; JSON has another way to write that
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def _source(environment: Environment, name: str) -> Markup:
    """A style sheet or script of ours, as it stands."""
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("subadjacent.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = text.number
    return environment
