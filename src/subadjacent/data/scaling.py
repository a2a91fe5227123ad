"""Bring channels to a common scale; fitted on training rows only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries

# rows handled at a time, so that a long series is never copied whole in float64
CHUNK = 65_536
# a channel that varies less than this, relative to its largest value, counts as constant
CONSTANT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Scaler:
    """Centre and deviation of every channel; values beyond ``clip`` deviations are cut.

    A constant channel keeps its unit (deviation 1, or its own where that is larger): dividing
    by a deviation of nearly zero would turn its first small move into an error that drowns
    every other channel.
    """

    center: NDArray[np.float64]
    deviation: NDArray[np.float64]
    clip: float = 10.0

    def apply(
        self, values: NDArray[Any], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Scaled values, in float32; into ``out`` where one is given."""
        scaled = np.empty(values.shape, dtype=np.float32) if out is None else out
        for rows in chunks(len(values)):
            part = (values[rows] - self.center) / self.deviation
            scaled[rows] = np.clip(part, -self.clip, self.clip)
        return scaled

    def invert(self, scaled: NDArray[Any]) -> NDArray[np.float64]:
        """Values in the data's own units."""
        return np.asarray(scaled * self.deviation + self.center, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class EntityScalers:
    """One scaler for each entity seen in training, and one of them all for any other."""

    pooled: Scaler
    by_entity: dict[str, Scaler]

    def of(self, entity: str | None) -> Scaler:
        """The scaler for ``entity``."""
        return self.pooled if entity is None else self.by_entity.get(entity, self.pooled)

    def to_dict(self) -> dict[str, Any]:
        """All scalers as plain JSON types; every digit survives."""
        return {
            "clip": float(self.pooled.clip),
            "pooled": _to_lists(self.pooled),
            "by_entity": {entity: _to_lists(one) for entity, one in self.by_entity.items()},
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> EntityScalers:
        """The inverse of ``to_dict``."""
        clip = float(saved["clip"])
        return cls(
            _from_lists(saved["pooled"], clip),
            {entity: _from_lists(one, clip) for entity, one in saved["by_entity"].items()},
        )


def _to_lists(scaler: Scaler) -> dict[str, list[float]]:
    return {"center": scaler.center.tolist(), "deviation": scaler.deviation.tolist()}


def _from_lists(saved: dict[str, list[float]], clip: float) -> Scaler:
    center, deviation = (np.array(saved[name], dtype=float) for name in ("center", "deviation"))
    return Scaler(center, deviation, clip)


def fit_scalers(series: Sequence[TrainSeries], clip: float = 10.0) -> EntityScalers:
    """Scalers for training series, one for each that has an entity."""
    moments = [_moments([one.values]) for one in series]
    pooled = moments[0] if len(moments) == 1 else _moments([one.values for one in series])
    return EntityScalers(
        pooled=_scaler(pooled, clip),
        by_entity={
            one.entity: _scaler(moment, clip)
            for one, moment in zip(series, moments, strict=True)
            if one.entity is not None
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    largest: NDArray[np.float64]


def _moments(parts: Iterable[NDArray[Any]]) -> _Moments:
    """Moments of all rows, chunk by chunk (Chan's update), in float64."""
    count, mean, spread, largest = 0, np.zeros(()), np.zeros(()), np.zeros(())
    for values in parts:
        for rows in chunks(len(values)):
            part = values[rows].astype(np.float64)
            part_mean = part.mean(axis=0)
            shift = part_mean - mean
            total = count + len(part)
            mean = mean + shift * (len(part) / total)
            spread = spread + ((part - part_mean) ** 2).sum(axis=0)
            spread = spread + shift**2 * (count * len(part) / total)
            largest = np.maximum(largest, np.abs(part).max(axis=0))
            count = total
    return _Moments(mean, spread / max(count, 1), largest)


def _scaler(moments: _Moments, clip: float) -> Scaler:
    deviation = np.sqrt(moments.variance)
    varies = deviation > CONSTANT * moments.largest
    return Scaler(moments.mean, np.where(varies, deviation, np.maximum(deviation, 1.0)), clip)


def chunks(n: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices that cover ``n`` rows, ``size`` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
