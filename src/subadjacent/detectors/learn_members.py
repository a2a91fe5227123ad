"""Learn the plain views of an entity, and what they make of rows they had not seen.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.detectors.members import (
    GIVEN_WEIGHT,
    JUDGED_TOGETHER,
    WIDE,
    WIDE_STEP,
    Mean,
    Members,
    View,
    level,
    wide_step,
)
from subadjacent.model.ridge import Rows, main_axes
from subadjacent.scoring.standardised import learn_usual
from subadjacent.scoring.together import learn_together
from subadjacent.training.companions import fit_companions
from subadjacent.training.period import dominant_period
from subadjacent.training.sided import SidedFit, fit_sided

# the wide ridge reaches over so many cycles, and over one in so many of the rows at most
CYCLES = 1.2
SHARE = 10


def fit_members(
    parts: Sequence[Rows], band: Band, *, causal: bool
) -> tuple[Members, list[NDArray[np.float64]]]:
    """Learn from an entity's stretches; also their surprise to models that had not seen them."""
    # in the order of VIEWS
    fits: dict[str, SidedFit | None] = {
        "level": None,
        "ridge": fit_sided(parts, band, local=False, causal=causal),
        "local": fit_sided(parts, band, local=True, causal=causal),
        "wide": _fit_wide(parts, causal=causal),
    }
    means = [Mean(part.shape) for part in parts]
    views = []
    for kind, fit in fits.items():
        residuals, judged = _unseen(fit, parts)
        companions, left = fit_companions(residuals, judged)
        alone = learn_usual(residuals, causal=causal, judged=judged)
        given = learn_usual(left, causal=causal, judged=judged)
        ridge = None if fit is None else fit.ridge
        views.append(View(ridge, companions, alone.usual, given.usual))
        found = [(alone.surprise, 1.0), (given.surprise, GIVEN_WEIGHT)]
        if kind == JUDGED_TOGETHER:
            together = learn_together(residuals, judged, causal=causal)
            found.append((together.surprise, 1.0))
        for surprise, weight in found:
            for mean, one, where in zip(means, surprise, judged, strict=True):
                mean.add(one, where, weight)
    return Members(tuple(views), together.together, causal), [mean.result() for mean in means]


def _fit_wide(parts: Sequence[Rows], *, causal: bool) -> SidedFit:
    """A wide ridge that reaches as far as there are rows for, or one of no model."""
    longest = max(parts, key=len)
    cycle = dominant_period(level(longest), main_axes(list(parts))) or 0
    far = min(max(WIDE.far, round(CYCLES * cycle)), len(longest) // SHARE)
    if far < WIDE.near + WIDE_STEP:
        return SidedFit.of_nothing(parts)
    band = Band(WIDE.near, far)
    return fit_sided(parts, band, local=False, causal=causal, step=wide_step(far))


def _unseen(
    fit: SidedFit | None, parts: Sequence[Rows]
) -> tuple[list[Rows], list[NDArray[np.bool_]]]:
    """Residuals of rows not learned from, and which rows have one."""
    if fit is None:
        return [level(part) for part in parts], [np.ones(len(part), dtype=bool) for part in parts]
    return fit.unseen, [fit.ridge.judged(len(part)) for part in parts]
