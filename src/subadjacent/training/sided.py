"""Fit ridges for every side that neighbours may stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.model.ridge import SIDES, BandRidge, Rows
from subadjacent.model.sided import SidedRidge
from subadjacent.training.ridge import PENALTIES, Fit, fit_ridge

# squares below this, in standardised units, are alike
LEAST = 1e-3
# where fewer rows than this are judged, what is usual of their averages says nothing about others
LEAST_SHARE = 0.5


class SidedFit(NamedTuple):
    """Fitted ridges, and their residuals on rows they had not seen."""

    ridge: SidedRidge
    unseen: list[Rows]

    @classmethod
    def of_nothing(cls, parts: Sequence[Rows]) -> SidedFit:
        """No model, and no row judged."""
        ridge = SidedRidge((), np.zeros((0, parts[0].shape[1])))
        return cls(ridge, [np.zeros_like(part) for part in parts])


def fit_sided(
    parts: Sequence[Rows], band: Band, *, local: bool, causal: bool, step: int = 1
) -> SidedFit:
    """From stretches of one entity; of no model where too few rows have all their neighbours."""
    fits: list[Fit] = []
    for side in ("before",) if causal else SIDES:
        # the one-sided ones serve a few rows: the penalty chosen for the first will do
        penalties = (fits[0].penalty,) if fits else PENALTIES
        fit = fit_ridge(parts, band, local=local, side=side, step=step, penalties=penalties)
        if fit is not None:
            fits.append(fit)
    if _judged_share([fit.model for fit in fits], parts) < LEAST_SHARE:
        return SidedFit.of_nothing(parts)
    squares = np.array([_mean_square(fit, parts) for fit in fits])
    gains = np.sqrt((squares[:1] + LEAST) / (squares + LEAST))
    ridge = SidedRidge(tuple(fit.model for fit in fits), gains)
    unseen = [
        ridge.compose([fit.unseen[number] for fit in fits], part, gains)
        for number, part in enumerate(parts)
    ]
    return SidedFit(ridge, unseen)


def _judged_share(models: Sequence[BandRidge], parts: Sequence[Rows]) -> float:
    """The share of rows that any of the models judges."""
    ridge = SidedRidge(tuple(models), np.zeros((0, 0)))
    judged = sum(int(ridge.judged(len(part)).sum()) for part in parts)
    return judged / sum(map(len, parts))


def _mean_square(fit: Fit, parts: Sequence[Rows]) -> NDArray[np.float64]:
    """Of each channel's residuals, over the rows that were judged."""
    judged = [
        one[fit.model.complete(len(part))] for one, part in zip(fit.unseen, parts, strict=True)
    ]
    return np.asarray(np.mean(np.square(np.concatenate(judged), dtype=np.float64), axis=0))
