"""`subadjacent report`: the page for a model and some rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import print_json, write_text
from subadjacent.cli.progress import Bar, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Part
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
    device: option.Device = None,
    quiet: option.Quiet = False,
) -> None:
    """Write one page that shows what a model finds in some files, and why."""
    from subadjacent.cli.rows import naming
    from subadjacent.data.files import Columns, open_files
    from subadjacent.detectors.subadjacent import SubAdjacentDetector

    detector = SubAdjacentDetector.load(model, device=device or "auto")
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    part = rows.whole()
    title = ", ".join(Path(file).name for file in files)
    with naming(files), Bar("scoring and drawing", quiet=quiet) as bar:
        bar.wait()
        scores = detector.decision_function(part.frame).to_numpy()
        page = build_page(detector, part, scores, title=title, notes=rows.notes)
    write_text(page, output)
    written = [str(output)]
    if png is not None:
        from subadjacent.report.figures import save_figures

        written += [str(path) for path in save_figures(detector, part.frame, png)]
    say(f"wrote {output}", quiet=quiet)
    print_json({"written": written})


def build_page(
    detector: SubAdjacentDetector,
    part: Part,
    scores: Any,
    *,
    title: str,
    notes: Sequence[str],
    fitted: Any = None,
) -> str:
    """The page, with metrics beside those of a random score where there are labels.

    Rows that were fitted on are left out of the metrics.
    """
    import numpy as np

    from subadjacent.evaluation.summary import with_controls
    from subadjacent.report.page import page

    facts = {"Read as": "; ".join(notes)} if notes else {}
    judged = np.ones(len(scores), dtype=bool) if fitted is None else ~fitted
    if fitted is not None:
        facts["Fitted on"] = f"{int(fitted.sum()):,} of {len(fitted):,} rows, the first ones"
    metrics = None
    if part.labels is not None and judged.any():
        rng = np.random.default_rng(0)
        metrics = with_controls(scores[judged], part.labels[judged], detector.threshold_, rng)
        if fitted is not None:
            facts["Metrics of"] = f"the {int(judged.sum()):,} rows after those"
    return page(detector, part.frame, title=title, labels=part.labels, metrics=metrics, facts=facts)
