"""Tail probabilities of each channel's value among its training values, multiplied over channels.

Shapes: T rows of a segment, C channels, R training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import State, require_array
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import sample
from subadjacent.scoring.evidence import Reach

# training rows to keep, at most: they are allocated
MOST_REFERENCES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Tails(Predictor):
    """Surprise at a value so low, or so high, added up over channels.

    The surprise is minus the logarithm of the share of values at least as far out, the row's own
    among them. The error is the largest of three sums: of all lower tails, of all upper ones, and
    of the longer tail of each channel. Departures are the terms of that sum; expected are medians.
    """

    ordered: NDArray[np.float32]  # (R, C), each column by itself
    leans_low: NDArray[np.bool_]  # (C,), the lower tail is the longer one

    @property
    def reach(self) -> Reach:
        """The row itself."""
        return Reach(0, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """Sums of surprises."""
        count = len(self.ordered)
        low, high = np.empty_like(scaled), np.empty_like(scaled)
        for channel, (values, known) in enumerate(zip(scaled.T, self.ordered.T, strict=True)):
            low[:, channel] = np.searchsorted(known, values, side="right")
            high[:, channel] = count - np.searchsorted(known, values, side="left")
        low, high = (-np.log((tail + 1) / (count + 1)) for tail in (low, high))
        three = np.stack([low, high, np.where(self.leans_low, low, high)])  # (3, T, C)
        sums = three.sum(axis=2)
        departures = three[sums.argmax(axis=0), np.arange(len(scaled))]
        expected = np.tile(np.median(self.ordered, axis=0).astype(np.float64), (len(scaled), 1))
        return Prediction(expected, sums.max(axis=0), departures)

    def state(self) -> State:
        """Ordered values, and which tails are longer."""
        return State({"ordered": self.ordered, "leans_low": self.leans_low.astype(np.int8)}, {})


@dataclass(frozen=True, kw_only=True)
class TailsMethod(PerEntityMethod):
    """Keeps the values of each channel, in order.

    Parameters
    ----------
    references
        Training rows to keep at most, drawn by chance.
    """

    references: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("references", self.references, least=1, most=MOST_REFERENCES)

    def _fit_one(self, task: Task) -> Predictor:
        rows = sample(task, 1, int(self.references))
        # the sign of the skewness is that of the third moment
        leans_low = ((rows - rows.mean(axis=0)) ** 3).sum(axis=0) < 0
        return Tails(np.sort(rows, axis=0).astype(np.float32), leans_low)

    def _restore(self, state: State, channels: int) -> Predictor:
        ordered, leans_low = state.arrays["ordered"], state.arrays["leans_low"]
        require_array("ordered", ordered, (*ordered.shape[:1], channels))
        if not len(ordered) or (np.diff(ordered, axis=0) < 0).any():
            raise InputError("ordered must hold values in rising order")
        require_array("leans_low", leans_low, (channels,))
        return Tails(ordered, leans_low.astype(bool))
