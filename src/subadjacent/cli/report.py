"""`subadjacent report`: the page for a model and some rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, print_json
from subadjacent.cli.progress import Bar, say
from subadjacent.cli.wording import errors_about


def _check_page(path: Path) -> Path:
    if str(path) == STANDARD_OUTPUT:
        raise typer.BadParameter("must be a file; standard output gets the list of files written")
    return path


def report(
    files: option.Files,
    model: option.Model,
    output: Annotated[
        Path, typer.Option("-o", "--output", callback=_check_page, help="HTML file to write.")
    ] = Path("report.html"),
    time: option.Time = None,
    time_format: option.TimeFormat = None,
    entity: option.Entity = None,
    label: option.Label = None,
    ignore: option.Ignore = None,
    columns: option.Take = None,
    missing: option.Missing = None,
    png: Annotated[
        Path | None, typer.Option(help="Folder for the same figures as PNG files.")
    ] = None,
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Write one page that shows what a model finds in some files, and why."""
    from subadjacent.detectors.registry import load
    from subadjacent.workflow import report as workflow
    from subadjacent.workflow.writing import check_writable

    detector = load(model, device=device or "auto")
    check_writable(output)
    rows = option.open_rows(
        files,
        time=time,
        time_format=time_format,
        entity=entity,
        label=label,
        ignore=ignore,
        take=columns,
        missing=missing,
        known=detector.channels_,
        quiet=quiet,
    )
    with errors_about(files), Bar("scoring", quiet=quiet) as bar:
        written = workflow.report(
            detector, rows, output, title=option.title_of(files), figures=png, watch=bar.watch
        )
    say(f"wrote {output}", quiet=quiet)
    print_json({"written": [str(path) for path in written]})
