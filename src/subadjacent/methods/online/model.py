"""The model that looks back only, and learns while it watches.

Its score has two parts. The learner knows what is new, compared with the rows just before. The
views of what lasts know the distance from the training rows, however long ago these were; they are
frozen. Without training rows there is the learner alone.

Shapes: T rows of a segment, C channels, V views of the learner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Arrays, Model, State, join_names, split_names
from subadjacent.methods.online.lasting import LastingViews
from subadjacent.methods.online.learner import SUPPRESSED_AT_START, Learner
from subadjacent.methods.online.learning_rule import ADAPT_AFTER
from subadjacent.methods.online.stream import OnlineStream

FIRST_UNIT = 6.0
"""Unit of surprise where there are no training rows: about the 99% quantile of one channel (median
5.5 of recordings, 6.9 of web services)."""

LEARNER, LASTING = "learner", "lasting"

_LARGE = ("views/history/rows", "surprise/counts")
"""Arrays of the learner that are kept in single precision."""

_NORMAL = "views/history/calm"
"""The one array of the learner that holds no numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class OnlineModel(Model):
    """A learner as it was after the training rows, and the views of what lasts.

    Parameters
    ----------
    typical_values
        Of each channel, (C,).
    learned
        State of the learner; None to start from nothing.
    unit
        Surprise that one normal row in a hundred exceeds.
    lasting
        Views that compare rows with the training rows; None without training rows.
    """

    learns: ClassVar[bool] = True

    typical_values: Array
    learned: Arrays | None = None
    unit: float = FIRST_UNIT
    lasting: LastingViews | None = None

    @classmethod
    def from_nothing(cls, channels: int) -> OnlineModel:
        """A model that starts with the first row that it is given."""
        return cls(np.zeros(channels))

    @classmethod
    def of(cls, learner: Learner, typical_values: Array, unit: float) -> OnlineModel:
        """The model of a learner that watched the training rows, without views of what lasts."""
        # what comes next may come any time later
        learner.gap(None)
        learned = {name: np.array(array) for name, array in learner.state().items()}
        learned |= {name: learned[name].astype(np.float32) for name in _LARGE}
        learned[_NORMAL] = learned[_NORMAL].astype(np.uint8)
        return cls(typical_values, learned, unit)

    @property
    def reach(self) -> Reach:
        """Rows that it compares a row with directly; what it learned reaches back further."""
        before = 0 if self.lasting is None else self.lasting.views.reach.before
        return Reach(max(SUPPRESSED_AT_START, before), 0)

    def learner(self) -> Learner:
        """A learner that goes on from the training rows, or starts from nothing."""
        if self.learned is None:
            return Learner(len(self.typical_values))
        return Learner.restore({name: _own(array) for name, array in self.learned.items()})

    def assess(self, rows: Array) -> Evidence:
        """Assess the rows of one unbroken segment, learning while it watches."""
        return self.stream().push(rows)

    def stream(
        self,
        state: State | None = None,
        *,
        explained: bool = True,  # noqa: ARG002  explanations cost little
        adapt_after: int | None = ADAPT_AFTER,
    ) -> OnlineStream:
        """Assess a segment as it comes; what lasts ``adapt_after`` rows is the new normal."""
        return OnlineStream(self, state, adapt_after=adapt_after)

    def state(self) -> State:
        """Arrays of the learner and of the views of what lasts, and the units."""
        parts: dict[str, Arrays] = {} if self.learned is None else {LEARNER: dict(self.learned)}
        facts: dict[str, Any] = {"unit": self.unit}
        if self.lasting is not None:
            parts[LASTING], facts[LASTING] = self.lasting.state()
        return State({"typical_values": self.typical_values, **join_names(parts)}, facts)

    @classmethod
    def restore(cls, state: State, channels: int, lasting: LastingViews | None) -> OnlineModel:
        """The inverse of ``state``, given what was restored of what lasts."""
        arrays, facts = dict(state.arrays), state.facts
        typical = arrays.pop("typical_values")
        if typical.shape != (channels,):
            raise InputError(f"typical_values must have shape ({channels},); got {typical.shape}")
        require_number("unit", facts["unit"], above=0)
        learned = split_names(arrays).get(LEARNER)
        if learned is not None:
            _check(learned, channels)
        return cls(typical, learned, facts["unit"], lasting)


def _check(learned: Arrays, channels: int) -> None:
    """Refuse a learner's state that is not that of a series with this number of channels."""
    for name, like in Learner(channels).state().items():
        shape = learned[name].shape
        # a length that is 0 before the first row depends on the rows
        if len(shape) != like.ndim or any(
            wanted not in (0, length) for wanted, length in zip(like.shape, shape, strict=True)
        ):
            raise InputError(f"{name} must have shape {like.shape}; got {shape}")


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """A copy to work on, in double precision where it has less."""
    return array.astype(np.float64) if array.dtype == np.float32 else array.copy()
