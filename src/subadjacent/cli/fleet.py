"""`subadjacent fleet`: one model per entity, for many entities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import print_json, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about


@groups.grouped
def fleet(
    source: groups.Input,
    training: groups.Training,
    choice: groups.Choice,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")],
    engine: option.EngineOption = option.Engine.local,
    quiet: option.Quiet = False,
) -> None:
    """Fit a model to each of many entities by itself, score its rows, and explain what stands out.

    Writes scores, alarms, and a table of what came of each entity; prints how many there are.
    A run that was ended goes on where it was. The exit code is 1 if an entity failed.
    """
    from subadjacent.workflow import fleet as workflow

    built = choice.build()
    with (
        errors_about(source.files),
        groups.spread_over(engine) as spread,
        Bar("reading", quiet=quiet) as bar,
    ):
        counts, _ = workflow.fleet(
            built,
            source.files,
            output,
            columns=source.roles(),
            training=training.rows,
            spread=spread,
            watch=bar.watch,
        )
    print_json(counts._asdict())
    if counts.failed:
        failed = f"{counts.failed:,} of {counts.entities:,} entities failed"
        tell(f"{failed}: {output}/failures.csv says why")
        raise typer.Exit(1)
    tell(f"wrote {output}/scores, alarms.csv, entities.csv", quiet=quiet)
