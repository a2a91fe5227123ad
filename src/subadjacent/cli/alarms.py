"""`subadjacent alarms`: the alarms that a fitted model raises in some files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, print_json, put_table
from subadjacent.cli.progress import Bar, say
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
    format: option.FormatOption = option.Format.json,  # noqa: A002 — the option's name
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Print the alarms that a model raises in files: when, how severe, what happened."""
    from subadjacent.detectors.registry import load
    from subadjacent.workflow.report import warn_of_misfits

    detector = load(model, device=device or "auto")
    rows = source.open(detector.channels_, quiet=quiet)
    with errors_about(source.files), Bar("scoring", quiet=quiet) as bar:
        assessment = detector.assess(rows.whole(labels="take").frame, watch=bar.watch)
    warn_of_misfits(assessment.misfits)
    found = assessment.alarms()
    print_alarms(found, assessment.misfits, format, output)
    say(f"{len(found):,} {'alarm' if len(found) == 1 else 'alarms'}", quiet=quiet)


def print_alarms(
    alarms: Sequence[Alarm],
    misfits: Sequence[str | None],
    format: option.Format,  # noqa: A002 — the option's name
    output: str | None = None,
) -> None:
    """Write alarms to a table, or print them: a JSON object a line, or CSV."""
    from subadjacent.workflow.tables import alarm_record, alarm_table

    if output is not None or format is option.Format.csv:
        put_table(alarm_table(alarms), STANDARD_OUTPUT if output is None else output)
    else:
        for alarm in alarms:
            print_json(alarm_record(alarm, misfits))
