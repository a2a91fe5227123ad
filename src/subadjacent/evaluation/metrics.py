"""Measures of rows: how well alarms, or scores at every threshold, fit the labels.

A row is alarmed when its score lies above the threshold, as in every detector. Scores that are
equal are alarmed together, so ties have one answer. What would be 0/0 is nan and stays nan; it is
never turned into a good or a bad result.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.evaluation.adjust import adjust_scores, best_hits_over_k, hits_over_k
from subadjacent.evaluation.inputs import check_predicted, check_scored


class BestF1(NamedTuple):
    """The highest F1 over all thresholds, and the threshold that gives it."""

    f1: float
    threshold: float


def precision(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Share of the alarmed rows that are anomalous; nan when no row is alarmed."""
    alarmed, anomalous = check_predicted(predicted, labels)
    return share((alarmed & anomalous).sum(), alarmed.sum())


def recall(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Share of the anomalous rows that are alarmed; nan when no row is anomalous."""
    alarmed, anomalous = check_predicted(predicted, labels)
    return share((alarmed & anomalous).sum(), anomalous.sum())


def f1(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Harmonic mean of precision and recall; nan without any alarmed or anomalous row.

    Counted as ``2 hits / (alarmed + anomalous)``, which is 0, not 0/0, when there are alarms or
    anomalies but no hit.
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    return share(2 * (alarmed & anomalous).sum(), alarmed.sum() + anomalous.sum())


def harmonic_mean(precision: float, recall: float) -> float:
    """Harmonic mean: nan when both are undefined, 0 when either is 0 or nan.

    As with ``f1``, that is 0 when there are alarms or anomalies but nothing was found.
    """
    if math.isnan(precision) and math.isnan(recall):
        return math.nan
    if not precision > 0 or not recall > 0:
        return 0.0
    return 2 / (1 / precision + 1 / recall)


def best_f1(scores: ArrayLike, labels: ArrayLike) -> BestF1:
    """The highest F1 that any threshold gives, and that threshold; exact, in O(n log n).

    The threshold is picked on the labels: it is not known beforehand. It is itself a score, the
    highest that is not alarmed (just below the lowest score when all rows are), so that
    ``scores > threshold`` gives back this F1. Of several that are as good it is the highest.

    Without anomalies the F1 is nan, and the threshold is one that raises no alarm.
    """
    values, anomalous = check_scored(scores, labels)
    cuts = _every_cut(values, anomalous)
    if not anomalous.any():
        return BestF1(math.nan, float(cuts.scores[0]))
    best = int(np.argmax(2 * cuts.hits / (cuts.alarms + cuts.hits[-1])))
    if best + 1 < len(cuts.scores):
        threshold = float(cuts.scores[best + 1])
    else:
        # the one in math goes to minus infinity without a warning
        threshold = math.nextafter(cuts.scores[best], -math.inf)
    return BestF1(share(2 * cuts.hits[best], cuts.alarms[best] + cuts.hits[-1]), threshold)


def best_point_adjusted_f1(scores: ArrayLike, labels: ArrayLike) -> BestF1:
    """``best_f1`` after point adjustment; exact, in O(n log n).

    ``f1(point_adjust(scores > threshold, labels), labels)`` gives back this F1. For
    comparison with published tables only: long segments make it high for random scores too.
    """
    return best_f1(adjust_scores(scores, labels), labels)


def pa_k_area(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Area under F1 after PA%K over K (Kim et al. 2022), for given alarms.

    K goes from 0 to 100 in whole percent; the 101 values of F1 are joined by straight lines, and
    the area is divided by 100, so that it is a mean F1 between the point-adjusted (K = 0) and the
    plain one (K = 100). nan when no row is alarmed and none anomalous.
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    hits = hits_over_k(alarmed, anomalous)
    false = (alarmed & ~anomalous).sum()
    whole = hits + false + anomalous.sum()
    return _mean_over_k(2 * hits / whole) if whole.all() else math.nan


def best_pa_k_area(scores: ArrayLike, labels: ArrayLike) -> float:
    """``pa_k_area`` of the best F1 over all thresholds, the threshold chosen anew for each K.

    Each of the 101 values is ``best_f1(adjust_scores(scores, labels, k), labels).f1``, but the
    scores are sorted once. nan when no row is anomalous.
    """
    values, anomalous = check_scored(scores, labels)
    if not anomalous.any():
        return math.nan
    # F1 is highest at a threshold just below an anomalous row: others only add false alarms
    normal = np.sort(values[~anomalous])
    levels = np.unique(values[anomalous])[::-1]
    false = len(normal) - np.searchsorted(normal, levels)
    fixed = false + anomalous.sum()
    best = [(2 * hits / (hits + fixed)).max() for hits in best_hits_over_k(values, anomalous)]
    return _mean_over_k(np.array(best))


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    """Precision at every threshold, weighted by the recall gained there.

    A random score gets the share of anomalous rows. nan when no row is anomalous; 1 when all are.
    """
    values, anomalous = check_scored(scores, labels)
    if not anomalous.any():
        return math.nan
    cuts = _every_cut(values, anomalous)
    gained = np.diff(cuts.hits, prepend=0)
    return float((gained * (cuts.hits / cuts.alarms)).sum() / cuts.hits[-1])


def auroc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Chance that an anomalous row scores higher than a normal one; a tie counts half.

    A random score gets one half. nan when no row is anomalous, or all are.
    """
    values, anomalous = check_scored(scores, labels)
    cuts = _every_cut(values, anomalous)
    hits = np.diff(cuts.hits, prepend=0)
    false = np.diff(cuts.alarms, prepend=0) - hits
    lower = false.sum() - np.cumsum(false)
    # whole numbers until the last step: no rounding, whatever the order of the rows
    return share((hits * (2 * lower + false)).sum(), 2 * hits.sum() * false.sum())


class _Cuts(NamedTuple):
    """All thresholds of some scores, one per distinct score, from few alarms to many."""

    scores: NDArray[np.float64]  # the lowest that is still alarmed
    alarms: NDArray[np.int64]
    hits: NDArray[np.int64]  # alarmed rows that are anomalous


def _every_cut(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> _Cuts:
    order = np.argsort(scores)[::-1]
    falling = scores[order]
    last_of_ties = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    hits = np.cumsum(labels[order], dtype=np.int64)[last_of_ties]
    return _Cuts(falling[last_of_ties], last_of_ties.astype(np.int64) + 1, hits)


def _mean_over_k(f1s: NDArray[np.float64]) -> float:
    return float((f1s[1:] + f1s[:-1]).mean() / 2)


def share(part: Any, whole: Any) -> float:
    """A quotient; nan when the whole is 0."""
    return float(part / whole) if whole else math.nan
