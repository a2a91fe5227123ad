"""The report: one HTML page that needs no network and explains every alarm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from subadjacent.decision.alarms import Alarm
from subadjacent.detectors.assessment import Assessment
from subadjacent.detectors.base import BaseDetector
from subadjacent.report import markup, model_facts, text
from subadjacent.report.channels import MAX_CHANNELS, PARTS
from subadjacent.report.headline import headline
from subadjacent.report.marks import alarm_rows, marked_segments
from subadjacent.report.markup import Metrics
from subadjacent.report.panels import panels
from subadjacent.report.payload import SeriesView, payload, series_views
from subadjacent.report.pieces import pack
from subadjacent.report.timeline import timelines
from subadjacent.runtime import Progress, Watch, ignore

# of the page alone, and those of the charts, which the live page has as well
FOLDERS = ("page_files", "charts")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)


def page(
    detector: BaseDetector,
    assessment: Assessment,
    *,
    title: str,
    alarms: Sequence[Alarm] | None = None,
    labels: Any = None,
    fitted: Any = None,
    metrics: Metrics | None = None,
    facts: Mapping[str, str] | None = None,
    remarks: Sequence[str] = (),
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
    facts
        Facts to show before those about the data.
    remarks
        Further warnings, such as those logged in fitting.
    watch
        Called with a ``Progress`` as lines are drawn.
    """
    alarms = assessment.alarms() if alarms is None else alarms
    series = assessment.series
    times = timelines(series)
    learned = marked_segments(fitted, assessment.table, "fitted")
    table = alarm_rows(alarms, series, times, learned)
    views = series_views(
        assessment,
        alarms,
        times,
        marked_segments(labels, assessment.table),
        learned,
        model_facts.around(detector),
    )
    shown = panels(assessment)
    read = payload(detector, shown, views, table)
    history = model_facts.history(detector)
    curves = model_facts.curves(history or ())
    channels, entities = (
        series[0].channels,
        [one_series.entity or "series" for one_series in series],
    )
    score = "What led to the score"
    if any(evidence.views for evidence in assessment.evidence):
        score = "What each view adds to the score"
    marked = (
        (labels is not None, "band label", "labelled as anomalous"),
        (any(learned), "band fitted", "fitted on this part"),
    )
    ring = markup.legend_key("ring", "furthest from expected") if table else ""
    attention = markup.attention_section(band=read["band"] is not None) if read["attention"] else ""
    return Template(_file("report.html")).substitute(
        title=escape(title),
        early=_file("early.js"),
        style=_file("base.css") + _file("report.css"),
        headline=escape(headline(assessment, alarms, times)),
        warnings=markup.warning_list(text.warnings(detector, assessment, remarks)),
        entities=markup.choice("entity", "Entity", entities),
        overview_hint="Click a marker to look at an alarm; drag" if table else "Drag",
        shades=" ".join(markup.legend_key(kind, words) for drawn, kind, words in marked if drawn),
        alarms=markup.alarm_section(
            table, len(alarms) - len(table), channels, entities=len(series) > 1
        ),
        without_alarms="" if table else " disabled",
        channels_title="Channels" if len(channels) > 1 else "Data",
        ring=ring,
        add_channel=markup.choice(
            "add", "Add a channel", channels, '<option value="">choose…</option>'
        ),
        most_channels=MAX_CHANNELS,
        panels=markup.panel_figures(shown, score),
        metrics=markup.metrics_section(metrics) if metrics else "",
        network=markup.network_sections(history, curves, attention),
        facts=markup.fact_list(dict(facts or {}) | text.data_facts(series, times)),
        versions=markup.fact_list(text.versions()),
        settings=markup.fact_list(text.settings(detector), "columns"),
        payload=_json(read | {"curves": _curves(curves) if len(history or ()) > 1 else []}),
        lines="\n".join(
            markup.line_elements(place, lines) for place, lines in enumerate(_packed(views, watch))
        ),
        script=script(),
    )


def _curves(curves: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """The curves of a training; None where an epoch has no value."""
    return [
        {
            "label": text.curve(name),
            "values": [value if value == value else None for value in values],
        }
        for name, values in curves.items()
    ]


def _packed(views: Sequence[SeriesView], watch: Watch) -> Iterator[list[str]]:
    """The lines of each series, as text; values of channels to the digits that a reader sees."""
    done, total = 0, sum(len(view.series) * view.count for view in views)
    for view in views:
        lines, of_channels = [], len(view.series.channels) * len(PARTS)
        for place, line in enumerate(view.lines()):
            exact = place < of_channels and place % len(PARTS) == 0
            lines.append(pack(line, view.pieces, exact=exact))
            done += len(view.series)
            watch(Progress("drawing", done, total, "values"))
        yield lines


def _json(value: Any) -> str:
    # inside a script element only "<" could end it; JSON has another way to write that
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def script() -> str:
    """The page's JavaScript modules as one script: a page on disk may import no other file.

    Each module is a function that returns what others import from it, used ones first.
    """
    modules: dict[str, str] = {}
    imported: dict[str, set[str]] = {}

    def add(name: str) -> None:
        source = _file(name)
        for names, other in IMPORT.findall(source):
            imported.setdefault(other, set()).update(map(str.strip, names.split(",")))
            if other not in modules:
                add(other)
        body = IMPORT.sub(r'const {\1} = modules["\2"];\n', source)
        modules[name] = re.sub("^export ", "", body, flags=re.MULTILINE)

    add("report.js")
    script = '"use strict";\nconst modules = {};\n'
    for name, body in modules.items():
        names = ", ".join(sorted(imported.get(name, ())))
        script += f'modules["{name}"] = (() => {{\n{body}return {{{names}}};\n}})();\n'
    return script


def _file(name: str) -> str:
    places = (files("subadjacent.report") / folder / name for folder in FOLDERS)
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")
