"""Bring channels to a common scale; fitted on training rows only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

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

    def __post_init__(self) -> None:
        for name, values in (("center", self.center), ("deviation", self.deviation)):
            if values.ndim != 1 or len(values) != len(self.center):
                raise InputError(f"{name} must have one value a channel; got {values.shape}")
            if not np.isfinite(values).all():
                raise InputError(f"{name} must be finite; got {values}")
        if not (self.deviation > 0).all():
            raise InputError(f"deviation must be above 0; got {self.deviation}")
        if not self.clip > 0:
            raise InputError(f"clip must be above 0; got {self.clip}")

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


# one scaler for each entity seen in training, and one of them all for any other
EntityScalers = PerEntity[Scaler]


def fit_scalers(series: Sequence[TrainSeries], clip: float = 10.0) -> EntityScalers:
    """Scalers for training series, one for each that has an entity."""
    moments = [_moments([one.values]) for one in series]
    pooled = moments[0] if len(moments) == 1 else _moments([one.values for one in series])
    return PerEntity(
        pooled=_scaler(pooled, clip),
        by_entity={
            one.entity: _scaler(moment, clip)
            for one, moment in zip(series, moments, strict=True)
            if one.entity is not None
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ChannelMoments:
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    largest: NDArray[np.float64]


def _moments(parts: Iterable[NDArray[Any]]) -> _ChannelMoments:
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
    return _ChannelMoments(mean, spread / max(count, 1), largest)


def _scaler(moments: _ChannelMoments, clip: float) -> Scaler:
    deviation = np.sqrt(moments.variance)
    varies = deviation > CONSTANT * moments.largest
    return Scaler(moments.mean, np.where(varies, deviation, np.maximum(deviation, 1.0)), clip)


def chunks(n: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices that cover ``n`` rows, ``size`` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
