"""A ridge for the middle of a stretch, and one-sided ones for where it begins and ends.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.model.ridge import BandRidge, Rows


@dataclass(frozen=True, slots=True, eq=False)
class SidedRidge:
    """Judges every row by the first model that finds all its neighbours there.

    Parameters
    ----------
    models
        One for each side that neighbours may stand on, as far as training rows had them all; in
        the causal form at most "before".
    gains
        One a model and channel: brings its residuals to the scale of the first one's.
    """

    models: tuple[BandRidge, ...]
    gains: NDArray[np.float64]

    def residuals(self, rows: Rows) -> Rows:
        """What is left of a stretch's rows, on one scale; 0 where nothing judges a row."""
        return self.compose([model.residuals(rows) for model in self.models], rows, self.gains)

    def expected(self, rows: Rows) -> Rows:
        """What is expected of a stretch's rows; the row itself where nothing judges it."""
        left = [model.residuals(rows) for model in self.models]
        return np.asarray(rows - self.compose(left, rows, np.ones_like(self.gains)))

    def compose(
        self, found: Sequence[Rows], rows: Rows, gains: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Each row's residual, by the first model that finds all its neighbours there."""
        composed = np.zeros_like(rows)
        for model, gain, residuals in reversed(list(zip(self.models, gains, found, strict=True))):
            complete = model.complete(len(rows))
            composed[complete] = residuals[complete] * gain
        return composed

    def judged(self, rows: int) -> NDArray[np.bool_]:
        """Which rows of a stretch any model judges."""
        found = np.zeros(rows, dtype=bool)
        for model in self.models:
            found[model.complete(rows)] = True
        return found
