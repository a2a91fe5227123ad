"""`subadjacent detect`: from a file to explained alarms in one go."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import (
    STANDARD_OUTPUT,
    alarm_record,
    alarm_rows,
    filled_folder,
    print_json,
    save_model,
    write_frame,
    write_text,
)
from subadjacent.cli.progress import Bar, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Columns, Part
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.scoring.alarms import Alarm


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
    entity: option.Entity = None,
    label: option.Label = None,
    train_fraction: option.TrainFraction = 0.5,
    train_until: option.TrainUntil = None,
    false_alarms: option.FalseAlarms = None,
    budget: option.Budget = None,
    config: option.Config = None,
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
    from subadjacent.cli.rows import errors_about, first_part
    from subadjacent.data.files import Columns, open_files

    detector = option.build_detector(
        config=config, budget=budget, false_alarms=false_alarms, device=device, seed=seed
    )
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    part = rows.whole()
    fitted = first_part(part.frame, fraction=train_fraction, until=train_until)
    folder = output or Path(f"{_name(files)}-anomalies")
    with filled_folder(folder):
        with errors_about(files), Bar("fitting", quiet=quiet) as bar:
            detector.fit(part.frame.filter(fitted), watch=bar.training)
        save_model(detector, folder / "model")
        with errors_about(files):
            alarms = write_findings(
                detector,
                part,
                folder,
                title=", ".join(Path(file).name for file in files),
                columns=rows.named,
                fitted=fitted.to_numpy(),
                notes=rows.notes,
                png=png,
                quiet=quiet,
            )
    say(summary(alarms, len(part), folder), quiet=quiet)
    if format is Format.csv:
        write_frame(alarm_rows(alarms), STANDARD_OUTPUT)
    else:
        for alarm in alarms:
            print_json(alarm_record(alarm))


def write_findings(
    detector: BaseDetector,
    part: Part,
    folder: Path,
    *,
    title: str,
    columns: Columns,
    fitted: Any = None,
    notes: Sequence[str] = (),
    png: bool = False,
    quiet: bool = False,
) -> list[Alarm]:
    """Write scores, alarms and the report of some rows to a folder."""
    from subadjacent.cli.report import build_page, draw_figures
    from subadjacent.cli.rows import scores_table
    from subadjacent.report.findings import find

    with Bar("scoring", quiet=quiet) as bar:
        found = find(detector, part.frame, watch=bar.counting)
    table = scores_table(part.frame, found.scores.to_numpy(), detector, columns, part.labels)
    page = build_page(detector, part, found, title=title, notes=notes, fitted=fitted, quiet=quiet)
    write_frame(table, str(folder / "scores.csv"))
    write_frame(alarm_rows(found.alarms), str(folder / "alarms.csv"))
    write_text(page, folder / "report.html")
    if png:
        draw_figures(detector, part, found, folder, fitted=fitted, quiet=quiet)
    return found.alarms


def _name(files: Sequence[str]) -> str:
    return "input" if files[0] == STANDARD_OUTPUT else Path(files[0]).stem


def summary(alarms: Sequence[Alarm], rows: int, folder: Path) -> str:
    """What was found, in a few lines for people."""
    counted = f"{len(alarms)} {'alarm' if len(alarms) == 1 else 'alarms'}"
    lines = [f"{counted} in {rows:,} rows"]
    worst = sorted(alarms, key=lambda alarm: -alarm.severity)[:5]
    for alarm in worst:
        cause = alarm.causes[0]
        where = f"{alarm.entity}, " if alarm.entity else ""
        # a bare number would not say that it counts rows
        start = f"row {alarm.first:,}" if alarm.start == alarm.first else alarm.start
        lasted = f"{alarm.duration} {'row' if alarm.duration == 1 else 'rows'}"
        # a name may run over several lines of its file, but not of ours
        channel = " ".join(cause.channel.split())
        lines.append(
            f"  {where}{start}, {lasted}, severity {alarm.severity:.1f}: "
            f"{channel} was {cause.seen:.4g}, expected {cause.expected:.4g}"
        )
    lines.append(f"wrote {folder}/report.html, scores.csv, alarms.csv")
    return "\n".join(lines)
