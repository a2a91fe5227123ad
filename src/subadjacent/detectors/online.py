"""The online models beside a detector that looks ahead: a stream needs evidence at once.

They look back only and learn while they watch. One of each entity is fitted along with the
detector, and saved beside its own models.
"""

from __future__ import annotations

from collections.abc import Sequence

from subadjacent.data.entities import PerEntity
from subadjacent.methods.method import Arrays, Method, Model, State

ONLINE, PREFIX = "online", "online."
"""The name of their facts in a model folder, and the beginning of those of their arrays."""

EARLIER = ("causal.", "recent.")
"""Before the names of arrays for streams in folders of versions before 0.3, which are not read."""


def save_online(models: PerEntity[Model] | None, method: Method | None) -> State:
    """Arrays and facts of the models, as they are beside the detector's own in a folder."""
    if models is None or method is None:
        return State({}, {})
    arrays, learned = method.pack(models)
    return State({f"{PREFIX}{name}": array for name, array in arrays.items()}, {ONLINE: learned})


def load_online(
    state: State, method: Method | None, channels: int, entities: Sequence[str]
) -> PerEntity[Model] | None:
    """The inverse of ``save_online``, given all that a folder holds; refuses what does not fit.

    None for a folder of an earlier version, and without a ``method``.
    """
    if method is None or ONLINE not in state.facts:
        return None
    arrays = {
        name.removeprefix(PREFIX): array
        for name, array in state.arrays.items()
        if name.startswith(PREFIX)
    }
    return method.unpack(State(arrays, state.facts[ONLINE]), channels, entities)


def without_online(arrays: Arrays) -> Arrays:
    """The arrays of a folder that are not for streams."""
    return {k: v for k, v in arrays.items() if not k.startswith((PREFIX, *EARLIER))}
