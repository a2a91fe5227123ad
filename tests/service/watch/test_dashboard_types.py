"""The dashboard is as Grafana's own types have it."""

from __future__ import annotations

import json
import typing
from enum import Enum
from types import NoneType, UnionType
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


def misfits(value: Any, kind: Any, place: str) -> list[str]:
    """Where a value of Grafana's types is not of the type that its class declares."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is object:
        # what a plugin gives a type to
        return misfits(value, type(value), place) if hasattr(value, "to_json") else []
    if origin in (typing.Union, UnionType):
        tries = [misfits(value, one, place) for one in arguments]
        # of the types that it may have, the one that it fits furthest
        return [] if [] in tries else max(tries, key=lambda found: len(found[0]))
    if origin is typing.Literal:
        return [] if value in arguments else [place]
    if origin is list:
        inner = arguments[0]
        if not isinstance(value, list):
            return [place]
        return [
            found for n, one in enumerate(value) for found in misfits(one, inner, f"{place}[{n}]")
        ]
    if origin is dict:
        return [] if isinstance(value, dict) else [place]
    if kind is float:
        kind = (int, float)
    if kind is NoneType or value is None:
        return [] if value is None and kind is NoneType else [place]
    if isinstance(kind, type) and issubclass(kind, Enum):
        # a word that is not one of the enumeration stays a string
        return [] if value in [one.value for one in kind] else [place]
    if isinstance(value, dict) and hasattr(kind, "from_json"):
        # some lists are taken over as they are
        value = kind.from_json(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return [place]
    hints = typing.get_type_hints(type(value)) if hasattr(value, "to_json") else {}
    return [
        found
        for name, hint in hints.items()
        for found in misfits(getattr(value, name), hint, f"{place}.{name}")
    ]


def test_grafana_knows_every_field_and_its_type() -> None:
    document = general()
    assert lost(document, again(Dashboard, document)) == []
    assert misfits(Dashboard.from_json(document), Dashboard, "dashboard") == []
    for note in DASHBOARD["annotations"]["list"]:
        assert lost(note["target"], again(Dataquery, note["target"])) == []


def changed(**fields: Any) -> dict[str, Any]:
    """The dashboard with other fields in its chart of scores."""
    panels = [panel | fields if panel["id"] == 6 else panel for panel in DASHBOARD["panels"]]
    return general() | {"panels": panels}


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"tittle": "x"}, ".panels[5].tittle"),
        ({"targets": [{"refId": "A", "exp": "up"}]}, ".panels[5].targets[0].exp"),
        ({"options": {"tooltip": {"mood": "multi"}}}, ".panels[5].options.tooltip.mood"),
    ],
)
def test_a_field_that_grafana_does_not_know_is_found(fields: Any, place: str) -> None:
    document = changed(**fields)
    assert lost(document, again(Dashboard, document)) == [place]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"gridPos": {"x": 0, "y": 12, "w": "24", "h": 8}}, "dashboard.panels[5].grid_pos.w"),
        ({"title": 5}, "dashboard.panels[5].title"),
        ({"targets": [{"refId": "A", "expr": 1}]}, "dashboard.panels[5].targets[0].expr"),
        (
            {"options": {"tooltip": {"mode": "many", "sort": "desc"}, "legend": {}}},
            "dashboard.panels[5].options.tooltip.mode",
        ),
    ],
)
def test_a_value_of_another_type_is_found(fields: Any, place: str) -> None:
    made = Dashboard.from_json(changed(**fields))
    assert place in misfits(made, Dashboard, "dashboard")
