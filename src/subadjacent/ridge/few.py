"""Residuals of a few rows, from their own neighbours only.

``BandRidge.residuals`` prepares all rows around the requested ones, which pays where they are
many. One row as it comes needs its neighbours and no more.

Shapes: B requested rows, C channels, K axes, J neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import CLIP, Rows
from subadjacent.ridge.band import FAR_CLIP, BandRidge

# rows whose neighbours are gathered: of more it takes longer than preparing all rows around them
MAX_GATHERED_ROWS = 8


class FewRows:
    """A ridge, prepared for a few rows at a time.

    Parameters
    ----------
    model
        The ridge.
    gain
        Brings its residuals to a common scale, (C,).
    """

    def __init__(self, model: BandRidge, gain: NDArray[np.float64]) -> None:
        self._local = model.local
        # the first model of a view sets the scale
        self._gain = None if (gain == 1).all() else gain
        self._clip = FAR_CLIP if model.local else CLIP
        # the row itself comes last
        self._offsets = np.append(model.neighbours.offsets, 0)
        self._axes = model.axes.astype(np.float64)
        self._weights = model.weights[:-1].astype(np.float64)
        self._constant = model.weights[-1].astype(np.float64)

    def residuals(self, rows: Rows, first: int, last: int) -> Rows:
        """Of the rows from ``first`` to ``last``, (B, C), all of which have their neighbours."""
        return np.array([self._residual(rows, row) for row in range(first, last)])

    def _residual(self, rows: Rows, row: int) -> Rows:
        """Of one row that has all its neighbours, (C,)."""
        values = rows.take(self._offsets + row, axis=0).astype(np.float64)  # (J + 1, C)
        np.maximum(values, -self._clip, out=values)
        np.minimum(values, self._clip, out=values)
        if self._local:
            values -= np.add.reduce(values[:-1], axis=0) / (len(values) - 1)
        # ``dot`` of a few numbers takes half the time of ``@``
        features = values[:-1].dot(self._axes)  # (J, K)
        if self._local:
            np.maximum(features, -CLIP, out=features)
            np.minimum(features, CLIP, out=features)
        expected = features.reshape(-1).dot(self._weights)
        expected += self._constant
        left = (values[-1] - expected).astype(np.float32)
        if self._gain is not None:
            left = (left * self._gain).astype(np.float32)
        return np.asarray(left)
