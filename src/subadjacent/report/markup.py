"""Parts of the report's HTML: every text that comes from data is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from subadjacent.decision.alarms import CONFIRMED
from subadjacent.report.marks import AlarmRow
from subadjacent.report.panels import Panel
from subadjacent.report.text import curve, number

Metrics = Mapping[str, Mapping[str, float]]


def warning_list(messages: Sequence[str]) -> str:
    """Warnings as an HTML list; empty without any."""
    items = "".join(f"<li>{escape(message)}</li>" for message in messages)
    return f'<ul class="warnings" aria-label="Warnings">{items}</ul>' if messages else ""


def choice(name: str, label: str, options: Sequence[str], first: str = "") -> str:
    """A labelled list of choices, by their numbers; nothing where there is no choice."""
    if len(options) < 2:
        return ""
    listed = "".join(
        f'<option value="{place}">{escape(text)}</option>' for place, text in enumerate(options)
    )
    return f'<label class="field">{label} <select id="{name}">{first}{listed}</select></label>'


def legend_key(kind: str, text: str) -> str:
    """A legend entry: the swatch of a chart colour, and its meaning."""
    return f'<span><span class="key {kind}"></span>{text}</span>'


def alarm_section(
    rows: Sequence[AlarmRow], unlisted: int, channels: Sequence[str], *, entities: bool
) -> str:
    """The table of alarms, with what its numbers mean."""
    if not rows:
        return "<p>No alarms.</p>"
    more = (
        f'<p class="about">The {len(rows)} worst; {unlisted:,} more are only marked above.</p>'
        if unlisted
        else ""
    )
    heads = "".join(
        f'<th scope="col" role="columnheader" aria-sort="{order}">'
        f'<button type="button" data-key="{key}">{text}</button></th>'
        for key, text, order in (
            ("order", "When", "ascending"),
            ("rows", "Lasted", "none"),
            ("severity", "Severity", "none"),
        )
    )
    body = "\n".join(
        _alarm(row, place, channels, entities=entities) for place, row in enumerate(rows)
    )
    return f"""{more}
<div class="scroll">
<table id="alarm-table" role="table">
<thead role="rowgroup"><tr role="row">{heads}\
<th scope="col" role="columnheader">What explains it</th></tr></thead>
<tbody role="rowgroup">
{body}
</tbody>
</table>
</div>
<p class="about">A severity of 1.0 is the level that normal rows cross as often as requested, \
2.0 is ten times as rare, 0 a typical row. A permanent change counts as normal after a while. \
A value is that of the row where the channel was furthest from what was expected. \
<span class="keys">A channel's button leads to its chart.</span></p>"""


def _alarm(row: AlarmRow, place: int, channels: Sequence[str], *, entities: bool) -> str:
    alarm = row.alarm
    entity = f'<span class="entity">{escape(str(alarm.entity))}</span> ' if entities else ""
    until = f' <span class="quiet">to {row.until}</span>' if alarm.duration > 1 else ""
    tags = ["permanent"] if alarm.permanent else []
    tags += ["in training part"] if row.fitted else []
    tagged = "".join(f' <span class="tag">{tag}</span>' for tag in tags)
    # all alarms of a batch are confirmed; it need not be said of each
    if alarm.status != CONFIRMED:
        tagged += f' <span class="tag status">{alarm.status}</span>'
    causes = "".join(
        f'<button type="button" class="cause" data-channel="{channels.index(cause.channel)}">'
        f"<b>{escape(cause.channel)}</b> {escape(cause.kind)}</button>"
        for cause in row.causes
    )
    return f"""<tr role="row" tabindex="0" data-alarm="{place}" data-order="{place}" \
data-rows="{alarm.duration}" data-severity="{alarm.severity}" data-status="{alarm.status}">
<td role="cell" class="when">{entity}<b>{row.when}</b>{until}{tagged}</td>
<td role="cell" class="lasted">{row.lasted}</td>
<td role="cell" class="number"><span class="meter" style="--share: {row.share:.1f}%"></span>\
{row.severity}</td>
<td role="cell" class="causes"><span class="sentence">{escape(alarm.sentence)}</span>{causes}</td>
</tr>"""


