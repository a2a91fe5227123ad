"""Four plain views of an entity, added up: how far it is out, and how badly three ridges expect it.

None dominates: levels catch what leaves its range, the ridge what breaks its rhythm, the local
ridge what departs from a level that may itself have moved, the wide ridge what breaks a slow
rhythm. Each is taken twice, channel by channel and given what the other channels do, and measured
in units of what is usual for it, so that all of them add.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError
from subadjacent.model.companions import Companions
from subadjacent.model.ridge import CLIP, SIDES, BandRidge, Rows, main_axes
from subadjacent.model.sided import SidedRidge
from subadjacent.scoring.standardised import SCALES, SPREAD, Usual, learn_usual
from subadjacent.scoring.together import Together, learn_together
from subadjacent.training.companions import fit_companions
from subadjacent.training.period import dominant_period
from subadjacent.training.sided import SidedFit, fit_sided

VIEWS = ("level", "ridge", "local", "wide")
# whose residuals are judged for all channels together as well
JUDGED_TOGETHER = "ridge"

# how much a residual counts that is taken given the other channels, beside one taken by itself
GIVEN_WEIGHT = 0.5
# and rows as a whole count as much as one taken by itself
TOTAL_WEIGHT = len(VIEWS) * (1 + GIVEN_WEIGHT) + 1

# the wide ridge: every 16th point from 20 to 400 rows away, or, fewer and further between, a cycle
# and a fifth away; never more than a tenth of the rows that are there to learn from
WIDE = Band(20, 400)
WIDE_STEP = 16
WIDE_POINTS = 24
WIDE_CYCLES = 1.2
WIDE_SHARE = 10


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What leaves a residual, how residuals of channels go together, and what is usual.

    Parameters
    ----------
    ridge
        Leaves a residual; without one, how far out a value is counts as such.
    companions
        Expects a channel's residual from the others'.
    alone, given
        What is usual of residuals as they are, and of what companions leave of them.
    """

    ridge: SidedRidge | None
    companions: Companions
    alone: Usual
    given: Usual

    def residuals(self, rows: Rows) -> Rows:
        """Of a stretch's rows, (T, C); 0 where nothing judges a row."""
        return _level(rows) if self.ridge is None else self.ridge.residuals(rows)

    def judged(self, rows: int) -> NDArray[np.bool_]:
        """Which rows of a stretch have a residual at all."""
        return np.ones(rows, dtype=bool) if self.ridge is None else self.ridge.judged(rows)


class Part(NamedTuple):
    """How surprising values are in one view, in one form, (T, C); which rows it judges, (T)."""

    view: str
    form: str
    surprise: NDArray[np.float64]
    judged: NDArray[np.bool_]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """What was learned of one entity: the views, and what is usual of all channels together."""

    views: tuple[View, ...]
    together: Together
    causal: bool

    def surprise(self, rows: Rows) -> NDArray[np.float64]:
        """How surprising each value of a stretch is, (T, C): the mean over all parts."""
        mean = _Mean(rows.shape)
        for part in self.parts(rows):
            mean.add(part.surprise, part.judged, part.weight)
        return mean.result()

    @property
    def reach(self) -> int:
        """Rows to either side of a row, at most, that its surprise depends on."""
        models = [model for view in self.views if view.ridge for model in view.ridge.models]
        return max((model.band.far for model in models), default=0) + max(*SCALES, SPREAD)

    def parts(self, rows: Rows) -> Iterator[Part]:
        """What the surprise of a stretch is the weighted mean of."""
        for kind, view in zip(VIEWS, self.views, strict=True):
            residuals, judged = view.residuals(rows), view.judged(len(rows))
            yield Part(kind, "alone", view.alone.surprise(residuals, causal=self.causal), judged)
            left = view.companions.left(residuals)
            given = view.given.surprise(left, causal=self.causal)
            yield Part(kind, "given", given, judged, GIVEN_WEIGHT)
            if kind == JUDGED_TOGETHER:
                together = self.together.surprise(residuals, causal=self.causal)
                yield Part(kind, "together", together, judged)

    def expected(self, rows: Rows) -> Rows:
        """What the local ridge expects, (T, C), in the rows' own units."""
        local = self.views[VIEWS.index("local")].ridge
        assert local is not None
        return local.expected(rows)

    def tensors(self, name: str) -> Tensors:
        """All arrays, by name."""
        found: dict[str, NDArray[Any]] = {f"{name}.together": self.together.squares}
        for kind, view in zip(VIEWS, self.views, strict=True):
            usual = np.stack([view.alone.array(), view.given.array()])
            found |= {f"{name}.{kind}.usual": usual}
            found |= {f"{name}.{kind}.companions": view.companions.weights}
            if view.ridge is None:
                continue
            found[f"{name}.{kind}.gains"] = view.ridge.gains
            for model in view.ridge.models:
                found[f"{name}.{kind}.{model.side}.axes"] = model.axes
                found[f"{name}.{kind}.{model.side}.weights"] = model.weights
                found[f"{name}.{kind}.{model.side}.far"] = np.array(model.band.far)
        # copies: a file must not hold one array under two names, as for a single entity
        return {key: torch.from_numpy(np.array(one, order="C")) for key, one in found.items()}

    @classmethod
    def restore(
        cls, tensors: Tensors, name: str, band: Band, channels: int, *, causal: bool
    ) -> Members:
        """The inverse of ``tensors``; refuses arrays that do not fit."""
        together = tensors[f"{name}.together"].numpy()
        require_shape(f"{name}.together", together, (2, len(SCALES)))
        views = tuple(_restore_view(tensors, name, kind, band, channels) for kind in VIEWS)
        return cls(views, Together(together), causal)


