"""Cut series into windows, and put the values of windows back onto rows.

All rows lie in memory once, scaled; a window is a place in them, and only the windows of one
batch are ever gathered. No window reaches across a series' end or a break in its clock.

Shapes: T rows in all, C channels, B windows, N points in a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from subadjacent.data.scaling import EntityScalers
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError, require_number


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Windows of ``length`` rows over shared ``values``."""

    values: Tensor  # (T, C)
    starts: Tensor  # (number of windows,)
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, which: Tensor) -> Tensor:
        """Gather some windows, (B, N, C)."""
        return self.values[self.rows(which)]

    def rows(self, which: Tensor) -> Tensor:
        """The rows that some windows stand on, (B, N)."""
        steps = torch.arange(self.length, device=self.starts.device)
        return self.starts[which, None] + steps

    def batches(self, size: int, generator: torch.Generator | None = None) -> Iterator[Tensor]:
        """Numbers of the windows of each batch; shuffled when a generator is given."""
        order = self.order(generator)
        for start in range(0, len(self), size):
            yield order[start : start + size]

    def order(self, generator: torch.Generator | None = None) -> Tensor:
        """Numbers of all windows, shuffled when a generator is given, where the windows lie."""
        if generator is None:
            order = torch.arange(len(self))
        else:
            order = torch.randperm(len(self), generator=generator)
        # moved once: a copy for every batch would make the device wait
        return order.to(self.starts.device)

    def to(self, device: torch.device) -> Windows:
        """The same windows with their rows on ``device``."""
        return Windows(self.values.to(device), self.starts.to(device), self.length)


@dataclass(frozen=True, slots=True)
class Segment:
    """An unbroken run of rows of one series, and where it lies in the stack."""

    series: int
    first: int  # row of the series it begins with
    rows: int
    at: int  # row of the stack it begins with
    padded: int  # rows it takes up there


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """All rows of some series, scaled, below each other."""

    values: Tensor  # (T, C)
    segments: tuple[Segment, ...]
    window: int

    def windows_within(self, bounds: Sequence[tuple[int, int]], stride: int) -> Windows:
        """Every ``stride``-th window inside the given half-open row bounds of each series.

        Segments shorter than a window have none.
        """
        places = []
        for segment in self.segments:
            start, stop = bounds[segment.series]
            start, stop = max(start - segment.first, 0), min(stop - segment.first, segment.rows)
            places.append(segment.at + np.arange(start, stop - self.window + 1, stride))
        return self._windows(places)

    def scoring_windows(self, stride: int) -> tuple[Windows, Tensor]:
        """Windows that together cover every row, and the first point that counts in each.

        They stand on a grid that begins at the segment's first row, so that what comes later
        never moves them. One more window, aligned to the end, covers what the grid leaves
        over; in it only the rows that no other window covers count.
        """
        places, fresh = [], []
        for segment in self.segments:
            grid = np.arange(segment.at, segment.at + segment.padded - self.window + 1, stride)
            left_over = segment.at + segment.padded - (grid[-1] + self.window)
            ends = [grid[-1] + left_over] if left_over else []
            places.append(np.append(grid, ends).astype(np.int64))
            fresh.append(np.append(np.zeros(len(grid)), [self.window - left_over] * len(ends)))
        first = torch.from_numpy(np.concatenate(fresh).astype(np.int64))
        return self._windows(places), first

    def unstack(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Split an array over stacked rows into one array per series."""
        by_series: dict[int, list[NDArray[Any]]] = {}
        for segment in self.segments:
            by_series.setdefault(segment.series, []).append(
                values[segment.at : segment.at + segment.rows]
            )
        return [rows[0] if len(rows) == 1 else np.concatenate(rows) for rows in by_series.values()]

    def map_segments(
        self, values: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Apply a function to the rows of each segment; what the padding holds stays."""
        mapped = values.astype(np.float64)
        for segment in self.segments:
            rows = slice(segment.at, segment.at + segment.rows)
            mapped[rows] = function(mapped[rows])
        return mapped

    def restack(self, by_series: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Stack one array per series, with zeros for the padding."""
        stacked = np.zeros((len(self.values), *by_series[0].shape[1:]), dtype=by_series[0].dtype)
        for segment in self.segments:
            rows = by_series[segment.series][segment.first : segment.first + segment.rows]
            stacked[segment.at : segment.at + segment.rows] = rows
        return stacked

    def _windows(self, places: list[NDArray[np.int64]]) -> Windows:
        return Windows(self.values, torch.from_numpy(np.concatenate(places)), self.window)


def stack(series: Sequence[TrainSeries], scalers: EntityScalers, window: int) -> Stack:
    """Scale every series and lay them below each other.

    A segment shorter than a window is continued by its mirror image, so that it can be scored.
    """
    segments, at = [], 0
    for number, one_series in enumerate(series):
        for start, stop in one_series.segments:
            padded = max(stop - start, window)
            segments.append(Segment(number, start, stop - start, at, padded))
            at += padded
    values = np.empty((at, series[0].values.shape[1]), dtype=np.float32)
    for place in segments:
        source = series[place.series]
        rows = source.values[place.first : place.first + place.rows]
        target = values[place.at : place.at + place.padded]
        scalers.of(source.entity).apply(rows, out=target[: place.rows])
        if missing := place.padded - place.rows:
            mirrored = np.pad(target[: place.rows], ((0, missing), (0, 0)), mode="symmetric")
            target[place.rows :] = mirrored[place.rows :]
    return Stack(torch.from_numpy(values), tuple(segments), window)


def validation_starts(
    series: Sequence[TrainSeries], window: int, fraction: float = 0.2
) -> list[int]:
    """First held-back row of every series; its length where nothing is held back.

    The end is held back, so that validation comes after training in time. Both parts have at least
    the rows of a window; a series too short for that is for training alone.
    """
    require_number("validation_fraction", fraction, above=0)
    if fraction >= 1:
        raise InputError(f"validation_fraction must be below 1; got {fraction!r}")
    starts = []
    for one_series in series:
        wanted = len(one_series) - round(fraction * len(one_series))
        start = max(min(wanted, len(one_series) - window), window)
        starts.append(start if start + window <= len(one_series) else len(one_series))
    if all(start == len(one_series) for start, one_series in zip(starts, series, strict=True)):
        longest = max(len(one_series) for one_series in series)
        raise InputError(
            f"fit needs a series of at least 2 windows, to learn from and to validate on: "
            f"{2 * window} rows with window={window}; the longest has n_samples = {longest}"
        )
    return starts
