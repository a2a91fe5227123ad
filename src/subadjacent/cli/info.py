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
    from subadjacent.detectors.folder import load_folder

    saved = load_folder(model)
    print_json(
        {
            "kind": saved.kind,
            "versions": saved.facts["versions"],
            "channels": saved.facts["channels"],
            "entities": saved.facts["entities"],
            "threshold": saved.facts["threshold"],
            "typical_score": saved.facts["normal_scores"][0]["typical"],
            "weights": sum(array.size for array in saved.arrays.values()),
            "parameters": saved.parameters,
        }
    )
