"""`subadjacent evaluate`: scores against labels, beside what a random score would get."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import print_json
from subadjacent.cli.progress import Bar, say
from subadjacent.errors import InputError


def _check_threshold(score: float | None) -> float | None:
    if score is not None and math.isnan(score):
        raise typer.BadParameter("must be a number; got nan")
    return score


def evaluate(
    file: Annotated[str, typer.Argument(help="CSV or Parquet file with scores and labels.")],
    label: Annotated[str, typer.Option(help="Column of labels, 0 or 1.")],
    score: Annotated[str, typer.Option(help="Column of scores.")] = "score",
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_check_threshold,
            help="Score above which a row counts as found; the column "
            "'anomalous' says it where this is left out.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=option.LARGEST_SEED, help="Of the random score.")
    ] = 0,
    quiet: option.Quiet = False,
) -> None:
    """Compare scores with labels, without point adjustment, beside a random score."""
    import numpy as np

    from subadjacent.data.files import Columns, open_files
    from subadjacent.evaluation.summary import with_controls

    rows = open_files([file], Columns(label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    part = rows.whole()
    frame = part.frame
    if score not in frame.columns:
        raise InputError(f"{file} has no column {score!r}; it has {', '.join(frame.columns)}")
    scores = frame[score].to_numpy()
    if threshold is None:
        if "anomalous" not in frame.columns:
            raise InputError("--threshold is needed where there is no column 'anomalous'")
        flagged = frame["anomalous"].to_numpy() > 0
        threshold = float(scores[~flagged].max()) if (~flagged).any() else float("-inf")
    assert part.labels is not None, "the label column was asked for by name"
    rng = np.random.default_rng(seed)
    with Bar("comparing", quiet=quiet) as bar:
        bar.wait()
        metrics = with_controls(scores, part.labels, threshold, rng)
    print_json(metrics)
