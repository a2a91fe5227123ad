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
        return self._left(rows, self.gains)

    def expected(self, rows: Rows) -> Rows:
        """What is expected of a stretch's rows; the row itself where nothing judges it."""
        return np.asarray(rows - self._left(rows, np.ones_like(self.gains)))

    def _left(self, rows: Rows, gains: NDArray[np.float64]) -> Rows:
        found = np.zeros_like(rows)
        for model, gain, mine in zip(self.models, gains, self._shares(len(rows)), strict=True):
            if mine.start < mine.stop:
                found[mine] = model.residuals(rows, mine.start, mine.stop) * gain
        return found

    def compose(
        self, found: Sequence[Rows], rows: Rows, gains: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Each row's residual, of those that all the models left of all rows."""
        composed = np.zeros_like(rows)
        for residuals, gain, mine in zip(found, gains, self._shares(len(rows)), strict=True):
            composed[mine] = residuals[mine] * gain
        return composed

    def _shares(self, rows: int) -> list[slice]:
        """Which rows of a stretch each model is the first to find all neighbours of."""
        taken = np.zeros(rows, dtype=bool)
        found = []
        for model in self.models:
            complete = model.complete(rows)
            # what others have taken lies at one end of it
            free = complete.start + np.flatnonzero(~taken[complete])
            found.append(slice(int(free[0]), int(free[-1]) + 1) if len(free) else slice(0, 0))
            taken[complete] = True
        return found

    def judged(self, rows: int) -> NDArray[np.bool_]:
        """Which rows of a stretch any model judges."""
        found = np.zeros(rows, dtype=bool)
        for model in self.models:
            found[model.complete(rows)] = True
        return found
