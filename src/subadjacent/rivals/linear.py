"""The next row as a weighted sum of all values of the rows before it.

Shapes: T rows of a segment, C channels, L rows before a row, D = L·C, W windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import MethodDetector
from subadjacent.errors import require_number, require_whole
from subadjacent.methods.method import State, require_array
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import trailing, windows_of

# rows to look back on at most
MAX_WINDOW = 10_000
# values that one is predicted from, at most: their products take 200 MB
MAX_PREDICTORS = 5_000


@dataclass(frozen=True, slots=True, eq=False)
class Forecast(Predictor):
    """Predicts a row by a linear function of the rows before it; the error is the mean square."""

    weights: Rows  # (D, C)
    offset: Rows  # (C,)
    length: int  # L

    @property
    def window(self) -> int:
        """A row, and those before it."""
        return self.length + 1

    @property
    def reach(self) -> Reach:
        """The rows before."""
        return Reach(self.length, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """Predict each row; the first row stands for all rows before it."""
        expected = np.empty_like(scaled)
        for rows, vectors in trailing(scaled, self.length + 1):
            expected[rows] = vectors[:, : -scaled.shape[1]] @ self.weights + self.offset
        return Prediction(expected, np.square(scaled - expected).mean(axis=1))

    def state(self) -> State:
        """The linear function."""
        return State({"weights": self.weights, "offset": self.offset}, {"window": self.length})


@dataclass(frozen=True, kw_only=True)
class ForecastMethod(PerEntityMethod):
    """A ridge regression of each row on the rows before it.

    Settings are those of ``LinearForecastDetector``.
    """

    # there are many weights, so that errors on the rows that they were fitted to are too small
    keeps_rows: ClassVar[bool] = True

    window: int = 10
    penalty: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("window", self.window, least=1, most=MAX_WINDOW)
        require_number("penalty", self.penalty, above=0)

    def _fit_one(self, task: Task) -> Predictor:
        channels = task.series[0].values.shape[1]
        length = min(int(self.window), max(MAX_PREDICTORS // channels, 1))
        inner = length * channels
        count, total, products = 0, np.zeros(()), np.zeros(())
        for segment in task.segments(length + 1):
            for windows in windows_of(segment, length + 1):
                count += len(windows)
                total = total + windows.sum(axis=0)
                # products of the predictors with all values
                products = products + windows[:, :inner].T @ windows
        mean = total / count
        moments = products - count * np.outer(mean[:inner], mean)
        before, after = moments[:, :inner], moments[:, inner:]
        weights = linalg.solve(before + self.penalty * np.eye(inner), after, assume_a="pos")
        return Forecast(weights, mean[inner:] - mean[:inner] @ weights, length)

    def _restore(self, state: State, channels: int) -> Predictor:
        length = state.facts["window"]
        require_whole("window", length, least=1, most=MAX_WINDOW)
        require_array("weights", state.arrays["weights"], (length * channels, channels))
        require_array("offset", state.arrays["offset"], (channels,))
        return Forecast(state.arrays["weights"], state.arrays["offset"], length)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearForecastDetector(MethodDetector):
    """Scores a row by its mean squared error against a linear forecast from the rows before it.

    A ridge regression of every channel on all channels of the last rows: a vector autoregression,
    what users would try before a network. The threshold is set by training rows that were
    forecast by what the other four fifths of their series taught. Rows before the first are taken
    to have been like it.

    Parameters
    ----------
    window : int
        Rows to look back on; fewer where they would hold more than 5,000 values, one at least.
    penalty : float
        On the squares of the weights, as ``alpha`` of scikit-learn's ``Ridge``.
    others
        As of every ``MethodDetector``.
    """

    method = ForecastMethod

    window: int = 10
    penalty: float = 1.0
