"""Every field of the dashboard is one of Grafana's own types."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.watch.servers import DASHBOARD

pytest.importorskip("grafana_foundation_sdk", reason="needs Grafana's types: pip install '.[dev]'")

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from grafana_foundation_sdk.models.prometheus import Dataquery

register_default_plugins()

OF_THE_DATA_SOURCE = ("target", "titleFormat", "textFormat")
"""Fields of an annotation that its data source reads; Grafana's own types leave them to it."""


def without(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}


def general() -> dict[str, Any]:
    """The dashboard without what a data source reads."""
    notes = [without(note, *OF_THE_DATA_SOURCE) for note in DASHBOARD["annotations"]["list"]]
    return DASHBOARD | {"annotations": {"list": notes}}


def again(kind: Any, document: Any) -> Any:
    """A document as a type of Grafana's takes and gives it."""
    return json.loads(JSONEncoder().encode(kind.from_json(document)))


def lost(given: Any, kept: Any, place: str = "") -> list[str]:
    """What of a document is not in another, or is something else there."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return [
            found
            for key, value in given.items()
            for found in (
                lost(value, kept[key], f"{place}.{key}") if key in kept else [f"{place}.{key}"]
            )
        ]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        pairs = enumerate(zip(given, kept, strict=True))
        return [found for n, (a, b) in pairs for found in lost(a, b, f"{place}[{n}]")]
    return [] if given == kept else [place]


def test_grafana_knows_every_field() -> None:
    document = general()
    assert lost(document, again(Dashboard, document)) == []
    for note in DASHBOARD["annotations"]["list"]:
        assert lost(note["target"], again(Dataquery, note["target"])) == []


def test_a_field_that_grafana_does_not_know_is_found() -> None:
    for fields, place in (
        ({"tittle": "x"}, "tittle"),
        ({"targets": [{"refId": "A", "exp": "up"}]}, "targets[0].exp"),
        ({"options": {"tooltip": {"mood": "multi"}}}, "options.tooltip.mood"),
    ):
        panels = [panel | fields if panel["id"] == 6 else panel for panel in DASHBOARD["panels"]]
        document = general() | {"panels": panels}
        assert lost(document, again(Dashboard, document)) == [f".panels[5].{place}"]
