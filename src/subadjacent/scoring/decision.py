"""A threshold on scores, and the scale that it gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

# how steep probabilities are: a typical row gets 1 %, a row at the threshold 50 %
STEEPNESS = float(np.log(99))
# a difference of scores below this, or this share of them, is rounding
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Decision:
    """Rows that score above ``threshold`` are anomalous.

    ``typical`` and ``spread`` are the median and the standard deviation of held-out scores.
    """

    threshold: float
    typical: float
    spread: float

    def anomalous(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows are anomalous; one at the threshold is not."""
        return np.asarray(scores > self.threshold)

    def normalized(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores on a scale that is the same for every model: 1 is the threshold, 0 typical."""
        span = self.threshold - self.typical
        if span <= TINY * max(abs(self.threshold), abs(self.typical)):
            # a threshold no higher than a typical row: the spread of scores is the unit then,
            # and where all were alike, the scores' own
            span = self.spread if self.spread > TINY else 1.0
        return np.asarray(1 + (scores - self.threshold) / span)

    def probability(self, scores: NDArray[Any]) -> NDArray[Any]:
        """A logistic curve over the normalised score; it orders, it is not a frequency."""
        return np.asarray(expit(STEEPNESS * (self.normalized(scores) - 1)))