def panel_figures(panels: Sequence[Panel], title: str) -> str:
    """A figure for each trace and the severity, below their title."""
    figures = (
        f'<figure class="{"severity" if panel.key == "severity" else "trace"}" '
        f'data-panel="{panel.key}"><figcaption><b>{escape(panel.title)}</b> '
        f'<span class="tag raised">raised this alarm</span> '
        f'<span class="quiet">{escape(panel.about)}</span></figcaption></figure>'
        for panel in panels
    )
    heading = f'<div class="group"><h3>{title}</h3></div>\n' if len(panels) > 1 else ""
    return heading + "\n".join(figures)


def metrics_section(metrics: Metrics) -> str:
    """How good the alarms are where labels are known, a column for each score."""
    names = dict.fromkeys(name for values in metrics.values() for name in values)
    heads = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in metrics)

    def cell(value: float | None) -> str:
        known = value is not None and value == value
        return f'<td class="number">{number(value) if known and value is not None else "—"}</td>'

    rows = "\n".join(
        f'<tr><th scope="row">{escape(name.replace("_", " "))}</th>'
        + "".join(cell(values.get(name)) for values in metrics.values())
        + "</tr>"
        for name in names
    )
    return f"""<section aria-labelledby="metrics-title">
<h2 id="metrics-title">Against the labels</h2>
<div class="scroll wide"><table class="plain">
<thead><tr><th scope="col"><span class="hidden">Measure</span></th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</section>"""


def network_sections(
    history: Sequence[Any] | None, curves: Mapping[str, Sequence[float]], attention: str
) -> str:
    """Attention and training curves of a network, side by side; empty without a network."""
    parts = [attention] if attention else []
    if history is not None:
        parts.append(_training(history, curves))
    return f'<div class="pair">\n{"".join(parts)}\n</div>' if parts else ""


def attention_section(*, band: bool) -> str:
    """The attention matrix of the chosen alarm's window, which the page's script draws."""
    outline = legend_key("outline", "the band of sub-adjacent points") if band else ""
    return f"""<section aria-labelledby="attention-title">
<h2 id="attention-title">Attention</h2>
<p class="about" id="attention-about"></p>
<div class="attention"><span class="side">point that looks</span>
<div class="matrix"><canvas id="attention" role="img" aria-label="Attention matrix of the alarm's \
window"></canvas><svg id="band" aria-hidden="true"></svg></div>
<span class="below">point looked at</span></div>
<p class="legend">{legend_key("ramp", "little to much attention")} {outline} \
{legend_key("alarm-edge", "alarm")}</p>
</section>"""


def _training(history: Sequence[Any], curves: Mapping[str, Sequence[float]]) -> str:
    if not history:
        told = "The network was not trained: its weights are the initial ones."
        shown = ""
    else:
        epochs, seconds = len(history), sum(epoch.seconds for epoch in history)
        told = f"{epochs} {'epoch' if epochs == 1 else 'epochs'} in {seconds:.1f} s."
        if epochs == 1:
            told += " One has no course to draw; it came to:"
            shown = fact_list({curve(name): number(values[0]) for name, values in curves.items()})
        else:
            shown = "".join(
                f'<figure class="curve" aria-label="{curve(name)} by epoch"><figcaption>'
                f'<b>{curve(name)}</b> <span class="quiet">{number(values[-1])} at the end</span>'
                f"</figcaption></figure>"
                for name, values in curves.items()
            )
            shown = f'<div id="curves">{shown}</div>'
    return f"""<section aria-labelledby="training-title">
<h2 id="training-title">Training</h2>
<p class="about">{told}</p>
{shown}
</section>"""


def fact_list(facts: Mapping[str, str], kind: str = "") -> str:
    """Names and values, below each other."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="{kind}">{items}</dl>' if kind else f"<dl>{items}</dl>"


def line_elements(series: int, lines: Iterable[str]) -> str:
    """Packed lines, each in an element of its own: they are read when they are drawn."""
    return "\n".join(
        f'<script type="text/plain" id="line-{series}-{place}">{line}</script>'
        for place, line in enumerate(lines)
    )
