"""What a model folder holds for streams, beside the models.

A causal twin and the last training rows. Folders of earlier versions hold neither: their detectors
score rows as they arrive, but give no early score before a row is final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from subadjacent.detectors.causal import PREFIX, CausalTwin
from subadjacent.detectors.recent import CENTERS, ROWS, Recent, load_recent, save_recent
from subadjacent.methods.method import Arrays, Method, State

CAUSAL, RECENT = "causal", "recent"


class Streamed(NamedTuple):
    """A causal twin, where there is one, and the last training rows by entity."""

    causal: CausalTwin | None
    recent: dict[str | None, Recent]

    def save(self, method: Method, beside: Arrays) -> State:
        """Arrays and facts, given those arrays that the folder holds already."""
        arrays: Arrays = {}
        facts: dict[str, Any] = {}
        twin = method.causal()
        if twin is not None and self.causal is not None:
            saved, facts[CAUSAL] = self.causal.save(twin, beside)
            arrays |= saved
        if self.recent:
            saved, facts[RECENT] = save_recent(self.recent)
            arrays |= saved
        return State(arrays, facts)

    @classmethod
    def load(
        cls,
        arrays: Arrays,
        facts: Mapping[str, Any],
        method: Method,
        channels: int,
        entities: Sequence[str],
    ) -> Streamed:
        """The inverse of ``save``, given all that a folder holds."""
        causal, twin = None, method.causal()
        if twin is not None and CAUSAL in facts:
            causal = CausalTwin.load(State(arrays, facts[CAUSAL]), twin, channels, entities)
        recent: dict[str | None, Recent] = {}
        if RECENT in facts:
            recent = load_recent(arrays, facts[RECENT], channels, entities)
        return cls(causal, recent)


def without_streamed(arrays: Arrays) -> Arrays:
    """The arrays of a folder that are not for streams."""
    bookkeeping = (ROWS, CENTERS)
    return {k: v for k, v in arrays.items() if k not in bookkeeping and not k.startswith(PREFIX)}
