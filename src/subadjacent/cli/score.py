"""`subadjacent score`: one score a row, from a fitted model, in bounded memory."""

from __future__ import annotations

from pathlib import Path

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, put_table
from subadjacent.cli.progress import Bar, say
from subadjacent.cli.wording import errors_about


def score(
    files: option.Files,
    model: option.Model,
    output: option.Table = STANDARD_OUTPUT,
    time: option.Time = None,
    time_format: option.TimeFormat = None,
    entity: option.Entity = None,
    label: option.Label = None,
    ignore: option.Ignore = None,
    columns: option.Take = None,
    missing: option.Missing = None,
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Score files with a model: time, score, normalised score (1 = threshold), anomalous."""
    from subadjacent.detectors.piecewise import can_score_in_parts
    from subadjacent.detectors.registry import load
    from subadjacent.workflow import score as workflow
    from subadjacent.workflow.writing import check_writable

    detector = load(model, device=device or "auto")
    if output != STANDARD_OUTPUT:
        check_writable(Path(output))
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
    if not can_score_in_parts(detector):
        say("this model scores all rows at once: all are held in memory", quiet=quiet)
    with errors_about(files), Bar("scoring", quiet=quiet) as bar:
        table = workflow.score(detector, rows, bar.watch)
    put_table(table, output)
    counted = f"{len(table):,} {'row' if len(table) == 1 else 'rows'}"
    say(f"{counted}, {int(table['anomalous'].sum()):,} anomalous", quiet=quiet)
