"""What a linear forecast from the rows before leaves unexplained."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.forecast import ForecastMethod


class LinearForecastDetector(BaseDetector):
    """Scores a row by its mean squared error against a linear forecast from the rows before it.

    A ridge regression of every channel on all channels of the last rows: a vector autoregression,
    what users would try before a network. The threshold is set by training rows that were
    forecast by what the other four fifths of their series taught. Rows before the first are taken
    to have been like it.

    Parameters
    ----------
    window : int
        Rows to look back on; fewer where they would hold more than 5,000 values.
    penalty : float
        On the squares of the weights, as ``alpha`` of scikit-learn's ``Ridge``.
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    """

    def __init__(
        self,
        *,
        window: int = 10,
        penalty: float = 1.0,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.window = window
        self.penalty = penalty
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> ForecastMethod:
        return ForecastMethod(
            window=self.window,
            penalty=self.penalty,
            smoothing=self.smoothing,
            clip=self.clip,
        )
