"""`subadjacent demo`: the whole way on built-in data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.alarm_table import is_terminal
from subadjacent.cli.generate import FEWEST_ROWS
from subadjacent.cli.output import ListFormat, print_json, tell
from subadjacent.cli.progress import Bar


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")] = Path("demo"),
    rows: Annotated[int, typer.Option(min=FEWEST_ROWS, help="Rows to make up.")] = 8_000,
    quiet: option.Quiet = False,
) -> None:
    """Make up a plant, fit on its clean half, score the rest, and write the report."""
    from subadjacent.cli.detect import print_findings
    from subadjacent.cli.generate import plant_frame
    from subadjacent.data.files import TIME, Columns, FileRows
    from subadjacent.detectors.default import SubAdjacentDetector
    from subadjacent.workflow.detect import write_findings
    from subadjacent.workflow.writing import check_output_place

    started = time.monotonic()
    check_output_place(output)
    frame = plant_frame(rows, channels=6, seed=0).rename({"time": TIME})
    labels = frame["label"].to_numpy()
    frame = frame.drop("label")
    half = len(frame) // 2
    detector = SubAdjacentDetector()
    tell(f"fitting on {half:,} clean rows of 6 sensors …", quiet=quiet)
    with Bar("fitting", quiet=quiet) as bar:
        detector.fit(frame[:half], watch=bar.watch)
        findings = write_findings(
            detector,
            FileRows(frame[half:], labels[half:]),
            output,
            title="A made-up plant",
            columns=Columns(time="time", label="label"),
            notes=["made up: six sensors that follow one load, with known anomalies"],
            watch=bar.watch,
        )
    if is_terminal():
        print_findings(findings, output, ListFormat.table, quiet=quiet)
        return
    tell(findings.headline, quiet=quiet)
    print_json(
        {
            "alarms": len(findings.alarms),
            "rows": half,
            "report": str(output / "report.html"),
            "scores": str(output / "scores.csv"),
            "seconds": round(time.monotonic() - started, 1),
        }
    )
