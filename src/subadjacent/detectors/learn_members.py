"""Learn the plain views of an entity, and what they make of rows they had not seen.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
from subadjacent.model.companions import Companions
from subadjacent.model.ridge import Rows, main_axes
from subadjacent.scoring.loudness import Loudness, typical
from subadjacent.scoring.standardised import SOFTNESS, Usual, learn_usual
from subadjacent.scoring.together import SOFTNESS as SOFTNESS_TOGETHER
from subadjacent.scoring.together import Together, learn_together
from subadjacent.training.companions import fit_companions
from subadjacent.ridge.period import dominant_period
from subadjacent.training.sided import SidedFit, fit_sided

# the wide ridge reaches over so many cycles, and over one in so many of the rows at most
CYCLES = 1.2
SHARE = 10

# rows that tell how loud a part is, in pieces of so many: what all of them make is known later
ENOUGH = 5_000
PIECE = 500


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
    samples = {
        kind: _learn(kind, *_some(*_unseen(fit, parts)), causal=causal)
        for kind, fit in fits.items()
    }
    every = [part for found in samples.values() for part in found.parts]
    loudness = Loudness(
        np.array([part.typical() for part in every]),
        np.array([all(where.all() for where in part.judged) for part in every]),
    )
    factors = iter(loudness.factors())
    means = [Mean(part.shape) for part in parts]
    views, together = [], None
    for kind, fit in fits.items():
        residuals, judged = _unseen(fit, parts)
        found = samples.pop(kind)
        if not _few(parts):
            found = _learn(kind, residuals, judged, causal=causal)
        ridge = None if fit is None else fit.ridge
        views.append(View(ridge, found.companions, found.alone, found.given))
        together = found.together or together
        for part in found.parts:
            factor = next(factors)
            for mean, one, where in zip(means, part.surprise, judged, strict=True):
                mean.add(one, where, part.weight, factor)
    assert together is not None
    members = Members(tuple(views), together, loudness, causal)
    return members, [mean.result() for mean in means]


class _Part(NamedTuple):
    """What one part makes of rows, (T, C) a stretch."""

    surprise: list[NDArray[np.float64]]
    judged: list[NDArray[np.bool_]]
    softness: float
    weight: float = 1.0

    def typical(self) -> float:
        """How loud it is on a typical row."""
        return typical(self.surprise, self.judged, self.softness)


class _Found(NamedTuple):
    """What was learned of a view's residuals, and what its parts make of them."""

    companions: Companions
    alone: Usual
    given: Usual
    together: Together | None
    parts: list[_Part]


def _learn(
    kind: str, residuals: list[Rows], judged: list[NDArray[np.bool_]], *, causal: bool
) -> _Found:
    """From residuals of rows not learned from."""
    companions, left = fit_companions(residuals, judged)
    alone = learn_usual(residuals, causal=causal, judged=judged)
    given = learn_usual(left, causal=causal, judged=judged)
    # in the order of Members.parts
    parts = [
        _Part(alone.surprise, judged, SOFTNESS),
        _Part(given.surprise, judged, SOFTNESS, GIVEN_WEIGHT),
    ]
    if kind != JUDGED_TOGETHER:
        return _Found(companions, alone.usual, given.usual, None, parts)
    whole = learn_together(residuals, judged, causal=causal)
    parts.append(_Part(whole.surprise, judged, SOFTNESS_TOGETHER))
    return _Found(companions, alone.usual, given.usual, whole.together, parts)


def _some(
    residuals: list[Rows], judged: list[NDArray[np.bool_]]
) -> tuple[list[Rows], list[NDArray[np.bool_]]]:
    """Pieces from all over the rows, or all of them if they are few."""
    if _few(residuals):
        return residuals, judged
    step = sum(map(len, residuals)) // ENOUGH
    some, of_some, left = [], [], 0
    for one, where in zip(residuals, judged, strict=True):
        for at in range(0, len(one), PIECE):
            part = slice(at, at + PIECE)
            if left <= 0:
                some.append(one[part])
                of_some.append(where[part])
                # rows, not pieces: stretches may be as short as a row
                left += step * len(some[-1])
            left -= len(where[part])
    return some, of_some


def _few(parts: Sequence[Rows]) -> bool:
    return sum(map(len, parts)) < 2 * ENOUGH


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
