"""`subadjacent fit`: learn what is normal, and keep it in a model folder."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import check_model_place, print_json, save_model
from subadjacent.cli.progress import Bar, say


def fit(
    files: option.Files,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model folder to write.")],
    time: option.Time = None,
    entity: option.Entity = None,
    label: option.Label = None,
    train_fraction: option.TrainFraction = 1.0,
    train_until: option.TrainUntil = None,
    false_alarms: option.FalseAlarms = None,
    budget: option.Budget = None,
    config: option.Config = None,
    device: option.Device = None,
    seed: option.Seed = None,
    quiet: option.Quiet = False,
) -> None:
    """Learn what is normal from files, and write a model folder."""
    from subadjacent.cli.rows import errors_about, first_part
    from subadjacent.data.files import Columns, open_files
    from subadjacent.detectors.neural import has_network

    detector = option.build_detector(
        config=config, budget=budget, false_alarms=false_alarms, device=device, seed=seed
    )
    check_model_place(output)
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    frame = rows.whole().frame
    frame = frame.filter(first_part(frame, fraction=train_fraction, until=train_until))
    started = clock.monotonic()
    with errors_about(files), Bar("fitting", quiet=quiet) as bar:
        detector.fit(frame, watch=bar.training)
    save_model(detector, output)
    say(f"wrote {output}", quiet=quiet)
    told: dict[str, object] = {
        "model": str(output),
        "rows": len(frame),
        "channels": list(detector.channels_),
        "entities": list(detector.entities_),
    }
    # the fast recipe does without a network
    if has_network(detector):
        told |= {"window": detector.window_, "epochs": len(detector.history_)}
    seconds = round(clock.monotonic() - started, 1)
    print_json(told | {"threshold": detector.threshold_, "seconds": seconds})
