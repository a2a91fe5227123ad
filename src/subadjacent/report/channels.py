"""Channels as the page draws them: their values, expected values and expected ranges.

Shapes: T rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.causes import Cause, Explainer
from subadjacent.decision.events import join
from subadjacent.decision.evidence import Array
from subadjacent.decision.kinds import MISSING
from subadjacent.report.marks import AlarmRow
from subadjacent.showing import on_one_line

# lines of each channel, in this order: its values, the expected values, and the distances from
# these to the bounds of the expected range
PARTS = ("seen", "expected", "below", "above")
# charts of channels that stand below each other at most: the causes of an alarm are up to five, and
# there is room for what they are compared with
MAX_CHANNELS = 8
# segments in which a channel is missing that are left blank, of one series: the longest
MAX_MISSING_SEGMENTS = 2_000
# how exactly a float64 holds a sum, as a share of what is added
ROUNDING = 1e-12


def channel_lines(explainer: Explainer, channel: int) -> Iterator[Array]:
    """The lines of one channel, (T,) each; the expected range is computed only when needed."""
    yield explainer.series.values[:, channel]
    expected_range = explainer.expected_range(channel)
    yield expected_range.expected
    for edge in (expected_range.low, expected_range.high):
        yield _steady(edge - expected_range.expected, expected_range.expected)


def _steady(distances: Array, values: Array) -> Array:
    """Make distances equal that differ by no more than rounding errors."""
    if np.ptp(distances) > ROUNDING * float(np.abs(values).max()):
        return distances
    return np.full(len(distances), np.median(distances))


def missing_segments(series: TrainSeries) -> dict[str, list[tuple[int, int]]]:
    """Half-open row bounds of the segments in which a channel is missing, by its number."""
    if series.missing is None:
        return {}
    bounds = [
        (stop - start, channel, start)
        for channel in np.flatnonzero(series.missing.any(axis=0)).tolist()
        for start, stop in join(series.missing[:, channel])
    ]
    longest = sorted(bounds, reverse=True)[:MAX_MISSING_SEGMENTS]
    segments: dict[str, list[tuple[int, int]]] = {}
    for rows, channel, start in sorted(longest, key=lambda segment: segment[1:]):
        segments.setdefault(str(channel), []).append((start, start + rows))
    return segments


def charts_of(row: AlarmRow, series: TrainSeries) -> list[dict[str, Any]]:
    """The channels to draw for an alarm: its causes, each with its decoupled partner."""
    charts: dict[str, dict[str, Any]] = {}
    for cause in row.causes:
        # it may be there already, as the channel that another one parted from
        charts.pop(cause.channel, None)
        charts[cause.channel] = _chart(row.alarm, cause, series)
        if cause.partner is not None and cause.partner not in charts:
            charts[cause.partner] = {
                "channel": series.channels.index(cause.partner),
                "told": f"is what {on_one_line(cause.channel)} normally goes with",
            }
    return list(charts.values())[:MAX_CHANNELS]


def _chart(alarm: Alarm, cause: Cause, series: TrainSeries) -> dict[str, Any]:
    chart: dict[str, Any] = {
        "channel": series.channels.index(cause.channel),
        # after the name, which stands there as it is
        "told": cause.sentence.removeprefix(on_one_line(cause.channel)).strip(),
    }
    row = _row_of(alarm, cause, series)
    # the value filled in for a missing one was not measured
    if row is not None and cause.kind != MISSING:
        chart |= {"row": row, "seen": cause.seen}
        if cause.partner is not None:
            # the expected range given that channel is not that of the channel by itself
            chart |= {"low": cause.low, "high": cause.high}
    return chart


def _row_of(alarm: Alarm, cause: Cause, series: TrainSeries) -> int | None:
    """The number of the row that a cause is about; None where the alarm was made by hand."""
    column = series.values[:, series.channels.index(cause.channel)]
    rows = column[alarm.first : alarm.last + 1]
    for row in alarm.first + np.flatnonzero(rows == cause.seen):
        if series.label(int(row)) == cause.at:
            return int(row)
    return None
