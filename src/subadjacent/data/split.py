"""Hold back the end of the training data, to validate on."""

from __future__ import annotations

from collections.abc import Sequence

from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError, require_number


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