def _restore_view(tensors: Tensors, name: str, kind: str, band: Band, channels: int) -> View:
    usual = tensors[f"{name}.{kind}.usual"].numpy()
    require_shape(f"{name}.{kind}.usual", usual, (2, len(SCALES) + 1, channels))
    companions = tensors[f"{name}.{kind}.companions"].numpy()
    require_shape(f"{name}.{kind}.companions", companions, (channels, channels))
    ridge = None
    if kind != "level":
        ridge = _restore_ridge(tensors, f"{name}.{kind}", kind, band, channels)
    alone, given = (Usual.from_array(one) for one in usual)
    return View(ridge, Companions(companions), alone, given)


def _restore_ridge(tensors: Tensors, name: str, kind: str, band: Band, channels: int) -> SidedRidge:
    models = []
    for side in SIDES:
        if f"{name}.{side}.axes" not in tensors:
            continue
        axes, weights = (tensors[f"{name}.{side}.{part}"].numpy() for part in ("axes", "weights"))
        require_shape(f"{name}.{side}.axes", axes, (channels, axes.shape[-1]))
        far = int(tensors[f"{name}.{side}.far"])
        here, step = (Band(WIDE.near, far), _wide_step(far)) if kind == "wide" else (band, 1)
        model = BandRidge(here, axes, weights, kind == "local", side, step)
        features = axes.shape[1] * len(model.offsets) + 1
        require_shape(f"{name}.{side}.weights", weights, (features, channels))
        models.append(model)
    gains = tensors[f"{name}.gains"].numpy()
    require_shape(f"{name}.gains", gains, (len(models), channels))
    return SidedRidge(tuple(models), gains)


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
    means = [_Mean(part.shape) for part in parts]
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
    cycle = dominant_period(_level(longest), main_axes(list(parts))) or 0
    far = min(max(WIDE.far, round(WIDE_CYCLES * cycle)), len(longest) // WIDE_SHARE)
    if far < WIDE.near + WIDE_STEP:
        return SidedFit.of_nothing(parts)
    band = Band(WIDE.near, far)
    return fit_sided(parts, band, local=False, causal=causal, step=_wide_step(far))


def _wide_step(far: int) -> int:
    """Rows from one neighbour of the wide ridge to the next."""
    return max(WIDE_STEP, (far - WIDE.near) // WIDE_POINTS)


class _Mean:
    """The mean over what has been added, at each row over what judges it."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.total = np.zeros(shape)
        self.weight = np.zeros((shape[0], 1))

    def add(
        self, surprise: NDArray[np.float64], judged: NDArray[np.bool_], weight: float = 1.0
    ) -> None:
        # rows that are not judged have a residual of 0 themselves, but averages with others
        self.total += surprise * (weight * judged[:, None])
        self.weight += weight * judged[:, None]

    def result(self) -> NDArray[np.float64]:
        return np.asarray(self.total / self.weight)


def _unseen(
    fit: SidedFit | None, parts: Sequence[Rows]
) -> tuple[list[Rows], list[NDArray[np.bool_]]]:
    """Residuals of rows not learned from, and which rows have one."""
    if fit is None:
        return [_level(part) for part in parts], [np.ones(len(part), dtype=bool) for part in parts]
    return fit.unseen, [fit.ridge.judged(len(part)) for part in parts]


def _level(rows: Rows) -> Rows:
    return np.clip(rows, -CLIP, CLIP)


def require_shape(name: str, found: NDArray[Any], wanted: tuple[int, ...]) -> None:
    """Refuse an array of another shape, or with what is no number."""
    if found.shape != wanted or not np.isfinite(found).all():
        raise InputError(f"{name} must be finite and have shape {wanted}; got {found.shape}")
