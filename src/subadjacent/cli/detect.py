"""`subadjacent detect`: from files to explained alarms in one go."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.detector import build_detector
from subadjacent.cli.output import STANDARD_OUTPUT, print_json, put_table
from subadjacent.cli.progress import Bar, say
from subadjacent.cli.wording import errors_about
from subadjacent.showing import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Rows
    from subadjacent.scoring.alarms import Alarm
    from subadjacent.workflow.detect import Findings

WORST = 5
"""Alarms that the summary names."""

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
"""Endings that come after the one that says what a file holds."""


class Format(StrEnum):
    """How results are printed."""

    json = "json"
    csv = "csv"


def detect(
    files: option.Files,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write; named after the file if left out."),
    ] = None,
    time: option.Time = None,
    time_format: option.TimeFormat = None,
    entity: option.Entity = None,
    label: option.Label = None,
    ignore: option.Ignore = None,
    columns: option.Take = None,
    missing: option.Missing = None,
    train_fraction: option.TrainFraction = 0.5,
    train_until: option.TrainUntil = None,
    false_alarms: option.FalseAlarms = None,
    detector: option.DetectorName = "default",
    config: option.Config = None,
    network: option.NetworkOption = None,
    budget: option.Budget = None,
    device: option.Device = None,
    seed: option.Seed = None,
    png: Annotated[bool, typer.Option(help="Write the figures as PNG files as well.")] = False,
    format: Annotated[  # noqa: A002 — the option's name
        Format, typer.Option(help="How to print the alarms: a JSON object a line, or CSV.")
    ] = Format.json,
    quiet: option.Quiet = False,
) -> None:
    """Fit on the first part of the data, score all of it, and explain what stands out.

    Writes scores.csv, alarms.csv, report.html and the model; prints the alarms.
    """
    from subadjacent.workflow import detect as workflow
    from subadjacent.workflow.fit import TrainingRows
    from subadjacent.workflow.tables import alarm_record, alarm_table
    from subadjacent.workflow.writing import check_output_place

    built = build_detector(
        detector,
        config=config,
        false_alarms=false_alarms,
        network=network,
        budget=budget,
        device=device,
        seed=seed,
    )
    # bad settings are refused before anything is read
    if output is not None:
        check_output_place(output)
    rows = option.open_rows(
        files,
        time=time,
        time_format=time_format,
        entity=entity,
        label=label,
        ignore=ignore,
        take=columns,
        missing=missing,
        quiet=quiet,
    )
    folder = output or Path(f"{_name(files, rows)}-anomalies")
    with errors_about(files), Bar("fitting", quiet=quiet) as bar:
        findings = workflow.detect(
            built,
            rows,
            folder,
            title=option.title_of(files),
            training=TrainingRows(train_fraction, train_until),
            png=png,
            watch=bar.watch,
        )
    say(summary(findings, folder), quiet=quiet)
    if format is Format.csv:
        put_table(alarm_table(findings.alarms), STANDARD_OUTPUT)
    else:
        for alarm in findings.alarms:
            print_json(alarm_record(alarm, findings.misfits))


def _name(files: Sequence[str], rows: Rows) -> str:
    """The name of the results: that of the first file, also of those that a pattern matches."""
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
    from subadjacent.scoring.sentences import count_of

    entity = f"{on_one_line(alarm.entity)}, " if alarm.entity else ""
    # a bare number would not say that it counts rows
    start = f"row {alarm.first:,}" if alarm.start == alarm.first else alarm.start
    lasted = count_of(alarm.duration) + (", changed for good" if alarm.for_good else "")
    return f"  {entity}{start}, {lasted}, severity {alarm.severity:.1f}: {alarm.sentence}"
