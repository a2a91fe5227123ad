"""The last training rows of each entity, from which an online learner can start.

Shapes: C channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError
from subadjacent.methods.method import Arrays, State, require_array

FARTHEST = float(np.finfo(np.float32).max)
"""From the centre, as far as float32 can say."""

MOST_ROWS = 2_000
"""Rows of an entity that are kept: about as many as a learner remembers."""

MOST_VALUES = 100_000
"""Values of an entity that are kept."""

MOST_IN_ALL = 16_000_000
"""Values of all entities that are kept: 64 MB."""

ROWS, CENTERS = "recent.rows", "recent.centers"


@dataclass(frozen=True, slots=True, eq=False)
class Recent:
    """The last rows of an entity, by unbroken segment, the oldest first.

    Parameters
    ----------
    center
        Subtracted from values, (C,): in float32, small changes of large values would be lost.
    parts
        Rows of each segment less the centre, (rows, C).
    """

    center: NDArray[np.float64]
    parts: tuple[NDArray[np.float32], ...]

    @property
    def segments(self) -> list[NDArray[np.float64]]:
        """The rows of each segment in the data's own units."""
        return [rows + self.center for rows in self.parts]


def recent_rows(series: Sequence[TrainSeries]) -> dict[str | None, Recent]:
    """The last rows of training series, by entity."""
    channels = series[0].values.shape[1]
    most = min(MOST_ROWS, MOST_VALUES // channels, MOST_IN_ALL // (len(series) * channels))
    return {one_series.entity: _last(one_series, max(most, 1)) for one_series in series}


def _last(series: TrainSeries, most: int) -> Recent:
    center = np.asarray(series.values[-1], dtype=np.float64)
    segments: list[NDArray[np.float32]] = []
    for start, stop in reversed(series.segments):
        if most <= 0:
            break
        rows = series.values[max(start, stop - most) : stop]
        segments.append(np.clip(rows - center, -FARTHEST, FARTHEST).astype(np.float32))
        most -= len(rows)
    return Recent(center, tuple(segments[::-1]))


def save_recent(recent: Mapping[str | None, Recent]) -> State:
    """The rows as arrays, and the lengths of all segments."""
    everything = list(recent.values())
    return State(
        {
            ROWS: np.concatenate(
                [rows for entity_rows in everything for rows in entity_rows.parts]
            ),
            CENTERS: np.stack([entity_rows.center for entity_rows in everything]),
        },
        {"lengths": [[len(rows) for rows in entity_rows.parts] for entity_rows in everything]},
    )


def load_recent(
    arrays: Arrays, facts: Any, channels: int, entities: Sequence[str]
) -> dict[str | None, Recent]:
    """The inverse of ``save_recent``; refuses what does not fit."""
    names: list[str | None] = list(entities) or [None]
    lengths, rows, centers = facts["lengths"], arrays[ROWS], arrays[CENTERS]
    if (
        not isinstance(lengths, list)
        or len(lengths) != len(names)
        or not all(type(n) is int and n > 0 for segment_lengths in lengths for n in segment_lengths)
    ):
        raise InputError(f"recent lengths must be {len(names)} lists of whole numbers above 0")
    require_array(ROWS, rows, (sum(map(sum, lengths)), channels))
    require_array(CENTERS, centers, (len(names), channels))
    recent, at = {}, 0
    for name, center, segment_lengths in zip(names, centers, lengths, strict=True):
        ends = at + np.cumsum([0, *segment_lengths])
        segments = tuple(rows[a:b] for a, b in pairwise(ends))
        recent[name] = Recent(center, segments)
        at = int(ends[-1])
    return recent
