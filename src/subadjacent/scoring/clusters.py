"""How dependent neighbouring scores are: clusters of high scores, and the autocorrelation time.

Neighbours are alike, so that high scores come in clusters. A segment of n rows whose high scores
come in clusters of c is worth about n / c independent rows where rare scores are counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HIGH = 0.1
"""Share of the scores that count as high. With half as many the clusters of 200 rows are not seen;
with twice and a half as many, moderate scores count, whose clusters are longer than those of rare
ones, and alarms get rarer than was asked for (the log, "Conformal thresholds and clusters")."""


def cluster_size(scores: NDArray[np.float64]) -> float:
    """The mean number of high scores in a cluster, in rows: 1 where they come one by one.

    This is one over the extremal index, by the intervals estimator of Ferro and Segers (2003,
    "Inference for clusters of extreme values"). Times between high scores that come one by one are
    geometric; clusters make some of them short and others long. What tells them apart is the ratio
    of mean square and squared mean, so that no length of a cluster has to be chosen beforehand.
    """
    # a tie with the level is not above it; where most scores tie, none is high
    high = np.flatnonzero(scores > np.quantile(scores, 1 - HIGH))
    between = np.diff(high) - 1.0
    # high scores side by side are a single cluster, which the estimator cannot handle
    if not (between > 1).any():
        return float(max(len(high), 1))
    squares = (between * (between - 1)).sum()
    return max(float(len(between) * squares / (2 * between.sum() ** 2)), 1.0)


def memory(scores: NDArray[np.float64]) -> float:
    """The autocorrelation time: rows that say as much about a mean as one independent row.

    It is that of ranks, which outliers do not move: one and twice the sum of autocorrelations, up
    to where two in a row add up to nothing (Geyer, 1992, "Practical Markov chain Monte Carlo").
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores)
    ranks -= ranks.mean()
    if not ranks.any():
        return 1.0
    spectrum = np.fft.rfft(ranks, 2 * len(ranks))
    products = np.fft.irfft(np.square(np.abs(spectrum)))[: len(ranks)]
    pairs = products[: len(ranks) // 2 * 2].reshape(-1, 2).sum(axis=1) / products[0]
    ends = np.flatnonzero(pairs <= 0)
    return max(float(2 * pairs[: ends[0] if len(ends) else None].sum() - 1), 1.0)
