"""Alarms as lines for people: repeats are folded under the first of their kind."""

from __future__ import annotations

from html import escape
from shutil import get_terminal_size
from textwrap import wrap
from typing import NamedTuple

from subadjacent.decision.alarms import WITHDRAWN
from subadjacent.detectors.alarms import Alarms
from subadjacent.report.headline import count, headline
from subadjacent.report.marks import AlarmRow, alarm_rows
from subadjacent.report.timeline import timelines
from subadjacent.showing import on_one_line

MAX_LINES = 30
"""Kinds of alarms that are shown at once, the worst ones."""
MIN_SENTENCE, WIDTH = 40, 120
"""Smallest width of a sentence in a text table, and width of a line without a terminal."""
HEADS = ("when", "lasted", "severity", "what happened")

STYLE = "text-align: left; vertical-align: top"
METER = (
    "display: inline-block; width: 4em; height: 0.7em; margin-right: 0.5em; "
    "background: linear-gradient(90deg, #d55e00 {share:.0f}%, #8884 {share:.0f}%)"
)


class AlarmLine(NamedTuple):
    """The first alarm of a kind in words, and its repeats.

    ``level`` is its severity as a number, ``share`` that in per cent of the worst.
    """

    when: str
    lasted: str
    severity: str
    level: float
    share: float
    sentence: str
    repeats: str


def alarm_lines(alarms: Alarms) -> tuple[list[AlarmLine], int]:
    """The worst kinds of alarms in time order, and the number of alarms left out."""
    series = alarms.assessment.series
    rows = alarm_rows(alarms, series, timelines(series))
    kinds: dict[int, list[AlarmRow]] = {}
    for row in rows:
        kinds.setdefault(row.head, []).append(row)
    worst = sorted(kinds, key=lambda head: -max(row.alarm.severity for row in kinds[head]))
    shown = [kinds[head] for head in sorted(worst[:MAX_LINES])]
    return [_line(kind) for kind in shown], len(alarms) - sum(map(len, shown))


def _line(kind: list[AlarmRow]) -> AlarmLine:
    first = kind[0]
    entity = f"{on_one_line(first.alarm.entity)}: " if first.alarm.entity else ""
    when = first.when
    if first.alarm.duration > 1:
        # "rows 4 to 9", not "row 4 to row 9"
        when = f"{when.replace('row', 'rows')} to {first.until.removeprefix('row ')}"
    lasted = first.lasted + (", permanent" if first.alarm.permanent else "")
    lasted += ", withdrawn" if first.alarm.status == WITHDRAWN else ""
    return AlarmLine(
        f"{entity}{when}",
        lasted,
        first.severity,
        first.alarm.severity,
        first.share,
        first.alarm.sentence,
        _repeats(first, kind[1:]),
    )


def _repeats(first: AlarmRow, rows: list[AlarmRow]) -> str:
    """How often an alarm repeats and until when, and the worst repeat if it is worse."""
    if not rows:
        return ""
    counted = "once more, " if len(rows) == 1 else f"{len(rows):,} more until "
    text = f"and {counted}{rows[-1].when}"
    worst = max(rows, key=lambda row: row.alarm.severity)
    # no worse as far as a reader sees
    if worst.alarm.severity <= first.alarm.severity or worst.severity == first.severity:
        return text
    place = f"the worst at {worst.when}, " if len(rows) > 1 else ""
    return f"{text}; {place}severity {worst.severity}: {worst.alarm.sentence}"


def left_out(number: int) -> str:
    """The line below a table that does not show all alarms; empty where it does."""
    return f"{number:,} more alarms, less severe, are not shown" if number else ""


def as_text(alarms: Alarms) -> str:
    """A table of text, as wide as it needs."""
    lines, left = alarm_lines(alarms)
    if not lines:
        return headline(alarms.assessment, alarms)
    cells = [HEADS, *((line.when, line.lasted, line.severity, line.sentence) for line in lines)]
    widths = [max(len(row[place]) for row in cells) for place in range(3)]
    room = get_terminal_size((WIDTH, 0)).columns - sum(widths) - 2 * len(widths)
    room = max(room, MIN_SENTENCE)
    text = [count(alarms.assessment, alarms)]
    for (when, lasted, severity, sentence), repeats in zip(
        cells, ["", *(line.repeats for line in lines)], strict=True
    ):
        start = f"{when:{widths[0]}}  {lasted:{widths[1]}}  {severity:>{widths[2]}}  "
        for line in [*wrap(sentence, room), *wrap(repeats, room)]:
            text.append(start + line)
            start = " " * len(start)
    return "\n".join([*text, left_out(left)] if left else text)


def as_html(alarms: Alarms) -> str:
    """A headline and a table of HTML, for a notebook."""
    lines, left = alarm_lines(alarms)
    title = f"<p>{escape(headline(alarms.assessment, alarms))}</p>"
    if not lines:
        return title
    heads = "".join(f'<th style="{STYLE}">{head}</th>' for head in HEADS)
    body = "\n".join(_html_row(line) for line in lines)
    more = f"<p>{left_out(left)}</p>" if left else ""
    return (
        f"{title}\n<table><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>{more}"
    )


def _html_row(line: AlarmLine) -> str:
    meter = f'<span style="{METER.format(share=line.share)}"></span>'
    repeats = f"<br><small>{escape(line.repeats)}</small>" if line.repeats else ""
    cells = (
        escape(line.when),
        escape(line.lasted),
        meter + escape(line.severity),
        escape(line.sentence) + repeats,
    )
    return "<tr>" + "".join(f'<td style="{STYLE}">{cell}</td>' for cell in cells) + "</tr>"
