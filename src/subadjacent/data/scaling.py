"""Bring channels to a common scale; fitted on training rows only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError

# rows handled at a time, so that a long series is never copied whole in float64
CHUNK = 65_536
# a channel whose values lie apart by no more roundings of the largest of them counts as constant:
# what the last digits of a sum lose is no movement. float32 has seven digits, float64 sixteen
ROUNDINGS = 10.0
# values further beyond the bulk of a channel than this many times its width count as being there:
# a bad value weighs no more than a rare one. Noise, cycles and waiting times lie within. With three
# times as much a hundredth of bad values moves a deviation by two fifths, otherwise by a tenth
# (reproduce/log.md, "Robust learning")
CLIP_WIDTHS = 1.0


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
            chunk = (values[rows] - self.center) / self.deviation
            np.maximum(chunk, -self.clip, out=chunk)
            scaled[rows] = np.minimum(chunk, self.clip, out=chunk)
        return scaled

    def invert(self, scaled: NDArray[Any]) -> NDArray[np.float64]:
        """Values in the data's own units."""
        return np.asarray(scaled * self.deviation + self.center, dtype=np.float64)


# one scaler for each entity seen in training, and one of them all for any other
EntityScalers = PerEntity[Scaler]


def fit_scalers(series: Sequence[TrainSeries], clip: float = 10.0) -> EntityScalers:
    """Scalers for training series, one for each that has an entity."""
    scalers = [_scaler([one_series.values], clip) for one_series in series]
    pooled = (
        scalers[0]
        if len(scalers) == 1
        else _scaler([one_series.values for one_series in series], clip)
    )
    return PerEntity(
        pooled=pooled,
        by_entity={
            one_series.entity: scaler
            for one_series, scaler in zip(series, scalers, strict=True)
            if one_series.entity is not None
        },
    )


def constant(
    low: NDArray[Any], high: NDArray[Any], dtypes: Sequence[np.dtype[Any]]
) -> NDArray[np.bool_]:
    """Which channels never move, up to the rounding of their types.

    Differences that rounding makes are none, and follow the precision of the coarsest type.
    """
    floating = [np.finfo(dtype).eps for dtype in dtypes if np.issubdtype(dtype, np.floating)]
    rounding = max([float(np.finfo(np.float64).eps), *map(float, floating)])
    largest = np.maximum(np.abs(low), np.abs(high))
    return np.asarray(high - low <= ROUNDINGS * rounding * largest)


def _scaler(tables: Sequence[NDArray[Any]], clip: float) -> Scaler:
    """A scaler from the moments of all rows, with values far beyond the bulk clipped."""
    count, mean, spread = 0, np.zeros(()), np.zeros(())
    bounds = bulk(tables).wider_by(CLIP_WIDTHS)
    low, high = np.full(len(bounds.low), np.inf), np.full(len(bounds.low), -np.inf)
    # chunk by chunk (Chan's update), in float64
    for values in tables:
        for rows in chunks(len(values)):
            chunk = values[rows].astype(np.float64)
            low, high = np.minimum(low, chunk.min(axis=0)), np.maximum(high, chunk.max(axis=0))
            np.clip(chunk, *bounds, out=chunk)
            chunk_mean = chunk.mean(axis=0)
            shift = chunk_mean - mean
            total = count + len(chunk)
            mean = mean + shift * (len(chunk) / total)
            spread = spread + ((chunk - chunk_mean) ** 2).sum(axis=0)
            spread = spread + shift**2 * (count * len(chunk) / total)
            count = total
    deviation = np.sqrt(spread / count)
    still = constant(low, high, [values.dtype for values in tables]) | (deviation == 0)
    return Scaler(mean, np.where(still, np.maximum(deviation, 1.0), deviation), clip)


def chunks(n: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices that cover ``n`` rows, ``size`` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


# the share of rows below the bulk, and as many above it: a hundredth of bad values does not reach
# into it. A half leaves them no room, twice as much says less of rows that are rarely far out
TAIL_SHARE = 0.02
# values sorted at a time, so that a long series is never copied whole in float64
SORTED_VALUES = 4_000_000


class Bulk(NamedTuple):
    """Lowest and highest value of each channel's bulk, (C,) each."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def wider_by(self, times: float) -> Bulk:
        """Bounds beyond the bulk, on either side, by ``times`` its width.

        Infinite for a channel whose bulk is a single value: its range is not known.
        """
        width = self.high - self.low
        beyond = np.where(width > 0, times * width, np.inf)
        return Bulk(self.low - beyond, self.high + beyond)


def bulk(tables: Sequence[NDArray[Any]]) -> Bulk:
    """The bulk of the rows of all tables; they have at least one row."""
    rows, channels = sum(map(len, tables)), tables[0].shape[1]
    bounds = np.empty((2, channels))
    for some in chunks(channels, max(SORTED_VALUES // rows, 1)):
        values = np.concatenate([table[:, some].T for table in tables], axis=1).astype(np.float64)
        bounds[:, some] = np.quantile(values, [TAIL_SHARE, 1 - TAIL_SHARE], axis=1)
    return Bulk(*bounds)
