"""Distance of a row to its k-th nearest training row.

Shapes: T rows of a segment, C channels, L rows in a window, D = L·C, R training vectors,
k neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import MethodDetector
from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import State, require_array
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.methods.trailing import by_channel, sample, trailing

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

# rows in a window, and training vectors to compare with, at most: both are allocated
MAX_WINDOW, MAX_REFERENCES = 1_000, 1_000_000
# values compared at a time
CHUNK_VALUES = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class NearestVector(Predictor):
    """Expects the k-th nearest training vector; the error is the distance to it.

    The squares of a row's departures add up to the square of its error.
    """

    references: NDArray[np.float32]  # (R, D)
    length: int  # L
    k: int
    index: NearestNeighbors = field(init=False)

    def __post_init__(self) -> None:
        # here: importing it draws from Python's random numbers, and is slow
        from sklearn.neighbors import NearestNeighbors

        # all distances by matrix products: trees are slower beyond some ten channels
        index = NearestNeighbors(n_neighbors=self.k, algorithm="brute")
        object.__setattr__(self, "index", index.fit(self.references.astype(np.float64)))

    @property
    def window(self) -> int:
        """Rows in a window."""
        return self.length

    @property
    def reach(self) -> Reach:
        """The rows of the window that ends with a row."""
        return Reach(self.length - 1, 0)

    def predict(self, scaled: Rows) -> Prediction:
        """Judge rows by their k-th nearest training vectors, some rows at a time."""
        channels = scaled.shape[1]
        expected, departures = np.empty_like(scaled), np.empty_like(scaled)
        size = max(CHUNK_VALUES // (self.k * self.references.shape[1]), 1)
        for chunk, vectors in trailing(scaled, self.length):
            for start in range(0, len(vectors), size):
                rows = slice(chunk.start + start, min(chunk.start + start + size, chunk.stop))
                queries = vectors[start : start + size]
                nearest = self.index.kneighbors(queries, return_distance=False)  # (T, k)
                # computed again from differences: matrix products lose digits of small distances
                farthest = self.references[nearest[:, -1]].astype(np.float64)  # (T, D)
                expected[rows] = farthest[:, -channels:]
                departures[rows] = by_channel(np.square(queries - farthest), channels)
        return Prediction(expected, np.sqrt(departures.sum(axis=1)), departures)

    def state(self) -> State:
        """The training vectors."""
        return State(
            {"references": self.references}, {"window": int(self.length), "neighbours": self.k}
        )


@dataclass(frozen=True, kw_only=True)
class NearestMethod(PerEntityMethod):
    """Keeps training vectors and compares with them; settings are those of ``KNNDetector``."""

    keeps_rows: ClassVar[bool] = True

    neighbours: int = 10
    window: int = 1
    references: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("neighbours", self.neighbours, least=1)
        require_whole("window", self.window, least=1, most=MAX_WINDOW)
        require_whole("references", self.references, least=1, most=MAX_REFERENCES)

    def _fit_one(self, task: Task) -> Predictor:
        vectors = sample(task, int(self.window), int(self.references)).astype(np.float32)
        return NearestVector(vectors, int(self.window), min(int(self.neighbours), len(vectors)))

    def _restore(self, state: State, channels: int) -> Predictor:
        references = state.arrays["references"]
        length, k = state.facts["window"], state.facts["neighbours"]
        require_whole("window", length, least=1, most=MAX_WINDOW)
        require_array("references", references, (*references.shape[:1], length * channels))
        require_whole("neighbours", k, least=1)
        if k > len(references):
            raise InputError(
                f"neighbours must be at most {len(references)}, as references; got {k}"
            )
        return NearestVector(references, length, k)


@dataclass(kw_only=True, eq=False, repr=False)
class KNNDetector(MethodDetector):
    """Scores a row by its Euclidean distance to the k-th nearest row of training.

    Ramaswamy, Rastogi and Shim, "Efficient algorithms for mining outliers from large data sets"
    (SIGMOD 2000), between standardised rows, as published comparisons on several channels have
    it. A channel's part in an alarm is its part of that squared distance. Ours is that a new row
    is compared with training rows, not with its like; that of a long training series 10,000
    rows are kept, drawn by chance but always the same; and that the threshold is set by training
    rows that each were compared with the other four fifths of their series.

    Parameters
    ----------
    neighbours : int
        k.
    window : int
        Rows in a window that ends with the row: all their channels make one vector. 1: rows alone.
    references : int
        Training rows, or windows, to keep at most, an entity; fewer where they would hold more
        than 20 million values.
    others
        As of every ``MethodDetector``.
    """

    method = NearestMethod

    neighbours: int = 10
    window: int = 1
    references: int = 10_000
