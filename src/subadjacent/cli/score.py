"""`subadjacent score`: one score per row, from a fitted model, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_STREAM, put_table, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about
from subadjacent.workflow.writing import TABLE_SUFFIXES

if TYPE_CHECKING:
    from subadjacent.detectors.base import BaseDetector


@groups.grouped
def score(
    model: option.ModelFolder,
    source: groups.Input,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            help="CSV or Parquet file; - for standard output. A new folder with --engine ray.",
        ),
    ] = STANDARD_STREAM,
    device: option.ScoringDevice = None,
    engine: option.EngineOption = option.Engine.local,
    quiet: option.Quiet = False,
) -> None:
    """Score files with a model: time, score, normalised score (1 = threshold), anomalous."""
    from subadjacent.detectors.registry import load

    _check_output(engine, source.files, output)
    detector = load(model, device=device or "auto")
    if engine is option.Engine.ray:
        rows, anomalous = _by_cluster(detector, model, device, source, output, quiet=quiet)
    else:
        rows, anomalous = _here(detector, source, output, quiet=quiet)
    counted = f"{rows:,} {'row' if rows == 1 else 'rows'}"
    tell(f"{counted}, {anomalous:,} anomalous", quiet=quiet)


def _check_output(engine: option.Engine, files: Sequence[str], output: str) -> None:
    """Refuse an output that does not suit the engine."""
    if engine is option.Engine.local:
        option.check_table(output)
    elif output == STANDARD_STREAM or output.endswith(TABLE_SUFFIXES):
        raise typer.BadParameter(
            f"must be a folder with --engine ray; got {output!r}", param_hint=option.OUTPUT
        )
    elif STANDARD_STREAM in files:
        raise typer.BadParameter(
            "a cluster reads files, not standard input: name them", param_hint="'--engine'"
        )


def _here(
    detector: BaseDetector, source: groups.Input, output: str, *, quiet: bool
) -> tuple[int, int]:
    """Score on this machine; return the numbers of rows and of anomalous ones."""
    from subadjacent.detectors.piecewise import can_score_in_parts
    from subadjacent.workflow import score as workflow
    from subadjacent.workflow.writing import check_writable

    if output != STANDARD_STREAM:
        check_writable(Path(output))
    rows = source.open(detector.channels_, quiet=quiet)
    if not can_score_in_parts(detector):
        tell("this model scores all rows at once: all are held in memory", quiet=quiet)
    with errors_about(source.files), Bar("scoring", quiet=quiet) as bar:
        table = workflow.score(detector, rows, bar.watch)
    put_table(table, output)
    return len(table), int(table["anomalous"].sum())


def _by_cluster(
    detector: BaseDetector,
    model: Path,
    device: str | None,
    source: groups.Input,
    output: str,
    *,
    quiet: bool,
) -> tuple[int, int]:
    """Score on a cluster; return the numbers of rows and of anomalous ones."""
    from subadjacent.workflow.lake import check_place, score_lake

    folder = Path(output)
    check_place(folder)
    rows = source.open(detector.channels_, quiet=quiet)
    with (
        errors_about(source.files),
        groups.spread_over(option.Engine.ray) as spread,
        Bar("reading", quiet=quiet) as bar,
    ):
        parts = score_lake(
            model, rows, folder, device=device or "auto", spread=spread, watch=bar.watch
        )
    return sum(part.rows for part in parts), sum(part.anomalous for part in parts)
