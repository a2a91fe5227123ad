"""Range-based precision and recall (Tatbul et al. 2018): each run of rows counts once.

A real range is a run of anomalous rows, a predicted range a run of alarmed ones. Recall is the
mean over real ranges of what was found of each, precision the mean over predicted ranges of what
was right about each. How much of a range counts as covered depends on

``bias``
    where in the range it was covered. With i the place from 1 to the length L, a row weighs 1
    (``"flat"``), L - i + 1 (``"front"``: early is better), i (``"back"``), or the smaller of both
    (``"middle"``).
``cardinality``
    in how many pieces: with c of them the covered share is taken as it is (``"one"``) or divided
    by c (``"reciprocal"``).
``alpha``
    recall alone: the part of the reward that goes to a range for having been touched at all.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subadjacent.errors import InputError, require_number
from subadjacent.evaluation.inputs import check_predicted
from subadjacent.evaluation.metrics import harmonic_mean
from subadjacent.evaluation.segments import segments

Bias = Literal["flat", "front", "middle", "back"]
Cardinality = Literal["one", "reciprocal"]


def range_precision(
    predicted: ArrayLike,
    labels: ArrayLike,
    *,
    cardinality: Cardinality = "reciprocal",
    bias: Bias = "flat",
) -> float:
    """Mean covered share of the predicted ranges; nan when no row is alarmed."""
    alarmed, anomalous = check_predicted(predicted, labels)
    return _reward(alarmed, anomalous, 0.0, cardinality, bias)


def range_recall(
    predicted: ArrayLike,
    labels: ArrayLike,
    *,
    alpha: float = 0.0,
    cardinality: Cardinality = "reciprocal",
    bias: Bias = "flat",
) -> float:
    """Mean reward of the real ranges; nan when no row is anomalous.

    >>> range_recall([1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 1, 0], cardinality="one")
    0.5
    >>> range_recall([1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 1, 0], alpha=0.5)
    0.625
    """
    alarmed, anomalous = check_predicted(predicted, labels)
    require_number("alpha", alpha, least=0, most=1)
    return _reward(anomalous, alarmed, float(alpha), cardinality, bias)


def range_f1(
    predicted: ArrayLike,
    labels: ArrayLike,
    *,
    alpha: float = 0.0,
    cardinality: Cardinality = "reciprocal",
    bias: Bias = "flat",
    precision_bias: Bias = "flat",
) -> float:
    """Harmonic mean of range-based precision and recall; nan without alarms and anomalies.

    ``bias`` is that of the recall: early detection may matter, an early false alarm does not.
    """
    return harmonic_mean(
        range_precision(predicted, labels, cardinality=cardinality, bias=precision_bias),
        range_recall(predicted, labels, alpha=alpha, cardinality=cardinality, bias=bias),
    )


def _reward(
    ranges: NDArray[np.bool_],
    cover: NDArray[np.bool_],
    alpha: float,
    cardinality: Any,
    bias: Any,
) -> float:
    """Mean reward of all ranges for the rows that cover them."""
    if cardinality not in get_args(Cardinality):
        allowed = get_args(Cardinality)
        raise InputError(f"cardinality must be one of {allowed}; got {cardinality!r}")
    if bias not in get_args(Bias):
        raise InputError(f"bias must be one of {get_args(Bias)}; got {bias!r}")
    bounds = segments(ranges)
    if not len(bounds):
        return math.nan
    starts, lengths = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
    # a run of rows that are in both lies in one range of each kind: it is one overlap
    pieces = segments(ranges & cover)
    owner = np.searchsorted(starts, pieces[:, 0], side="right") - 1
    inside = pieces - starts[owner, None]
    weights = _weight(inside[:, 1], lengths[owner], bias) - _weight(
        inside[:, 0], lengths[owner], bias
    )
    covered = np.bincount(owner, weights, minlength=len(bounds)) / _weight(lengths, lengths, bias)
    count = np.bincount(owner, minlength=len(bounds))
    if cardinality == "reciprocal":
        covered /= np.maximum(count, 1)
    return float(np.mean(alpha * (count > 0) + (1 - alpha) * covered))


def _weight(rows: NDArray[np.int64], lengths: NDArray[np.int64], bias: Bias) -> NDArray[np.float64]:
    """Summed weight of the first ``rows`` rows of ranges of these lengths."""
    if bias == "flat":
        return rows.astype(np.float64)
    rising = _triangle(rows)
    left = _triangle(lengths - rows)
    if bias == "back":
        return rising
    if bias == "front":
        return _triangle(lengths) - left
    half = lengths // 2
    whole = _triangle(half) + _triangle(lengths - half)
    return np.where(rows <= half, rising, whole - left)


def _triangle(n: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 + 2 + ... + n."""
    return n * (n + 1) / 2
