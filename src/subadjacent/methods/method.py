"""The contract: a method learns a model for each entity; a model assesses a segment, once.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.errors import InputError
from subadjacent.runtime import Runtime

if TYPE_CHECKING:
    from subadjacent.methods.stream import ModelStream

Arrays = dict[str, NDArray[Any]]


class State(NamedTuple):
    """What was learned, ready to be saved: arrays, and everything else as JSON."""

    arrays: Arrays
    facts: dict[str, Any]


def join_names(parts: dict[str, Arrays]) -> Arrays:
    """The arrays of all parts in one dict, each named after its part; ``split_names`` undoes it."""
    return {
        f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()
    }


def split_names(arrays: Arrays) -> dict[str, Arrays]:
    """The arrays of each part. A name is split once, so that parts may have parts."""
    parts: dict[str, Arrays] = {}
    for key, array in arrays.items():
        part, _, name = key.partition("/")
        parts.setdefault(part, {})[name] = array
    return parts


class Model(ABC):
    """What was learned of one entity, or of all for entities never seen. It never changes.

    A stream of a model that ``learns`` goes on learning from the rows that it assesses, beyond the
    end of a segment.
    """

    learns: ClassVar[bool] = False

    @property
    def blur(self) -> int:
        """Rows by which averaging spreads an event to either side; 0 without any averaging."""
        return 0

    @property
    @abstractmethod
    def reach(self) -> Reach:
        """The rows around a row that its score depends on."""

    @property
    @abstractmethod
    def typical_values(self) -> Array:
        """A typical value of each channel, (C,): a substitute for values missing for long."""

    @abstractmethod
    def assess(self, rows: Array) -> Evidence:
        """Judge the rows of one unbroken segment, (T, C), given in the data's own units."""

    def stream(
        self,
        state: State | None = None,
        *,
        explained: bool = True,  # noqa: ARG002  for models to whom it makes a difference
    ) -> ModelStream:
        """Score the rows of one unbroken segment as they come, as ``assess`` scores all at once.

        With the ``state`` of another stream of this model, it continues where that one stood. By
        default, every arrival of rows scores a buffer as long as the model's reach again; models
        with a quicker way override this. Evidence that need not be ``explained`` may hold scores
        alone, where that is quicker.
        """
        from subadjacent.methods.stream import ReplayStream

        return ReplayStream(self, state)

    @abstractmethod
    def state(self) -> State:
        """What was learned; ``Method.restore`` is the inverse."""


class Fitted(NamedTuple):
    """The result of a fit.

    ``scores`` are those of the training rows, one array a series; ``held_out`` are scores of
    normal rows by models that had not learned from them, also one array a series, which say how
    high normal rows score. ``strongest`` is the same for the strongest channel of each row, None
    where models do not tell.
    """

    models: PerEntity[Model]
    scores: list[NDArray[np.float64]]
    held_out: list[NDArray[np.float64]]
    strongest: list[NDArray[np.float64]] | None = None


class Method(ABC):
    """Frozen settings that can be fitted. Bad values are refused when it is built."""

    @abstractmethod
    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
        """Learn from training series."""

    def fit_each(self, series: Sequence[TrainSeries], run: Runtime) -> list[Fitted]:
        """Fit each series by itself, as ``fit`` of it alone would.

        Methods that are quicker with many series of one shape at once override this.
        """
        return [self.fit([one_series], run) for one_series in series]

    @abstractmethod
    def restore(self, state: State, channels: int) -> Model:
        """The inverse of ``Model.state``; refuses what does not fit."""

    def pack(self, models: PerEntity[Model]) -> State:
        """The state of all models.

        Arrays of one name that agree in shape are stacked, so that a fleet of thousands does not
        make a file of millions of arrays; the first index is the model's place.
        """
        states = [model.state() for model in models]
        arrays: Arrays = {}
        for name in dict.fromkeys(name for state in states for name in state.arrays):
            by_model = {
                n: state.arrays[name] for n, state in enumerate(states) if name in state.arrays
            }
            kinds = {(array.dtype, array.shape) for array in by_model.values()}
            if len(kinds) == 1 and len(by_model) == len(states):
                arrays[name] = np.stack(list(by_model.values()))
            else:
                arrays |= {f"{name}#{n}": array for n, array in by_model.items()}
        return State(arrays, {"models": [state.facts for state in states]})

    def unpack(self, state: State, channels: int, entities: Sequence[str]) -> PerEntity[Model]:
        """The inverse of ``pack``; refuses what does not fit."""
        facts = state.facts["models"]
        count = 1 + len(entities)
        if not isinstance(facts, list) or len(facts) != count:
            raise InputError(f"models must be a list of {count}, one an entity and one for others")
        arrays_by_model: list[Arrays] = [{} for _ in facts]
        places = {str(number) for number in range(count)}
        for key, array in state.arrays.items():
            name, _, place = key.partition("#")
            if place:
                if place not in places:
                    raise InputError(f"{key} must name one of {count} models, 0 to {count - 1}")
                arrays_by_model[int(place)][name] = array
            elif len(array) != count:
                raise InputError(f"{name} must hold {count} arrays; got {len(array)}")
            else:
                for arrays_of_model, model_array in zip(arrays_by_model, array, strict=True):
                    arrays_of_model[name] = model_array
        pooled, *per_entity = (
            self.restore(State(arrays, fact), channels)
            for arrays, fact in zip(arrays_by_model, facts, strict=True)
        )
        return PerEntity(pooled, dict(zip(entities, per_entity, strict=True)))


def require_array(
    name: str, array: NDArray[Any], shape: tuple[int, ...], least: float = -math.inf
) -> None:
    """Refuse an array of another shape, or with values below ``least`` or not finite."""
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}; got {array.shape}")
    if not np.isfinite(array).all() or (array < least).any():
        bound = f" and at least {least:g}" if least > -math.inf else ""
        raise InputError(f"{name} must be finite{bound}")


def require_places(name: str, array: NDArray[Any]) -> None:
    """Refuse an array of anything but whole numbers, where they are the indices of something."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers; got {array.dtype}")
