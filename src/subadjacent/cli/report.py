"""`subadjacent report`: the page for a model and some rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, check_writable, print_json, write_text
from subadjacent.cli.progress import Bar, say
from subadjacent.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subadjacent.data.files import Part
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.report.findings import Findings


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
    entity: option.Entity = None,
    label: option.Label = None,
    png: Annotated[
        Path | None, typer.Option(help="Folder for the same figures as PNG files.")
    ] = None,
    device: option.Device = None,
    quiet: option.Quiet = False,
) -> None:
    """Write one page that shows what a model finds in some files, and why."""
    from subadjacent.cli.rows import errors_about
    from subadjacent.data.files import Columns, open_files
    from subadjacent.detectors.registry import load
    from subadjacent.report.findings import find

    detector = load(model, device=device or "auto")
    check_writable(output)
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    part = rows.whole()
    title = ", ".join(Path(file).name for file in files)
    with errors_about(files), Bar("scoring", quiet=quiet) as bar:
        found = find(detector, part.frame, watch=bar.counting)
    page = build_page(detector, part, found, title=title, notes=rows.notes, quiet=quiet)
    write_text(page, output)
    written = [str(output)]
    if png is not None:
        written += map(str, draw_figures(detector, part, found, png, quiet=quiet))
    say(f"wrote {output}", quiet=quiet)
    print_json({"written": written})


def build_page(
    detector: BaseDetector,
    part: Part,
    found: Findings,
    *,
    title: str,
    notes: Sequence[str],
    fitted: Any = None,
    quiet: bool = False,
) -> str:
    """The page, with metrics beside those of a random score where there are labels.

    Rows that were fitted on are left out of the metrics.
    """
    import numpy as np

    from subadjacent.evaluation.summary import with_controls
    from subadjacent.report.page import page

    facts = {"Read as": "; ".join(notes)} if notes else {}
    judged = np.ones(len(part), dtype=bool) if fitted is None else ~fitted
    if fitted is not None:
        facts["Fitted on"] = f"{int(fitted.sum()):,} of {len(fitted):,} rows, the first ones"
    metrics = None
    if part.labels is not None and judged.any():
        rng = np.random.default_rng(0)
        with Bar("comparing with labels", quiet=quiet) as bar:
            bar.wait()
            metrics = with_controls(
                found.scores.to_numpy()[judged], part.labels[judged], detector.threshold_, rng
            )
        if fitted is not None:
            facts["Metrics of"] = f"the {int(judged.sum()):,} rows after those"
    with Bar("drawing", quiet=quiet) as bar:
        return page(
            detector,
            part.frame,
            title=title,
            labels=part.labels,
            fitted=fitted,
            metrics=metrics,
            facts=facts,
            found=found,
            watch=bar.counting,
        )


def draw_figures(
    detector: BaseDetector,
    part: Part,
    found: Findings,
    folder: Path,
    *,
    fitted: Any = None,
    quiet: bool = False,
) -> list[Path]:
    """The figures as PNG files; a disk that is full is said in one sentence."""
    from subadjacent.report.figures import save_figures

    with Bar("drawing figures", quiet=quiet) as bar:
        try:
            return save_figures(
                detector, part.frame, folder, fitted=fitted, found=found, watch=bar.counting
            )
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
