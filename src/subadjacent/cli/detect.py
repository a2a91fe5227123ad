"""`subadjacent detect`: from files to explained alarms in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.alarm_table import print_alarm_table, print_warnings
from subadjacent.cli.alarms import default_format, print_alarms
from subadjacent.cli.held_warnings import held_warnings
from subadjacent.cli.output import STANDARD_STREAM, ListFormat, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Rows
    from subadjacent.workflow.detect import Findings

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
    format: option.FormatOption = None,  # noqa: A002 — the option's name
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
    form = format or default_format()
    with held_warnings(hold=form is ListFormat.table) as remarks:
        rows = source.open(quiet=quiet)
        folder = output or Path(f"{_name(source.files, rows)}-anomalies")
        with errors_about(source.files), Bar("fitting", quiet=quiet) as bar:
            findings = workflow.detect(
                built,
                rows,
                folder,
                title=source.title,
                training=training.rows,
                remarks=remarks,
                watch=bar.watch,
            )
    print_findings(findings, folder, form, quiet=quiet)


def print_findings(findings: Findings, folder: Path, form: ListFormat, *, quiet: bool) -> None:
    """Print the alarms, and where they are explained."""
    if form is ListFormat.table:
        print_alarm_table(findings.alarms)
        print_warnings(findings.warnings, "the report")
    else:
        print_alarms(findings.alarms, findings.misfits, form)
        tell(findings.headline, quiet=quiet)
    tell(f"wrote {folder}/report.html, scores.csv, alarms.csv", quiet=quiet)


def _name(files: Sequence[str], rows: Rows) -> str:
    """The name of the results: that of the first file, or first match."""
    if files[0] == STANDARD_STREAM:
        return "input"
    first = Path(rows.names[0])
    return Path(first.stem).stem if first.suffix in PACKED_SUFFIXES else first.stem
