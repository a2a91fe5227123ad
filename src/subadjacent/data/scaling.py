"""Bring channels to a common scale; fitted on training rows only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.bulk import bulk
from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

# rows handled at a time, so that a long series is never copied whole in float64
CHUNK = 65_536
# a channel whose values lie apart by no more roundings of the largest of them counts as constant:
# what the last digits of a sum lose is no movement. float32 has seven digits, float64 sixteen
ROUNDINGS = 10.0
# values further beyond the bulk of a channel than so many times its width count as being there:
# a bad value weighs no more than a rare one. Noise, cycles and waiting times lie within. With three
# times as much a hundredth of bad values moves a deviation by two fifths, otherwise by a tenth
# (docs/log.md, "Robust learning")
WIDER = 1.0


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
            np.maximum(part, -self.clip, out=part)
            scaled[rows] = np.minimum(part, self.clip, out=part)
        return scaled

    def invert(self, scaled: NDArray[Any]) -> NDArray[np.float64]:
        """Values in the data's own units."""
        return np.asarray(scaled * self.deviation + self.center, dtype=np.float64)


# one scaler for each entity seen in training, and one of them all for any other
EntityScalers = PerEntity[Scaler]


def fit_scalers(series: Sequence[TrainSeries], clip: float = 10.0) -> EntityScalers:
    """Scalers for training series, one for each that has an entity."""
    own = [_scaler([one.values], clip) for one in series]
    pooled = own[0] if len(own) == 1 else _scaler([one.values for one in series], clip)
    return PerEntity(
        pooled=pooled,
        by_entity={
            one.entity: scaler
            for one, scaler in zip(series, own, strict=True)
            if one.entity is not None
        },
    )


def constant(
    low: NDArray[Any], high: NDArray[Any], dtypes: Sequence[np.dtype[Any]]
) -> NDArray[np.bool_]:
    """Which channels never move, by their lowest and highest values and the types they came in.

    Differences that rounding makes are none, and follow the precision of the coarsest type.
    """
    floating = [np.finfo(one).eps for one in dtypes if np.issubdtype(one, np.floating)]
    rounding = max([float(np.finfo(np.float64).eps), *map(float, floating)])
    largest = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(high - low <= ROUNDINGS * rounding * largest)


def _scaler(parts: Sequence[NDArray[Any]], clip: float) -> Scaler:
    """From the moments of all rows without what is far beyond the bulk of a channel."""
    count, mean, spread = 0, np.zeros(()), np.zeros(())
    bounds = bulk(parts).wider_by(WIDER)
    low, high = np.full(len(bounds.low), np.inf), np.full(len(bounds.low), -np.inf)
    # chunk by chunk (Chan's update), in float64
    for values in parts:
        for rows in chunks(len(values)):
            part = values[rows].astype(np.float64)
            low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
            np.clip(part, *bounds, out=part)
            part_mean = part.mean(axis=0)
            shift = part_mean - mean
            total = count + len(part)
            mean = mean + shift * (len(part) / total)
            spread = spread + ((part - part_mean) ** 2).sum(axis=0)
            spread = spread + shift**2 * (count * len(part) / total)
            count = total
    deviation = np.sqrt(spread / count)
    still = constant(low, high, [values.dtype for values in parts]) | (deviation == 0)
    return Scaler(mean, np.where(still, np.maximum(deviation, 1.0), deviation), clip)


def chunks(n: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices that cover ``n`` rows, ``size`` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
