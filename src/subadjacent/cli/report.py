"""`subadjacent report`: the page for a model and some rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import print_json, write_text
from subadjacent.cli.progress import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from subadjacent.detectors.subadjacent import SubAdjacentDetector


def report(
    files: option.Files,
    model: option.Model,
    output: Annotated[Path, typer.Option("-o", "--output", help="HTML file to write.")] = Path(
        "report.html"
    ),
    time: option.Time = None,
    entity: option.Entity = None,
    label: option.Label = None,
    png: Annotated[
        Path | None, typer.Option(help="Folder for the same figures as PNG files.")
    ] = None,
    device: option.Device = "auto",
    quiet: option.Quiet = False,
) -> None:
    """Write one page that shows what a model finds in some files, and why."""
    from subadjacent.data.files import Columns, open_files
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

    detector = SubAdjacentDetector.load(model, device=device)
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    part = rows.whole()
    frame = part.frame
    scores = detector.decision_function(frame).to_numpy()
    title = ", ".join(Path(file).name for file in files)
    page = build_page(detector, frame, scores, title=title, labels=part.labels, notes=rows.notes)
    write_text(page, output)
    written = [str(output)]
    if png is not None:
        from subadjacent.report.figures import save_figures

        written += [str(path) for path in save_figures(detector, frame, png)]
    say(f"wrote {output}", quiet=quiet)
    print_json({"written": written})


def build_page(
    detector: SubAdjacentDetector,
    frame: pl.DataFrame,
    scores: Any,
    *,
    title: str,
    labels: Any,
    notes: Sequence[str],
) -> str:
    """The page, with metrics beside those of a random score where there are labels."""
    import numpy as np

    from subadjacent.evaluation.summary import with_controls
    from subadjacent.report.page import page

    metrics = None
    if labels is not None:
        rng = np.random.default_rng(0)
        metrics = with_controls(scores, labels, detector.threshold_, rng)
    return page(detector, frame, title=title, labels=labels, metrics=metrics, notes=notes)
