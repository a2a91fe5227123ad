"""Peaks over threshold: how high scores go on rare occasions, assessed from those that went high.

Excesses over a high level follow a generalised Pareto distribution, whatever the scores follow;
Siffer et al. 2017 ("Anomaly Detection in Streams with Extreme Value Theory") turn that into a
level for any small probability. Written from their equations.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import boxcox, inv_boxcox

from subadjacent.decision.quantiles import quantiles
from subadjacent.errors import InputError, require_number, require_whole

MIN_PEAKS = 30
"""Fewer peaks do not tell a shape: with 10 to 30 an exponential tail came nearer to the asked
risk, on average over normal, exponential, chi-square, Student t and squared t scores."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Scores above ``base``: how often they come and how far they go.

    Parameters
    ----------
    base
        The level over which the peaks were taken.
    shape
        Siffer's gamma: 0 is exponential, above is heavier, below ends at a highest score.
    scale
        Siffer's sigma: how far a typical peak rises above ``base``. 0 when there was none.
    rate
        Peaks per row. 0 when there was none.
    """

    base: float
    shape: float
    scale: float
    rate: float

    def __post_init__(self) -> None:
        require_number("base", self.base)
        require_number("shape", self.shape)
        require_number("scale", self.scale, least=0)
        require_fraction("rate", self.rate)

    def level(self, risk: float) -> float:
        """The score that a row, or a cluster that starts in it, exceeds with chance ``risk``.

        This is Eq. 1 of Siffer et al., ``base + scale / shape * ((rate / risk) ** shape - 1)``,
        by way of ``boxcox``, which goes over into ``log`` as the shape goes to 0. It is ``base``
        where the risk is no rarer than the peaks: a tail knows nothing below its base.
        """
        require_number("risk", risk, above=0)
        if risk >= self.rate:
            return self.base
        # plain floats: a product that is too large is infinite without a warning
        rise = self.scale * float(boxcox(self.rate / float(risk), self.shape))
        return min(self.base + rise, sys.float_info.max)

    def chance(self, score: float) -> float:
        """The chance that a row, or a cluster that starts in it, exceeds a score.

        The inverse of ``level`` above the base of the tail; 1 below it.
        """
        if score < self.base:
            return 1.0
        if self.scale == 0:
            return self.rate if score == self.base else 0.0
        rise = (score - self.base) / self.scale
        # the end of a tail that has one
        if 1 + self.shape * rise <= 0:
            return 0.0
        return self.rate / float(inv_boxcox(rise, self.shape))


def check_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores as a float64 array, refused unless they are one-dimensional, finite and there."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be numbers; {error}") from error
    if values.ndim != 1 or not len(values):
        raise InputError(f"scores must be 1-d, at least one; got shape {values.shape}")
    finite = np.isfinite(values)
    if not finite.all():
        row = int(finite.argmin())
        raise InputError(f"scores must be finite; got {values[row]} in row {row}")
    return values


def require_fraction(name: str, value: float) -> None:
    """Refuse anything but a number from 0 to 1."""
    require_number(name, value, least=0)
    if value > 1:
        raise InputError(f"{name} must be at most 1; got {value!r}")


def cluster_peaks(scores: NDArray[np.float64], level: float, run: int = 1) -> NDArray[np.float64]:
    """The highest score of every cluster of rows above the level, in time order.

    Rows above the level that are closer than ``run`` rows belong together: with 1 every row is
    a cluster of its own.
    """
    require_whole("run", run, least=1)
    rows = np.flatnonzero(scores > level)
    if not len(rows):
        return scores[:0]
    first = np.flatnonzero(np.diff(rows, prepend=rows[0] - run) >= run)
    return np.maximum.reduceat(scores[rows], first)


def fit_tail(scores: ArrayLike, level_quantile: float = 0.98, run: int = 1) -> Tail:
    """Tail of the scores above one of their quantiles.

    The shape is scipy's maximum-likelihood fit. Where there is no trusting it (fewer than
    ``MIN_PEAKS`` peaks; a lump of equal peaks at the top; a shape above 1, whose mean is
    infinite) the tail is exponential with the mean excess: with that, outliers that make up a
    share ``f`` of the peaks stay above ``level(risk)`` while ``f * log(rate / risk) < 1``, be
    they large or huge. Where no score is above the quantile, the level is the highest score.

    Parameters
    ----------
    scores
        One a row, in time order; high = abnormal.
    level_quantile
        Peaks are taken over this quantile of the scores.
    run
        Peaks closer than this many rows count once, by their highest; ``rate`` is then clusters
        per row, and ``risk`` the chance that one starts in a row. 1 counts every row.
    """
    values = check_scores(scores)
    require_fraction("level_quantile", level_quantile)
    (base,) = quantiles(values, (level_quantile,))
    peaks = cluster_peaks(values, base, run)
    if not len(peaks):
        return Tail(float(values.max()), shape=0.0, scale=0.0, rate=0.0)
    excess = peaks - base
    mean = float(excess.mean())
    shape, scale = _fit_shape(excess / mean)
    return Tail(base, shape, scale * mean, rate=len(peaks) / len(values))


def _fit_shape(excess: NDArray[np.float64]) -> tuple[float, float]:
    """Shape and scale of excesses whose mean is 1."""
    exponential = 0.0, 1.0
    highest = float(excess.max())
    # peaks that crowd at their highest would have a level below them and all be alarms
    lump = highest < 1.5 or np.count_nonzero(excess == highest) > 1
    if len(excess) < MIN_PEAKS or lump:
        return exponential
    from scipy.stats import FitError, genpareto

    try:
        shape, _, scale = map(float, genpareto.fit(excess, floc=0))
    except FitError:
        return exponential
    if shape < -1:
        # the likelihood has no maximum there; at -1 scores are uniform up to the highest
        return -1.0, highest
    fits = np.mean(genpareto.logpdf(excess, shape, scale=scale))
    # the exponential, which has log-likelihood -1 a peak, is among the candidates: a worse
    # result is a search that went astray
    return (shape, scale) if shape <= 1 and fits >= -1 else exponential
