"""Principal directions of rows or short windows, and what they leave unexplained.

Shapes: T rows of a stretch, C channels, L rows in a window, W windows, D = L·C, k directions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg

from subadjacent.data.scaling import EntityScalers, chunks
from subadjacent.data.series import TrainSeries
from subadjacent.data.windows import stack
from subadjacent.detectors.baselines.control import ControlDetector, Judged, Rows
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError

# windows handled at a time
CHUNK = 4096
# a direction with a smaller share of the largest variance is rounding
SMALLEST_SHARE = 1e-10
# so is a smaller variance than this, of values that are standardised and cut
SMALLEST_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """A mean, and orthonormal directions around it."""

    mean: NDArray[np.float64]  # (D,)
    directions: NDArray[np.float64]  # (D, k)

    def nearest(self, vectors: Rows) -> Rows:
        """The point of the subspace nearest to each vector, (…, D)."""
        return self.mean + (vectors - self.mean) @ self.directions @ self.directions.T


class SubspaceDetector(ControlDetector):
    """A control that expects every window to lie in a subspace; one for each entity.

    Subclasses say how long a window is (``_reach``) and how many directions to keep.
    """

    @abstractmethod
    def _keep(self, variances: NDArray[np.float64]) -> int:
        """How many directions to keep, given their variances, largest first."""

    def _learn_scaled(self, series: Sequence[TrainSeries]) -> None:
        # on the scale that an unknown entity will have
        self.pooled_ = self._fit_subspace(series, EntityScalers(self.scalers_.pooled, {}))
        self.by_entity_ = {
            one.entity: self.pooled_
            if len(series) == 1
            else self._fit_subspace([one], self.scalers_)
            for one in series
            if one.entity is not None
        }

    def _fit_subspace(self, series: Sequence[TrainSeries], scalers: EntityScalers) -> Subspace:
        stacked = stack(series, scalers, self._reach())
        return fit_subspace(
            (
                part
                for one in stacked.stretches
                for part in self._windows(stacked.values[one.at : one.at + one.padded].numpy())
            ),
            self._keep,
        )

    def _judge(self, values: Rows, entity: str | None) -> Judged:
        """Means over the windows that cover a row: of its reconstructions, and of their errors."""
        subspace = self.pooled_ if entity is None else self.by_entity_.get(entity, self.pooled_)
        length, channels = self._reach(), values.shape[1]
        expected, scores = np.zeros_like(values), np.zeros(len(values))
        first = 0
        for vectors in self._windows(values):
            nearest = subspace.nearest(vectors)
            error = np.square(vectors - nearest).mean(axis=1)  # (W,)
            nearest = nearest.reshape(len(vectors), length, channels)
            for step in range(length):
                rows = slice(first + step, first + step + len(vectors))
                expected[rows] += nearest[:, step]
                scores[rows] += error
            first += len(vectors)
        covering = np.minimum(np.arange(1, len(values) + 1), length)
        covering = np.minimum(covering, np.minimum(covering[::-1], first))
        return Judged(expected / covering[:, None], scores / covering)

    def _windows(self, values: NDArray[Any]) -> Iterator[Rows]:
        """Every window of a stretch, flattened, some at a time, (W, D)."""
        length = self._reach()
        starts = len(values) - length + 1
        view = np.lib.stride_tricks.sliding_window_view(values, length, axis=0)  # (W, C, L)
        for part in chunks(starts, CHUNK):
            windows = view[part].transpose(0, 2, 1)
            yield windows.reshape(len(windows), -1).astype(np.float64)

    def _state(self) -> tuple[Tensors, dict[str, Any]]:
        _, learned = super()._state()
        tensors = {}
        for name, one in self._named():
            tensors[f"{name}.mean"] = torch.from_numpy(one.mean)
            tensors[f"{name}.directions"] = torch.from_numpy(one.directions.copy())
        return tensors, learned

    def _restore(self, tensors: Tensors, learned: dict[str, Any]) -> None:
        super()._restore(tensors, learned)
        size = self._reach() * len(self.channels_)

        def read(name: str) -> Subspace:
            mean, directions = (
                tensors[f"{name}.{part}"].numpy() for part in ("mean", "directions")
            )
            if mean.shape != (size,) or directions.shape[:-1] != (size,):
                raise InputError(
                    f"{name} must have a mean and directions of {size} numbers; "
                    f"got shapes {mean.shape} and {directions.shape}"
                )
            return Subspace(mean, directions)

        self.pooled_ = read("pooled")
        self.by_entity_ = {
            entity: read(f"entity_{number}") for number, entity in enumerate(self.entities_)
        }

    def _named(self) -> Iterator[tuple[str, Subspace]]:
        yield "pooled", self.pooled_
        for number, entity in enumerate(self.entities_):
            yield f"entity_{number}", self.by_entity_[entity]


def fit_subspace(parts: Iterable[Rows], keep: Callable[[NDArray[np.float64]], int]) -> Subspace:
    """Mean and principal directions of all vectors; ``keep`` says how many of them.

    From raw moments, part by part: values are standardised and cut, so no digits are lost.
    """
    count, total, products = 0, np.zeros(()), np.zeros(())
    for part in parts:
        count += len(part)
        total = total + part.sum(axis=0)
        products = products + part.T @ part
    mean = total / count
    variances, directions = linalg.eigh(products / count - np.outer(mean, mean))
    variances = variances[::-1]
    # rows that never moved have no direction at all
    variances = variances[variances > max(SMALLEST_SHARE * variances[0], SMALLEST_VARIANCE)]
    # one is always left out, or there would be nothing that is not explained
    kept = min(keep(variances), len(variances), len(mean) - 1) if len(variances) else 0
    return Subspace(mean, np.ascontiguousarray(directions[:, ::-1][:, :kept]))
