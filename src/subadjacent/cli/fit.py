"""`subadjacent fit`: learn what is normal, and keep it in a model folder."""

from __future__ import annotations

import logging
import time as clock
from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import groups
from subadjacent.cli import options as option
from subadjacent.cli.output import print_json, tell
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about
from subadjacent.errors import InputError


@groups.grouped
def fit(
    source: groups.Input,
    training: groups.TrainingOnAll,
    choice: groups.Choice,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model folder to write.")],
    quiet: option.Quiet = False,
) -> None:
    """Learn what is normal from files, and write a model folder.

    Started by torchrun, several processes train a network together.
    """
    from subadjacent.training.group import joined
    from subadjacent.workflow import fit as workflow
    from subadjacent.workflow.writing import check_model_place, save_model

    with joined() as group:
        if not group.leads:
            # what there is to say is the same in all processes, but for errors
            quiet = True
            logging.disable(logging.WARNING)
        built = choice.build()
        if not built.saveable:
            raise InputError.of(
                "detector",
                "must be one of ours to be saved in a folder",
                f"{choice.detector} is another library's, which can only be pickled",
                "detect fits it and scores with it at once",
            )
        group.led(lambda: check_model_place(output))
        rows = source.open(quiet=quiet)
        started = clock.monotonic()
        with errors_about(source.files), Bar("fitting", quiet=quiet) as bar:
            fitted = workflow.fit(built, rows, training.rows, bar.watch)
        group.led(lambda: save_model(built, output))
        if not group.leads:
            return
        tell(f"wrote {output}", quiet=quiet)
        print_json(
            {
                "model": str(output),
                "rows": fitted,
                "channels": built.channels_,
                "entities": built.entities_,
                "threshold": built.threshold_,
                "seconds": round(clock.monotonic() - started, 1),
            }
        )
