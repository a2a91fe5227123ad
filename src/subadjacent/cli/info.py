"""`subadjacent info`: what a model folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli.output import print_json


def info(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
) -> None:
    """Show what a model folder holds, after checking that it is whole."""
    from subadjacent.detectors.persist import load_folder

    saved = load_folder(model)
    learned = saved.facts["learned"]
    told = {
        "kind": saved.kind,
        "versions": saved.facts["versions"],
        "channels": saved.facts["channels"],
        "entities": saved.facts["entities"],
        "threshold": saved.facts["threshold"],
        "typical_score": saved.facts["typical_score"],
    }
    # not every detector looks at windows or has a network
    if isinstance(window := learned.get("window", saved.parameters.get("window")), int):
        told["window"] = window
    if "network" in learned:
        told |= {"epochs": len(learned["history"]), "network": learned["network"]}
    numbers = sum(tensor.numel() for tensor in saved.tensors.values())
    print_json(told | {"weights": numbers, "parameters": saved.parameters})
