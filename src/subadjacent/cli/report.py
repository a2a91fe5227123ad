"""`subadjacent report`: the page for a model and some rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_STREAM, print_json, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about


def _check_page(path: Path) -> Path:
    if str(path) == STANDARD_STREAM:
        raise typer.BadParameter("must be a file; standard output gets the list of files written")
    return path


@groups.grouped
def report(
    model: option.ModelFolder,
    source: groups.Input,
    output: Annotated[
        Path, typer.Option("-o", "--output", callback=_check_page, help="HTML file to write.")
    ] = Path("report.html"),
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Write one page that shows what a model finds in some files, and why."""
    from subadjacent.detectors.registry import load
    from subadjacent.workflow import report as workflow
    from subadjacent.workflow.writing import check_writable

    detector = load(model, device=device or "auto")
    check_writable(output)
    rows = source.open(detector.channels_, quiet=quiet)
    with errors_about(source.files), Bar("scoring", quiet=quiet) as bar:
        workflow.report(detector, rows, output, title=source.title, watch=bar.watch)
    tell(f"wrote {output}", quiet=quiet)
    print_json({"written": [str(output)]})
