"""The surprise of a value: ``-log`` of the probability that a value exceeds it.

The logarithms of each trace's values are counted in a histogram, which a forgetting factor
discounts. Between the highest 5 % and the highest 0.2 % the surprise is interpolated between these
two counts: a high value that recurs, as a pulse on a flat line, is as rare as its count says.
Beyond, it is extrapolated with the mean excess of the logarithms (Hill's estimator): right for
heavy tails, careful for light ones.

Shapes: B rows, N traces, BINS bins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BIN_WIDTH = 0.125
"""Of a logarithm: values of a bin are an eighth more than those of the bin before."""

BINS = 449
"""From e^-28 to e^28; what is beyond counts in the last bin."""

KNOT_SHARES = 0.05, 0.002
"""Shares of values beyond the lower and the upper knot; the tail begins at the upper one."""

PRIOR_VALUES, PRIOR_EXCESS = 5.0, 0.25
"""Prior of the tail: as if this many values had been seen in it, with this mean excess."""

MIN_EXCESS, MAX_EXCESS = 0.05, 1.0
"""Bounds of the mean excess: lighter and heavier tails are not believed."""

LOG_OFFSET = 1e-12
"""Added to a value before its logarithm, for values of 0."""

_LOGS = (np.arange(BINS) - BINS // 2) * BIN_WIDTH


class HillTails:
    """A histogram of each trace's values, and the tail that was fitted to it.

    Values are counted when the histogram is needed.

    Parameters
    ----------
    traces
        N.
    """

    def __init__(self, traces: int) -> None:
        self._counts: Array = np.zeros((traces, BINS))
        self._uncounted: list[tuple[Array, Array, float]] = []
        self._fit: Array | None = None

    def surprise(self, values: Array) -> Array:
        """The surprise of values, (B, N), at least 0."""
        lower, lower_surprise, slope, upper, upper_surprise, excess = self.fit()
        logs = np.log(values + LOG_OFFSET)
        beyond = logs - upper
        surprise: Array = np.where(
            beyond >= 0, upper_surprise + beyond / excess, lower_surprise + (logs - lower) * slope
        )
        return np.maximum(surprise, 0, out=surprise)

    def learn(self, values: Array, weights: Array, forgetting: float) -> None:
        """Count values, (B, N), with the weights of their rows, (B,); do not change them later.

        ``forgetting`` multiplies the counts that were there.
        """
        self._uncounted.append((values, weights, forgetting))
        self._fit = None

    def fit(self) -> Array:
        """Fit the tails, if counts have changed since they were fitted; see ``_fit_tails``."""
        if self._fit is None:
            self._fit = _fit_tails(self.counts)
        return self._fit

    @property
    def counts(self) -> Array:
        """The histograms, (N, BINS)."""
        for learned in self._uncounted:
            self._count(*learned)
        self._uncounted.clear()
        return self._counts

    def _count(self, values: Array, weights: Array, forgetting: float) -> None:
        logs = np.log(values + LOG_OFFSET)
        bins = np.rint(logs / BIN_WIDTH).astype(np.intp) + BINS // 2
        np.minimum(np.maximum(bins, 0, out=bins), BINS - 1, out=bins)
        # of all histograms one after the other
        traces = values.shape[1]
        bins += BINS * np.arange(traces)
        counted = np.bincount(bins.ravel(), np.repeat(weights, traces), minlength=BINS * traces)
        self._counts *= forgetting
        self._counts += counted.reshape(self._counts.shape)

    def restore(self, counts: Array) -> None:
        """Replace the histograms by saved ones."""
        self._counts, self._fit = counts, None
        self._uncounted.clear()


def _fit_tails(counts: Array) -> Array:
    """Surprise as a function of a value's logarithm, from histograms, (N, BINS), as (6, N).

    The logarithm and the surprise at the lower knot; the slope of the surprise between the knots
    and below; the logarithm and the surprise at the upper knot; and the mean excess beyond it.
    """
    # most bins are empty in all traces
    used = np.flatnonzero(counts.any(axis=0))
    first, last = (used[0], used[-1] + 1) if len(used) else (BINS - 1, BINS)
    # from the highest bin down: how many values are in it or higher
    at_least = np.add.accumulate(counts[:, first:last][:, ::-1], axis=1)
    total = at_least[:, -1]
    above = at_least < np.multiply.outer(KNOT_SHARES, total)[..., None]  # (2, N, bins)
    # the highest bin that a share reaches
    knot = above.argmin(axis=-1)
    beyond = at_least[np.arange(len(at_least)), knot]
    # a value is in the middle of its bin, and counts once for each bin that it is higher
    excess = BIN_WIDTH * (beyond / 2 + np.add.reduce(at_least * above, axis=-1))
    mean_excess = (excess + PRIOR_VALUES * PRIOR_EXCESS) / (beyond + PRIOR_VALUES)
    np.maximum(mean_excess, MIN_EXCESS, out=mean_excess)
    np.minimum(mean_excess, MAX_EXCESS, out=mean_excess)
    lower_surprise, upper_surprise = -np.log((beyond + 0.5) / (total + 1))
    lower, upper = _LOGS[last - 1 - knot]
    rise = upper - lower
    between = (upper_surprise - lower_surprise) / np.where(rise > 0, rise, 1)
    slope = np.where(rise > 0, between, 1 / mean_excess[0])
    return np.array([lower, lower_surprise, slope, upper, upper_surprise, mean_excess[1]])
