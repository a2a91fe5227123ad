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
from subadjacent.training.ridge import fit_ridge

VIEWS = ("level", "ridge", "local")


@dataclass(frozen=True, slots=True, eq=False)
class RidgeView:
    """A ridge for the middle of a stretch, and one-sided ones for where it begins and ends.

    Parameters
    ----------
    models
        One for each side that neighbours may stand on; in the causal form only "before".
    gains
        One a model and channel: brings its residuals to the scale of the first one's.
    """

    models: tuple[BandRidge, ...]
    gains: NDArray[np.float64]

    def residuals(self, rows: Rows) -> Rows:
        """What is left of a stretch's rows; 0 where a row has too few neighbours to judge it."""
        return self.compose([model.residuals(rows) for model in self.models])

    def compose(self, found: Sequence[Rows]) -> Rows:
        """Each row's residual, by the first model that finds all its neighbours there."""
        far, n = self.models[0].band.far, len(found[0])
        here = np.arange(n)
        enough = {
            "both": (here >= far) & (here < n - far),
            "before": here >= far,
            "after": here < n - far,
        }  # fmt: skip
        composed = np.zeros_like(found[0])
        for model, gain, residuals in reversed(
            list(zip(self.models, self.gains, found, strict=True))
        ):
            rows = enough[model.side]
            composed[rows] = residuals[rows] * gain
        return composed


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
        return np.asarray(rows - self.local.residuals(rows))

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
        views = []
        for kind in ("ridge", "local"):
            gains = tensors[f"{name}.{kind}.gains"].numpy()
            require_shape(f"{name}.{kind}.gains", gains, (len(_sides(causal)), channels))
            models = []
            for side in _sides(causal):
                axes, weights = (
                    tensors[f"{name}.{kind}.{side}.{part}"].numpy() for part in ("axes", "weights")
                )
                require_shape(f"{name}.{kind}.{side}.axes", axes, (channels, axes.shape[-1]))
                model = BandRidge(band, axes, weights, kind == "local", side)
                features = axes.shape[1] * len(model.offsets) + 1
                require_shape(f"{name}.{kind}.{side}.weights", weights, (features, channels))
                models.append(model)
            views.append(RidgeView(tuple(models), gains))
        first, second, third = (Usual(one) for one in usual)
        return cls(views[0], views[1], (first, second, third), causal)


def fit_members(
    parts: Sequence[Rows], band: Band, *, causal: bool
) -> tuple[Members, list[NDArray[np.float64]]]:
    """Learn from an entity's stretches; also their surprise to models that had not seen them."""
    ridge, unseen = _fit_view(parts, band, local=False, causal=causal)
    local, unseen_local = _fit_view(parts, band, local=True, causal=causal)
    views = ([_level(part) for part in parts], unseen, unseen_local)
    first, second, third = (learn_usual(view, causal=causal) for view in views)
    usual = (first, second, third)
    surprise = [_added(usual, each, causal=causal) for each in zip(*views, strict=True)]
    return Members(ridge, local, usual, causal), surprise


def _fit_view(
    parts: Sequence[Rows], band: Band, *, local: bool, causal: bool
) -> tuple[RidgeView, list[Rows]]:
    first, *others = _sides(causal)
    fits = [fit_ridge(parts, band, local=local, side=first)]
    # the one-sided ones serve a few rows: the penalty chosen for the first will do
    chosen = (fits[0].penalty,)
    fits += [fit_ridge(parts, band, local=local, side=side, penalties=chosen) for side in others]
    squares = np.array([
        np.mean(np.square(np.concatenate(fit.unseen), dtype=np.float64), axis=0) for fit in fits
    ])  # fmt: skip
    gains = np.sqrt((squares[0] + FLOOR) / (squares + FLOOR))
    view = RidgeView(tuple(fit.model for fit in fits), gains)
    each = zip(*(fit.unseen for fit in fits), strict=True)
    return view, [view.compose(found) for found in each]


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
