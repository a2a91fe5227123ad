"""Alarms as a table on a terminal: when, how long, how severe, what happened."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from subadjacent.cli.output import print_text, tell
from subadjacent.showing import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from subadjacent.detectors.alarms import Alarms
    from subadjacent.report.alarm_lines import AlarmLine

MAX_WARNINGS = 3
"""Warnings that a terminal shows; the others stand in the report."""
MIN_SENTENCE = 40
"""Columns for a sentence, at least; on narrower terminals it goes below the other cells."""
MAX_SENTENCE_LINES = 3
"""Lines of a sentence; names of channels may be of any length."""
BAR = 8
"""Columns of the bar for the highest severity."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
COLORS = ((4.0, "red"), (2.0, "yellow"), (0.0, "green"))
"""The colour of a bar from each severity on."""


def is_terminal() -> bool:
    """Whether results go to a terminal, where a person reads them."""
    return sys.stdout.isatty()


def print_alarm_table(alarms: Alarms) -> None:
    """Print the alarms for people, repeats folded under the first of their kind."""
    from rich.console import Console

    from subadjacent.report.alarm_lines import alarm_lines, left_out
    from subadjacent.report.headline import count, headline

    lines, left = alarm_lines(alarms)
    print_text(count(alarms.assessment, alarms) if lines else headline(alarms.assessment, alarms))
    if lines:
        console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
        console.print()
        console.print(_table(lines, console))
        console.print()
    if left:
        print_text(left_out(left))


def _table(lines: Sequence[AlarmLine], console: Console) -> Table:
    """One row a kind; the sentence beside the other cells where there is room for it."""
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    severity = max(cell_len(line.severity) for line in lines)
    others = [
        max(cell_len(visible(line.when)) for line in lines),
        max(cell_len(line.lasted) for line in lines),
        BAR + 1 + severity,
    ]
    room = console.width - sum(others) - 2 * len(others)
    wide = room >= MIN_SENTENCE
    table = Table(box=None, show_header=wide, pad_edge=False, padding=(0, 2, 0, 0))
    if wide:
        for name in ("when", "lasted", "severity", "what happened"):
            table.add_column(name, overflow="fold", no_wrap=name != "what happened")
    else:
        room = console.width - 2
    for line in lines:
        share = Text.assemble(
            _bar(line, ascii_only=console.options.ascii_only), f" {line.severity:>{severity}}"
        )
        sentence = Text(_cut(visible(line.sentence), MAX_SENTENCE_LINES * room))
        if line.repeats:
            repeats = _cut(visible(line.repeats), MAX_SENTENCE_LINES * room)
            sentence.append(f"\n{repeats}", style="dim")
        when = Text(visible(line.when), style="bold")
        if wide:
            table.add_row(when, line.lasted, share, sentence)
        else:
            table.add_row(Text("  ").join([when, Text(line.lasted), share]))
            table.add_row(Padding(sentence, (0, 0, 0, 2)))
    return table


def _bar(line: AlarmLine, *, ascii_only: bool) -> tuple[str, str]:
    """A bar as long as the severity in comparison with the worst, and its colour."""
    eighths = max(round(line.share / 100 * BAR * 8), 1)
    full, rest = divmod(eighths, 8)
    bar = "#" * max(full, 1) if ascii_only else "█" * full + EIGHTHS[rest].strip()
    color = next(color for least, color in COLORS if line.level >= least)
    return f"{bar:{BAR}}", color


def _cut(text: str, length: int) -> str:
    """A text without its middle where it is too long: its end has the numbers."""
    if len(text) <= length:
        return text
    start = length // 3
    return f"{text[:start]} … {text[len(text) - length + start + 3 :]}"


def print_warnings(messages: Sequence[str], more_in: str) -> None:
    """The first warnings, each on a line, and how many more there are and where."""
    for message in messages[:MAX_WARNINGS]:
        tell(f"warning: {message}")
    if (more := len(messages) - MAX_WARNINGS) > 0:
        tell(f"{more:,} more {'warning' if more == 1 else 'warnings'} in {more_in}")
