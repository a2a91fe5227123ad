"""JSON documents whose objects name every key once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from subadjacent.showing import visible

LONGEST_SHOWN = 50
"""Characters of a key that a message shows."""


class RepeatedKeyError(ValueError):
    """An object has a key more than once; its text names the key."""


def read_json(text: str | bytes) -> Any:
    """A document, as ``json.loads`` reads it, whose objects name every key once."""
    return json.loads(text, object_pairs_hook=_named_once)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        ((key, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise RepeatedKeyError(f"{visible(key[:LONGEST_SHOWN])!r} is there more than once")
    return document
