"""The errors of a linear forecast from the rows before."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.forecast import ForecastMethod


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
        Rows to look back on; fewer where they would hold more than 5,000 values.
    penalty : float
        On the squares of the weights, as ``alpha`` of scikit-learn's ``Ridge``.
    others
        As of every ``MethodDetector``.
    """

    method = ForecastMethod

    window: int = 10
    penalty: float = 1.0
