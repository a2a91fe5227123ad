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


def evaluate(
    file: Annotated[str, typer.Argument(help="CSV or Parquet file with scores and labels.")],
    label: Annotated[str, typer.Option(help="Column of labels.")],
    score: Annotated[str, typer.Option(help="Column of scores.")] = "score",
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_check_threshold,
            help="Score above which a row alarms; by default the column 'anomalous' decides.",
        ),
    ] = None,
    time: option.Time = None,
    time_format: option.TimeFormat = None,
    entity: option.Entity = None,
    ignore: option.Ignore = None,
    missing: option.Missing = None,
    seed: Annotated[
        int, typer.Option(min=0, max=option.LARGEST_SEED, help="Of the random score.")
    ] = 0,
    quiet: option.Quiet = False,
) -> None:
    """Compare scores and alarms with labels, without point adjustment, beside a random score."""
    import numpy as np

    from subadjacent.workflow import evaluate as workflow

    source = groups.Input(
        files=[file],
        time=time,
        time_format=time_format,
        entity=entity,
        label=label,
        ignore=ignore,
        missing=missing,
    )
    rows = source.open(quiet=quiet)
    with errors_about([file]):
        file_rows = rows.whole()
    rng = np.random.default_rng(seed)
    with Bar("comparing", quiet=quiet) as bar:
        bar.wait()
        metrics = workflow.evaluate(file_rows, rng, score=score, threshold=threshold, name=file)
    print_json(metrics)
