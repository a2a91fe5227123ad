"""Three plain views of an entity, added up: how far it is out, and how badly two ridges expect it.

None dominates: levels catch what leaves its range, the ridge what breaks its rhythm, the local
ridge what departs from a level that may itself have moved. Each is measured in units of what is
usual for it, so that they add.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from subadjacent.core.band import Band
from subadjacent.detectors.persist import Tensors
from subadjacent.errors import InputError
from subadjacent.model.ridge import CLIP, SIDES, BandRidge, Rows
from subadjacent.scoring.standardised import FLOOR, SCALES, Usual, learn_usual
from subadjacent.training.ridge import PENALTIES, Fit, fit_ridge

VIEWS = ("level", "ridge", "local")


@dataclass(frozen=True, slots=True, eq=False)
class RidgeView:
    """A ridge for the middle of a stretch, and one-sided ones for where it begins and ends.

    Parameters
    ----------
    models
        One for each side that neighbours may stand on, as far as training rows had them all; in
        the causal form at most "before".
    gains
        One a model and channel: brings its residuals to the scale of the first one's.
    """

    models: tuple[BandRidge, ...]
    gains: NDArray[np.float64]

    def residuals(self, rows: Rows) -> Rows:
        """What is left of a stretch's rows, on one scale; 0 where nothing judges a row."""
        return self.compose([model.residuals(rows) for model in self.models], rows, self.gains)

    def expected(self, rows: Rows) -> Rows:
        """What is expected of a stretch's rows; the row itself where nothing judges it."""
        left = [model.residuals(rows) for model in self.models]
        return np.asarray(rows - self.compose(left, rows, np.ones_like(self.gains)))

    def compose(
        self, found: Sequence[Rows], rows: Rows, gains: NDArray[np.float64]
    ) -> NDArray[Any]:
        """Each row's residual, by the first model that finds all its neighbours there."""
        composed = np.zeros_like(rows)
        for model, gain, residuals in reversed(list(zip(self.models, gains, found, strict=True))):
            complete = model.complete(len(rows))
            composed[complete] = residuals[complete] * gain
        return composed

    def judged(self, rows: int) -> NDArray[np.bool_]:
        """Which rows of a stretch any model judges."""
        found = np.zeros(rows, dtype=bool)
        for model in self.models:
            found[model.complete(rows)] = True
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """What was learned of one entity: two ridges, and what is usual in each of three views."""

    ridge: RidgeView
    local: RidgeView
    usual: tuple[Usual, Usual, Usual]
    causal: bool

    def surprise(self, rows: Rows) -> NDArray[np.float64]:
        """How surprising each value of a stretch is, (T, C): the mean over the views."""
        views = (_level(rows), self.ridge.residuals(rows), self.local.residuals(rows))
        return _added(self.usual, views, causal=self.causal)

    def expected(self, rows: Rows) -> Rows:
        """What the local ridge expects, (T, C), in the rows' own units."""
        return self.local.expected(rows)

    def tensors(self, name: str) -> Tensors:
        """All arrays, by name."""
        found: dict[str, NDArray[Any]] = {
            f"{name}.usual": np.stack([one.squares for one in self.usual])
        }
        for kind, view in (("ridge", self.ridge), ("local", self.local)):
            found[f"{name}.{kind}.gains"] = view.gains
            for model in view.models:
                found[f"{name}.{kind}.{model.side}.axes"] = model.axes
                found[f"{name}.{kind}.{model.side}.weights"] = model.weights
        return {key: torch.from_numpy(np.ascontiguousarray(one)) for key, one in found.items()}

    @classmethod
    def restore(
        cls, tensors: Tensors, name: str, band: Band, channels: int, *, causal: bool
    ) -> Members:
        """The inverse of ``tensors``; refuses arrays that do not fit."""
        usual = tensors[f"{name}.usual"].numpy()
        require_shape(f"{name}.usual", usual, (len(VIEWS), len(SCALES), channels))
        views = [
            _restore_view(tensors, f"{name}.{kind}", band, channels, local=kind == "local")
            for kind in ("ridge", "local")
        ]
        first, second, third = (Usual(one) for one in usual)
        return cls(views[0], views[1], (first, second, third), causal)


