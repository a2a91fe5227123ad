"""`subadjacent alarms`: the alarms that a fitted model raises in some files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.alarm_table import is_terminal, print_alarm_table, print_warnings
from subadjacent.cli.held_warnings import held_warnings
from subadjacent.cli.output import STANDARD_STREAM, ListFormat, print_json, put_table, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.decision.alarms import Alarm


@groups.grouped
def alarms(
    model: option.ModelFolder,
    source: groups.Input,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            callback=option.check_table,
            help="CSV or Parquet file to write instead of printing.",
        ),
    ] = None,
    format: option.FormatOption = None,  # noqa: A002 — the option's name
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Print the alarms that a model raises in files: when, how severe, what happened."""
    from subadjacent.detectors.registry import load
    from subadjacent.report.headline import count
    from subadjacent.report.text import warnings
    from subadjacent.workflow.report import warn_of_misfits

    form = format or default_format()
    table = form is ListFormat.table and output is None
    with held_warnings(hold=table) as remarks:
        detector = load(model, device=device or "auto")
        rows = source.open(detector.channels_, quiet=quiet)
        with errors_about(source.files), Bar("scoring", quiet=quiet) as bar:
            assessment = detector.assess(rows.whole(labels="take").frame, watch=bar.watch)
        warn_of_misfits(assessment.misfits)
        found = assessment.alarms()
    if table:
        print_alarm_table(found)
        print_warnings(warnings(detector, assessment, remarks), "what 'subadjacent report' writes")
    else:
        print_alarms(found, assessment.misfits, form, output)
        tell(count(assessment, found), quiet=quiet)


def default_format() -> ListFormat:
    """A table for a person at a terminal; else JSON, for programs."""
    return ListFormat.table if is_terminal() else ListFormat.json


def print_alarms(
    alarms: Sequence[Alarm],
    misfits: Sequence[str | None],
    form: ListFormat,
    output: str | None = None,
) -> None:
    """Write alarms to a table, or print them for programs: a JSON object a line, or CSV."""
    from subadjacent.workflow.tables import alarm_record, alarm_table

    if output is not None or form is ListFormat.csv:
        put_table(alarm_table(alarms), STANDARD_STREAM if output is None else output)
    else:
        for alarm in alarms:
            print_json(alarm_record(alarm, misfits))
