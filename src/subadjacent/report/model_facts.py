"""What the report shows of fitted models beside their evidence.

All of it is optional: it is shown where a model has the attribute, whatever its class. What a
model was fitted with is read from the facts that it saves.

- ``attention_around(rows, row)``: the attention matrix of the window that a row is scored by
- ``history``: epochs of training, each with ``curves()``, ``seconds`` and ``complete``
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Array
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError

# rows shown on either side of an alarm: as many as a score depends on, within these bounds
MIN_MARGIN, MAX_MARGIN = 30, 100


@runtime_checkable
class HasAttention(Protocol):
    """A model with an attention matrix to look at."""

    def attention_around(self, rows: Array, row: int) -> tuple[int, Array]:
        """The first row of the window that ``row`` is scored by, and its A[query, key]."""


class AttentionMatrix(NamedTuple):
    """The attention matrix of a window, and the row of the series it begins at."""

    first: int
    matrix: Array  # (N, N), row: the point that looks


def attention(detector: BaseDetector, series: TrainSeries, row: int) -> AttentionMatrix | None:
    """The attention in the window that scores a row; None without attention."""
    model = detector.models_.of(series.entity)
    if not isinstance(model, HasAttention):
        return None
    start, stop = next(bounds for bounds in series.segments if bounds[0] <= row < bounds[1])
    try:
        first, matrix = model.attention_around(series.values[start:stop], row - start)
    except InputError:
        # a model around a network, which has no attention
        return None
    return AttentionMatrix(start + first, matrix)


class BandShape(NamedTuple):
    """Which pairs of points attention is summed over, outlined in the matrix."""

    near: int
    far: int
    circular: bool


def band(detector: BaseDetector) -> BandShape | None:
    """The band of a model's attention; None where it has none."""
    facts = fitted_settings(detector)
    if any(name not in facts for name in BandShape._fields):
        return None
    return BandShape(*(facts[name] for name in BandShape._fields))


def history(detector: BaseDetector) -> Sequence[Any] | None:
    """Epochs of training; None where nothing is trained step by step."""
    return getattr(detector.models_.pooled, "history", None)


def curves(epochs: Sequence[Any]) -> dict[str, list[float]]:
    """The curves of a training by name, epoch by epoch; NaN where an epoch has no value."""
    by_epoch = [epoch.curves() for epoch in epochs]
    names = dict.fromkeys(name for values in by_epoch for name in values)
    return {name: [values.get(name, math.nan) for values in by_epoch] for name in names}


def reach_before(detector: BaseDetector) -> int:
    """The most rows, up to and including its own, that a score depends on."""
    return 1 + max(model.reach.before for model in detector.models_)


def around(detector: BaseDetector) -> int:
    """Rows to show on either side of an alarm."""
    return min(max(reach_before(detector), MIN_MARGIN), MAX_MARGIN)


def fitted_settings(detector: BaseDetector) -> dict[str, Any]:
    """The values that the model was fitted with, by the name of the parameter."""
    return _flat(detector.models_.pooled.state().facts)


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Nested facts, flattened."""
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        flat |= _flat(value) if isinstance(value, Mapping) else {name: value}
    return flat
