"""Four plain views of an entity, added up: how far it is out, and how badly three ridges expect it.

None dominates: levels catch what leaves its range, the ridge what breaks its rhythm, the local
ridge what departs from a level that may itself have moved, the wide ridge what breaks a slow
rhythm. Each is taken twice, channel by channel and given what the other channels do, and measured
in units of what is usual for it, so that all of them add. How much each counts is the same for
every entity, but for what is far louder than most on training rows: it is turned down.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError
from subadjacent.model.companions import Companions
from subadjacent.model.ridge import CLIP, SIDES, BandRidge, Rows
from subadjacent.model.sided import SidedRidge
from subadjacent.scoring.loudness import Loudness
from subadjacent.scoring.standardised import SCALES, SPREAD, Usual
from subadjacent.scoring.together import Together

VIEWS = ("level", "ridge", "local", "wide")
# whose residuals are judged for all channels together as well
JUDGED_TOGETHER = "ridge"

# how much a residual counts that is taken given the other channels, beside one taken by itself
GIVEN_WEIGHT = 0.5
# and rows as a whole count as much as one taken by itself
TOTAL_WEIGHT = len(VIEWS) * (1 + GIVEN_WEIGHT) + 1
PARTS = 2 * len(VIEWS) + 1

# the wide ridge: every 16th point from 20 to 400 rows away, or as many further between
WIDE = Band(20, 400)
WIDE_STEP = 16
WIDE_POINTS = 24


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
        return level(rows) if self.ridge is None else self.ridge.residuals(rows)

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
    """What was learned of one entity.

    Parameters
    ----------
    views
        In the order of ``VIEWS``.
    together
        What is usual of all channels together.
    loudness
        How loud each part is on a typical training row, in the order that ``parts`` gives them.
    """

    views: tuple[View, ...]
    together: Together
    loudness: Loudness
    causal: bool

    def surprise(self, rows: Rows) -> NDArray[np.float64]:
        """How surprising each value of a stretch is, (T, C): the mean over all parts."""
        mean = Mean(rows.shape)
        for part in self.parts(rows):
            mean.add(part.surprise, part.judged, part.weight)
        return mean.result()

    @property
    def reach(self) -> int:
        """Rows to either side of a row, at most, that its surprise depends on."""
        models = [model for view in self.views if view.ridge for model in view.ridge.models]
        return max((model.band.far for model in models), default=0) + max(*SCALES, SPREAD)

    def parts(self, rows: Rows) -> Iterator[Part]:
        """What the surprise of a stretch is the weighted mean of, the loud ones turned down."""
        for part, factor in zip(self._parts(rows), self.loudness.factors(), strict=True):
            yield part._replace(surprise=factor * part.surprise)

    def _parts(self, rows: Rows) -> Iterator[Part]:
        """The parts as loud as they come."""
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
        found: dict[str, NDArray[Any]] = {
            f"{name}.together": self.together.squares,
            f"{name}.loudness": np.stack([self.loudness.typical, self.loudness.peers]),
        }
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
        loud, peers = restore_loudness(tensors, f"{name}.loudness", (2, PARTS))
        return cls(views, Together(together), Loudness(loud, peers > 0), causal)


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
        here, step = (Band(WIDE.near, far), wide_step(far)) if kind == "wide" else (band, 1)
        model = BandRidge(here, axes, weights, kind == "local", side, step)
        features = axes.shape[1] * len(model.offsets) + 1
        require_shape(f"{name}.{side}.weights", weights, (features, channels))
        models.append(model)
    gains = tensors[f"{name}.gains"].numpy()
    require_shape(f"{name}.gains", gains, (len(models), channels))
    return SidedRidge(tuple(models), gains)


def wide_step(far: int) -> int:
    """Rows from one neighbour of the wide ridge to the next."""
    return max(WIDE_STEP, (far - WIDE.near) // WIDE_POINTS)


class Mean:
    """The mean over what has been added, at each row over what judges it, (T, C)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.total = np.zeros(shape)
        self.weight = np.zeros((shape[0], 1))

    def add(
        self,
        surprise: NDArray[np.float64],
        judged: NDArray[np.bool_],
        weight: float = 1.0,
        factor: float = 1.0,
    ) -> None:
        """Count in ``factor`` times a part, at the rows that it judges."""
        # the others have a residual of 0 themselves, but averages with those next to them
        self.total += surprise * (weight * factor * judged[:, None])
        self.weight += weight * judged[:, None]

    def result(self) -> NDArray[np.float64]:
        """What all came to."""
        return np.asarray(self.total / self.weight)


def level(rows: Rows) -> Rows:
    """The residual of a value that nothing is expected of."""
    return np.clip(rows, -CLIP, CLIP)


def restore_loudness(tensors: Tensors, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """How loud parts are; 0, at which nothing is turned down, in a model that does not say."""
    if name not in tensors:
        return np.zeros(shape)
    found = np.asarray(tensors[name].numpy(), dtype=np.float64)
    require_shape(name, found, shape)
    if (found < 0).any():
        raise InputError(f"{name} must not be negative; got {found.min()}")
    return found


def require_shape(name: str, found: NDArray[Any], wanted: tuple[int, ...]) -> None:
    """Refuse an array of another shape, or with what is no number."""
    if found.shape != wanted or not np.isfinite(found).all():
        raise InputError(f"{name} must be finite and have shape {wanted}; got {found.shape}")
