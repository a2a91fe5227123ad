"""What a ridge leaves of a few rows, from their own neighbours alone.

``BandRidge.residuals`` prepares all rows around those that are asked for, which pays where they are
many. One row as it comes needs its neighbours and no more.

Shapes: B rows that are asked for, C channels, K axes, J neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import CLIP, Rows
from subadjacent.ridge.band import FAR_CLIP, BandRidge

# rows whose neighbours are gathered: of more it takes longer than preparing all rows around them
FEW = 8


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
        self._local, self._gain = model.local, gain
        self._clip = FAR_CLIP if model.local else CLIP
        self._offsets = model.neighbours.offsets
        self._axes = model.axes.astype(np.float64)
        self._weights = model.weights[:-1].astype(np.float64)
        self._constant = model.weights[-1].astype(np.float64)

    def residuals(self, rows: Rows, first: int, last: int) -> Rows:
        """Of the rows from ``first`` to ``last``, (B, C), all of which have their neighbours."""
        return np.array([self.residual(rows, row) for row in range(first, last)])

    def residual(self, rows: Rows, row: int) -> Rows:
        """Of one row, (C,)."""
        clip = self._clip
        around = rows.take(self._offsets + row, axis=0).astype(np.float64)  # (J, C)
        np.maximum(around, -clip, out=around)
        np.minimum(around, clip, out=around)
        target = np.minimum(np.maximum(rows[row], -clip), clip, dtype=np.float64)
        if self._local:
            level = np.add.reduce(around, axis=0) / len(self._offsets)
            around -= level
            target -= level
        features = around @ self._axes  # (J, K)
        if self._local:
            np.maximum(features, -CLIP, out=features)
            np.minimum(features, CLIP, out=features)
        expected = features.reshape(-1) @ self._weights
        expected += self._constant
        target -= expected
        return np.asarray(target.astype(np.float32) * self._gain, dtype=np.float32)
