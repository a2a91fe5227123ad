"""Tick labels of static figures: numbers and times as people write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import Formatter, MaxNLocator
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.report.timeline import timeline
from subadjacent.scoring.sentences import number as in_digits

# steps between times, as many as there is room for below a figure 9 inches wide
MAX_TICKS = 7
# in milliseconds: what clocks and calendars are cut into; from a week on, whole weeks
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
STEPS = (
    *(SECOND * count for count in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * count for count in (1, 2, 5, 10, 15, 30)),
    *(HOUR * count for count in (1, 2, 3, 6, 12)),
    *(DAY * count for count in (1, 2, 7, 14, 28, 91, 182, 364, 728, 1_820, 3_640)),
)
# the first Monday after the beginning of 1970, from which steps are counted
MONDAY = 4 * DAY


class Plain(Formatter):
    """Numbers along an axis as people write them, to the digits in which they differ."""

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002  # the base's
        """One number by itself."""
        return in_digits(float(x))

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """All numbers along an axis."""
        if len(values) < 2:
            return [self(value) for value in values]
        # a little more: steps of 0.1 are seldom exact
        apart = abs(float(values[1] - values[0])) * (1 + 1e-6)
        step = 10.0 ** np.floor(np.log10(apart))
        # steps of 2.5 take a digit more than steps of 2
        if abs(apart / step - round(apart / step)) > 1e-3:
            step /= 10
        return [in_digits(float(value), step) for value in values]


def name_rows(axis: Axes, series: TrainSeries, shown: slice) -> None:
    """Write times, where they are known, below the rows' numbers."""
    times = timeline(series)
    if times.kind == "row":
        axis.set_xlabel("row")
        axis.xaxis.set_major_formatter(Plain())
    elif times.kind == "number":
        first, last = times.places[shown.start], times.places[shown.stop - 1]
        numbers = np.asarray(MaxNLocator(MAX_TICKS).tick_values(first, last))
        numbers = numbers[(numbers >= first) & (numbers <= last)]
        rows = np.interp(numbers, times.places, np.arange(len(times.places)))
        axis.set_xticks(rows, Plain().format_ticks(numbers.tolist()))
    else:
        _name_dates(axis, times.places, shown)


def _name_dates(axis: Axes, places: NDArray[np.float64], shown: slice) -> None:
    """Ticks at round times, such as midnights, even if no row has that time."""
    first, last = places[shown.start], places[shown.stop - 1]
    step = next((step for step in STEPS if (last - first) / step <= MAX_TICKS), STEPS[-1])
    beginning = np.ceil((first - MONDAY) / step) * step + MONDAY
    times = np.arange(beginning, last + 1, step)
    rows = np.interp(times, places, np.arange(len(places)))
    written = np.datetime_as_string(times.astype("datetime64[ms]"), "s" if step < MINUTE else "m")
    days_alone = step % DAY == 0
    axis.set_xticks(
        rows, [text[:10] if days_alone else text.replace("T", "\n") for text in written]
    )
