"""Silent channels: missing for long, or stuck at one value though they never were.

Such rows are anomalous whatever their score. A value that stays the same is no surprise to any
model, and a missing one is not seen by it.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import BaselineProfiles, ChannelProfile
from subadjacent.decision.kinds import MAX_NORMAL_RUN, MIN_STUCK_ROWS
from subadjacent.decision.signs import min_stuck_rows


def silent(series: TrainSeries, profiles: BaselineProfiles) -> NDArray[np.bool_] | None:
    """Values that are missing for long, or stuck by that row, (T, C); None where there are none."""
    silent_values = None if series.missing is None else series.missing.copy()
    for channel in np.flatnonzero(profiles.each("max_run") <= MAX_NORMAL_RUN):
        stuck = _stuck(series.values[:, channel], series.starts, profiles.of(int(channel)))
        if not stuck.any():
            continue
        if silent_values is None:
            silent_values = np.zeros(series.values.shape, dtype=bool)
        silent_values[:, channel] |= stuck
    return silent_values


def silent_rows(series: TrainSeries, profiles: BaselineProfiles) -> NDArray[np.bool_] | None:
    """Rows in which any channel is silent, (T,); None where there are none."""
    silent_values = silent(series, profiles)
    return None if silent_values is None else np.asarray(silent_values.any(axis=1))


def _stuck(
    column: NDArray[Any], starts: tuple[int, ...], profile: ChannelProfile
) -> NDArray[np.bool_]:
    """Rows at which a channel has been constant for too long, (T,)."""
    # the last row that differs from the one before it
    changes = np.zeros(len(column), dtype=np.intp)
    moved = np.flatnonzero(column[1:] != column[:-1]) + 1
    changes[moved] = moved
    changes[list(starts)] = starts
    since = np.arange(len(column)) - np.maximum.accumulate(changes)
    stuck = np.asarray(since >= MIN_STUCK_ROWS - 1)
    return stuck & (since >= min_stuck_rows(profile, column) - 1) if stuck.any() else stuck
