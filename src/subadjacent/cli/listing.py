"""`subadjacent list`: every detector by the name that is typed for it."""

from __future__ import annotations

from typing import Annotated

import typer

from subadjacent.cli.output import ListFormat, print_list


def list_detectors(
    format: Annotated[  # noqa: A002 — the option's name
        ListFormat, typer.Option(help="A table for people, a JSON object a line, or CSV.")
    ] = ListFormat.table,
) -> None:
    """List the detectors: name, the extra that it needs, and what it does."""
    from subadjacent.detectors.registry import REGISTRY

    rows = [
        {
            "name": name,
            "needs": entry.needs,
            "does": entry.summary,
            "class": entry.class_name,
        }
        for name, entry in REGISTRY.items()
    ]
    print_list(rows, ("name", "needs", "does"), format)
