"""`subadjacent detect`: from files to explained alarms in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.alarms import print_alarms
from subadjacent.cli.output import STANDARD_OUTPUT
from subadjacent.cli.progress import Bar, say
from subadjacent.cli.wording import errors_about
from subadjacent.showing import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Rows
    from subadjacent.decision.alarms import Alarm
    from subadjacent.workflow.detect import Findings

WORST = 5
"""Alarms that the summary names."""

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
"""Endings that come after the one that says what a file holds."""


@groups.grouped
def detect(
    source: groups.Input,
    training: groups.Training,
    choice: groups.Choice,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Output folder; by default named after the file."),
    ] = None,
    format: option.FormatOption = option.Format.json,  # noqa: A002 — the option's name
    quiet: option.Quiet = False,
) -> None:
    """Fit on the first part of the data, score all of it, and explain what stands out.

    Writes scores.csv, alarms.csv, report.html and the model; prints the alarms.
    """
    from subadjacent.workflow import detect as workflow
    from subadjacent.workflow.writing import check_output_place

    built = choice.build()
    # bad settings are refused before anything is read
    if output is not None:
        check_output_place(output)
    rows = source.open(quiet=quiet)
    folder = output or Path(f"{_name(source.files, rows)}-anomalies")
    with errors_about(source.files), Bar("fitting", quiet=quiet) as bar:
        findings = workflow.detect(
            built,
            rows,
            folder,
            title=source.title,
            training=training.rows,
            watch=bar.watch,
        )
    say(summary(findings, folder), quiet=quiet)
    print_alarms(findings.alarms, findings.misfits, format)


def _name(files: Sequence[str], rows: Rows) -> str:
    """The name of the results: that of the first file, or first match."""
    if files[0] == STANDARD_OUTPUT:
        return "input"
    first = Path(rows.names[0])
    return Path(first.stem).stem if first.suffix in PACKED_SUFFIXES else first.stem


def summary(findings: Findings, folder: Path) -> str:
    """The findings, in a few lines for people."""
    alarms = findings.alarms
    counted = f"{len(alarms)} {'alarm' if len(alarms) == 1 else 'alarms'}"
    worst = sorted(alarms, key=lambda alarm: -alarm.severity)[:WORST]
    return "\n".join(
        [
            f"{counted} in {findings.rows:,} rows",
            *map(_line, worst),
            f"wrote {folder}/report.html, scores.csv, alarms.csv",
        ]
    )


def _line(alarm: Alarm) -> str:
    from subadjacent.decision.sentences import count_of

    entity = f"{on_one_line(alarm.entity)}, " if alarm.entity else ""
    # a bare number would not say that it counts rows
    start = f"row {alarm.first:,}" if alarm.start == alarm.first else alarm.start
    lasted = count_of(alarm.duration) + (", permanent" if alarm.permanent else "")
    return f"  {entity}{start}, {lasted}, severity {alarm.severity:.1f}: {alarm.sentence}"