def _restore_view(
    tensors: Tensors, name: str, band: Band, channels: int, *, local: bool
) -> RidgeView:
    models = []
    for side in SIDES:
        if f"{name}.{side}.axes" not in tensors:
            continue
        axes, weights = (tensors[f"{name}.{side}.{part}"].numpy() for part in ("axes", "weights"))
        require_shape(f"{name}.{side}.axes", axes, (channels, axes.shape[-1]))
        model = BandRidge(band, axes, weights, local, side)
        features = axes.shape[1] * len(model.offsets) + 1
        require_shape(f"{name}.{side}.weights", weights, (features, channels))
        models.append(model)
    gains = tensors[f"{name}.gains"].numpy()
    require_shape(f"{name}.gains", gains, (len(models), channels))
    return RidgeView(tuple(models), gains)


def fit_members(
    parts: Sequence[Rows], band: Band, *, causal: bool
) -> tuple[Members, list[NDArray[np.float64]]]:
    """Learn from an entity's stretches; also their surprise to models that had not seen them."""
    levels = [_level(part) for part in parts]
    ridge, unseen = _fit_view(parts, band, local=False, causal=causal)
    local, unseen_local = _fit_view(parts, band, local=True, causal=causal)
    usual = (
        learn_usual(levels, causal=causal),
        learn_usual(unseen, causal=causal, judged=[ridge.judged(len(one)) for one in parts]),
        learn_usual(unseen_local, causal=causal, judged=[local.judged(len(one)) for one in parts]),
    )
    each = zip(levels, unseen, unseen_local, strict=True)
    surprise = [_added(usual, views, causal=causal) for views in each]
    return Members(ridge, local, usual, causal), surprise


def _fit_view(
    parts: Sequence[Rows], band: Band, *, local: bool, causal: bool
) -> tuple[RidgeView, list[Rows]]:
    fits: list[Fit] = []
    for side in _sides(causal):
        # the one-sided ones serve a few rows: the penalty chosen for the first will do
        penalties = (fits[0].penalty,) if fits else PENALTIES
        fit = fit_ridge(parts, band, local=local, side=side, penalties=penalties)
        if fit is not None:
            fits.append(fit)
    squares = np.array([_mean_square(fit, parts) for fit in fits]).reshape(
        len(fits), parts[0].shape[1]
    )
    gains = np.sqrt((squares[:1] + FLOOR) / (squares + FLOOR))
    view = RidgeView(tuple(fit.model for fit in fits), gains)
    return view, [
        view.compose([fit.unseen[number] for fit in fits], part, gains)
        for number, part in enumerate(parts)
    ]


def _mean_square(fit: Fit, parts: Sequence[Rows]) -> NDArray[np.float64]:
    """Of each channel's residuals, over the rows that were judged."""
    judged = [
        one[fit.model.complete(len(part))] for one, part in zip(fit.unseen, parts, strict=True)
    ]
    return np.asarray(np.mean(np.square(np.concatenate(judged), dtype=np.float64), axis=0))


def _sides(causal: bool) -> tuple[str, ...]:
    return ("before",) if causal else SIDES


def _level(rows: Rows) -> Rows:
    return np.clip(rows, -CLIP, CLIP)


def _added(usual: Sequence[Usual], views: Sequence[Any], *, causal: bool) -> NDArray[np.float64]:
    found = [one.surprise(view, causal=causal) for one, view in zip(usual, views, strict=True)]
    return np.asarray(sum(found[1:], start=found[0]) / len(VIEWS))


def require_shape(name: str, found: NDArray[Any], wanted: tuple[int, ...]) -> None:
    """Refuse an array of another shape, or with what is no number."""
    if found.shape != wanted or not np.isfinite(found).all():
        raise InputError(f"{name} must be finite and have shape {wanted}; got {found.shape}")
