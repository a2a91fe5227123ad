"""Principal components of rows or short windows, and the residuals that they leave.

Shapes: T rows of a segment, C channels, L rows in a window, W windows, D = L·C, k directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import MethodDetector
from subadjacent.errors import InputError, require_number, require_whole
from subadjacent.methods.method import State, require_array
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import windows_of

# a direction with a smaller share of the largest variance is rounding
MIN_VARIANCE_SHARE = 1e-10
# so is a smaller variance than this, of values that are standardised and clipped
MIN_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Subspace(Predictor):
    """Expects every window to lie in a subspace: a mean, and orthonormal directions around it.

    A window's error is the mean square of its residual, over all its rows and channels.
    Expected values and error of a row are means over all windows that cover it, of which there
    are fewer at the ends of a segment.
    """

    mean: Rows  # (D,)
    directions: Rows  # (D, k)
    length: int  # L

    @property
    def window(self) -> int:
        """Rows in a window."""
        return self.length

    @property
    def reach(self) -> Reach:
        """The windows that cover a row."""
        return Reach(self.length - 1, self.length - 1)

    def nearest(self, vectors: Rows) -> Rows:
        """The point of the subspace nearest to each vector, (…, D)."""
        return self.mean + (vectors - self.mean) @ self.directions @ self.directions.T

    def predict(self, scaled: Rows) -> Prediction:
        """Means over the windows that cover a row."""
        length, channels = self.length, scaled.shape[1]
        expected, errors = np.zeros_like(scaled), np.zeros(len(scaled))
        first = 0
        for vectors in windows_of(scaled, length):
            nearest = self.nearest(vectors)
            error = np.square(vectors - nearest).mean(axis=1)  # (W,)
            nearest = nearest.reshape(len(vectors), length, channels)
            for step in range(length):
                rows = slice(first + step, first + step + len(vectors))
                expected[rows] += nearest[:, step]
                errors[rows] += error
            first += len(vectors)
        covering = windows_over(len(scaled), length)
        return Prediction(expected / covering[:, None], errors / covering)

    def state(self) -> State:
        """Mean, directions and length of a window."""
        return State({"mean": self.mean, "directions": self.directions}, {"window": self.length})


def windows_over(rows: int, length: int) -> NDArray[np.int64]:
    """The number of windows that cover each of some rows: fewer at both ends."""
    covering = np.minimum(np.arange(1, rows + 1), length)
    return np.minimum(covering, np.minimum(covering[::-1], rows - length + 1))


@dataclass(frozen=True, kw_only=True)
class SubspaceMethod(PerEntityMethod):
    """A subspace for each entity, and one of all rows for entities that are new.

    Parameters
    ----------
    window
        Rows in a window; all their channels make one vector.
    components
        Directions to keep; None: as many as ``variance`` says. Never all there are.
    variance
        Keep as few directions as hold this share of the variance.
    """

    window: int = 1
    components: int | None = None
    variance: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("window", self.window, least=1)
        require_number("variance", self.variance, above=0)
        if self.variance >= 1:
            raise InputError(f"variance must be below 1; got {self.variance!r}")
        if self.components is not None:
            require_whole("components", self.components, least=1)

    def _fit_one(self, task: Task) -> Subspace:
        length = int(self.window)
        vectors = chain.from_iterable(
            windows_of(segment, length) for segment in task.segments(length)
        )
        return Subspace(*principal(vectors, self._keep), length)

    def _keep(self, variances: Rows) -> int:
        """How many directions to keep, given their variances, largest first."""
        if self.components is not None:
            return self.components
        held = np.cumsum(variances) / variances.sum()
        return int(np.searchsorted(held, self.variance)) + 1

    def _restore(self, state: State, channels: int) -> Predictor:
        length = state.facts["window"]
        require_whole("window", length, least=1)
        mean, directions = state.arrays["mean"], state.arrays["directions"]
        require_array("mean", mean, (length * channels,))
        require_array("directions", directions, (length * channels, *directions.shape[1:2]))
        return Subspace(mean, directions, length)


def principal(
    chunks_of_vectors: Iterable[Rows], keep: Callable[[NDArray[np.float64]], int]
) -> tuple[Rows, Rows]:
    """Mean and principal directions of all vectors; ``keep`` says how many of them.

    From raw moments, chunk by chunk: values are standardised and clipped, so no digits are lost.
    """
    count, total, products = 0, np.zeros(()), np.zeros(())
    for vectors in chunks_of_vectors:
        count += len(vectors)
        total = total + vectors.sum(axis=0)
        products = products + vectors.T @ vectors
    mean = total / count
    variances, directions = linalg.eigh(products / count - np.outer(mean, mean))
    variances = variances[::-1]
    # constant rows have no direction at all
    variances = variances[variances > max(MIN_VARIANCE_SHARE * variances[0], MIN_VARIANCE)]
    # one is always left out, else there would be no residual
    kept = min(keep(variances), len(variances), len(mean) - 1) if len(variances) else 0
    return mean, np.ascontiguousarray(directions[:, ::-1][:, :kept])


@dataclass(kw_only=True, eq=False, repr=False)
class PCADetector(MethodDetector):
    """Scores a row by its mean squared distance, a channel, from the main directions of training.

    One analysis for each entity, and one of all rows for entities that are new.

    Parameters
    ----------
    variance : float
        Keep as few directions as hold this share of the variance; never all of them.
    others
        As of every ``MethodDetector``.
    """

    method = SubspaceMethod

    variance: float = 0.9


@dataclass(kw_only=True, eq=False, repr=False)
class SubPCADetector(MethodDetector):
    """Scores a row by how far its windows are from the main directions of training windows.

    Every window of ``window`` rows, all channels in one vector, is projected on the directions
    of its entity. A window's error is the mean square of its residual, over all its rows
    and channels; a row's score is the mean error of all windows that cover it, of which there
    are fewer at the ends of a segment.

    Parameters
    ----------
    window : int
        Rows in a window.
    components : int
        Directions to keep.
    others
        As of every ``MethodDetector``.
    """

    method = SubspaceMethod

    window: int = 20
    components: int = 10
