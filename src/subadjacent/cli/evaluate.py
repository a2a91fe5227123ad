"""`subadjacent evaluate`: scores against labels, beside what a random score would get."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import print_json
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about


def _check_threshold(score: float | None) -> float | None:
    if score is not None and math.isnan(score):
        raise typer.BadParameter("must be a number; got nan")
    return score


@groups.grouped
def evaluate(
    source: groups.ScoredFiles,
    score: Annotated[str, typer.Option(help="Column of scores.")] = "score",
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_check_threshold,
            help="Score above which a row alarms; by default the column 'anomalous' decides.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=option.LARGEST_SEED, help="Of the random score.")
    ] = 0,
    quiet: option.Quiet = False,
) -> None:
    """Compare scores and alarms with labels, without point adjustment, beside a random score."""
    import numpy as np

    from subadjacent.workflow import evaluate as workflow

    rows = source.open(quiet=quiet)
    with errors_about(source.files):
        file_rows = rows.whole()
    with Bar("comparing", quiet=quiet) as bar:
        bar.wait()
        metrics = workflow.evaluate(
            file_rows,
            np.random.default_rng(seed),
            score=score,
            threshold=threshold,
            name=", ".join(source.files),
        )
    print_json(metrics)
