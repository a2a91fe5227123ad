"""`subadjacent fit`: learn what is normal, and keep it in a model folder."""

from __future__ import annotations

import logging
import time as clock
from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.detector import build_detector
from subadjacent.cli.output import print_json
from subadjacent.cli.progress import Bar, say
from subadjacent.cli.wording import errors_about


def fit(
    files: option.Files,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model folder to write.")],
    time: option.Time = None,
    time_format: option.TimeFormat = None,
    entity: option.Entity = None,
    label: option.Label = None,
    ignore: option.Ignore = None,
    columns: option.Take = None,
    missing: option.Missing = None,
    train_fraction: option.TrainFraction = 1.0,
    train_until: option.TrainUntil = None,
    false_alarms: option.FalseAlarms = None,
    detector: option.DetectorName = "default",
    config: option.Config = None,
    network: option.NetworkOption = None,
    budget: option.Budget = None,
    device: option.Device = None,
    seed: option.Seed = None,
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
        built = build_detector(
            detector,
            config=config,
            false_alarms=false_alarms,
            network=network,
            budget=budget,
            device=device,
            seed=seed,
        )
        group.led(lambda: check_model_place(output))
        rows = option.open_rows(
            files,
            time=time,
            time_format=time_format,
            entity=entity,
            label=label,
            ignore=ignore,
            take=columns,
            missing=missing,
            quiet=quiet,
        )
        started = clock.monotonic()
        with errors_about(files), Bar("fitting", quiet=quiet) as bar:
            training = workflow.TrainingRows(train_fraction, train_until)
            fitted = workflow.fit(built, rows, training, bar.watch)
        group.led(lambda: save_model(built, output))
        if not group.leads:
            return
        say(f"wrote {output}", quiet=quiet)
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
