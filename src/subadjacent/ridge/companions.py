"""The residuals of each channel, given those of the other channels in the same row.

Residuals of channels that move together are expected from each other: a relation that breaks shows
even where every channel by itself stays within its expected range.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.ridge.axes import FoldSums, RowSums

# residuals are clipped to this where relations are applied: one channel that is far out must not
# put all others out
CLIP = 30.0
# share of the mean variance added to every channel's: relations of a few rows are unreliable.
# A plateau from a tenth of it to three times (reproduce/log.md, "The default detector")
SHRINKAGE = 0.1
# of more channels than this share of the rows, their number over that of the rows, which is best
# where relations are as strong as chance; or more of it, which the folds choose
TIMES = (1.0, 3.0, 10.0, 30.0, 100.0)
# the least that is added, in squared standard deviations
MIN_VARIANCE = 1e-3

Residuals = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Expects each channel's residual from the others', in a linear way.

    Parameters
    ----------
    weights
        ``weights @ e`` are the residuals of a row e given the others, (C, C); 1 on the diagonal.
    """

    weights: NDArray[np.float32]

    def unexplained(self, residuals: Residuals) -> NDArray[np.float32]:
        """The residual of each channel, given those of the other channels, (T, C)."""
        # in float64, so that a row's residuals do not depend on how many rows are handled together
        within = np.clip(residuals, -CLIP, CLIP, dtype=np.float64)
        return np.asarray(within @ self.weights.T, dtype=np.float32)


class CompanionsFit(NamedTuple):
    """Fitted relations, and the residuals of each row by relations fitted without it."""

    companions: Companions
    unseen: list[NDArray[np.float32]]


def fit_companions(
    segments: Sequence[Residuals], assessed: Sequence[NDArray[np.bool_]]
) -> CompanionsFit:
    """Fit to the rows that have a residual; other rows stay 0.

    The rows are cut into contiguous folds; the residuals of a fold's rows are by relations fitted
    to the other folds.
    """
    # not copied where all are assessed
    some = [
        segment if rows.all() else segment[rows]
        for segment, rows in zip(segments, assessed, strict=True)
    ]
    rows = np.concatenate(some) if len(some) > 1 else some[0]
    sums = FoldSums([rows])
    trial = _choose_shrinkage(sums)
    # all segments in one array, which is filled fold by fold
    left = np.zeros((sum(map(len, segments)), segments[0].shape[1]), dtype=np.float32)
    places = np.flatnonzero(np.concatenate(assessed))
    for companions, (first, last) in zip(trial.companions, sums.bounds, strict=True):
        left[places[first:last]] = companions.unexplained(rows[first:last])
    ends = np.cumsum([len(segment) for segment in segments])[:-1]
    return CompanionsFit(_solve(sums.everything, trial.times), np.split(left, ends))


class _ShrinkageTrial(NamedTuple):
    """The factor of the shrinkage, the relations outside each fold, and their error."""

    times: float
    companions: list[Companions]
    error: float


def _choose_shrinkage(sums: FoldSums) -> _ShrinkageTrial:
    """The shrinkage of least error on held-out rows, all channels counting alike.

    Errors fall and then rise along the shrinkages. Where rows are many against channels there is
    nothing to choose: relations are well known, whether or not they hold in all folds.
    """
    every_fold = range(len(sums.bounds))
    baseline = np.diag(sums.everything.products) + MIN_VARIANCE * max(sums.everything.rows, 1)

    def attempt(times: float) -> _ShrinkageTrial:
        companions = [_solve(sums.outside(fold), times) for fold in every_fold]
        errors = [
            np.einsum("ij,ij->i", fitted.weights @ sums.inside(fold).products, fitted.weights)
            for fold, fitted in zip(every_fold, companions, strict=True)
        ]
        return _ShrinkageTrial(times, companions, float((np.sum(errors, axis=0) / baseline).sum()))

    best = attempt(TIMES[0])
    if len(baseline) <= SHRINKAGE * sums.everything.rows:
        return best
    for times in TIMES[1:]:
        trial = attempt(times)
        if trial.error >= best.error:
            break
        best = trial
    return best


def _solve(sums: RowSums, times: float) -> Companions:
    """Each channel's regression on all others, from one inverse."""
    covariance = sums.covariance
    channels = len(covariance)
    share = times * max(SHRINKAGE, channels / max(sums.rows, 1))
    added = share * np.trace(covariance) / channels + MIN_VARIANCE
    precision = np.linalg.inv(covariance + added * np.eye(channels))
    weights = precision / np.diag(precision)[:, None]
    return Companions(np.ascontiguousarray(weights, dtype=np.float32))
