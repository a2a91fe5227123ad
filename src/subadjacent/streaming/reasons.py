"""Why an alarm was opened, from the latest rows: the causes and the sentence of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.scoring.alarms import Alarm
from subadjacent.scoring.causes import Cause, Explainer
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.habits import Habits, learn_habits
from subadjacent.scoring.kinds import FEW, NOISIER, SPIKE
from subadjacent.scoring.sentences import PAST, sentence
from subadjacent.streaming.recent import RecentRows

CHANNELS = 5
"""Channels that an alarm names as causes, as in a batch."""

LEAST = 40
"""Rows before an alarm that say what is usual; where there are fewer, those of the alarm do too."""


class Reasons(NamedTuple):
    """What an alarm says of its rows."""

    kind: str
    sentence: str
    causes: tuple[Cause, ...]


def usual_before(rows: RecentRows, begin: int) -> Habits:
    """What the channels usually do, from the rows before an event that begins at one of them."""
    known = rows.values[:begin] if begin >= LEAST else rows.values
    return learn_habits(TrainSeries(known))


def explain(
    rows: RecentRows,
    event: tuple[int, int],
    habits: Habits,
    *,
    channels: tuple[str, ...],
    labels: list[Any],
    interval: float | None,
    permanent: bool = False,
) -> Reasons:
    """What happened in an event, half-open bounds, of some rows."""
    missing = rows.missing if rows.missing.any() else None
    series = TrainSeries(
        rows.values, channels, None, labels, rows.segment_starts, interval, missing
    )
    evidence = Evidence(np.zeros(len(rows.values)), rows.by_channel, None, {})
    left_out = rows.anomalous.copy()
    left_out[slice(*event)] = True
    explainer = Explainer.of(series, evidence, habits, left_out)
    if rows.silent.any():
        # which channels are known to be missing or still is known here
        explainer = replace(explainer, silent=rows.silent)
    causes = explainer.causes([event], CHANNELS, view=PAST, permanent=permanent)
    if event[1] - event[0] < FEW:
        causes = tuple(_jumped(cause, explainer, event) for cause in causes)
    # the words of a batch, from the same code
    alarm = Alarm(None, None, None, 0.0, 0.0, 0, causes, 0, 0)
    return Reasons(alarm.kind, alarm.sentence, causes)


def _jumped(cause: Cause, explainer: Explainer, event: tuple[int, int]) -> Cause:
    """What is known of a channel by few rows: one great step, or two, make no noise."""
    if cause.kind != NOISIER:
        return cause
    series = explainer.series
    channel = series.channels.index(cause.channel)
    start, stop = next(bounds for bounds in series.segments if event[0] < bounds[1])
    before = max(event[0] - 1, start)
    steps = np.abs(np.diff(series.values[before : min(event[1], stop), channel]))
    # the step back may be as great
    row = before + 1 + int(np.argmax(2 * steps >= steps.max()))
    seen = float(series.values[row, channel])
    expected, low, high = (float(one[row]) for one in explainer.usual(channel))
    at_this_time = explainer.habits.of(channel).cycle > 0
    return replace(
        cause,
        at=series.label(row),
        expected=expected,
        seen=seen,
        low=low,
        high=high,
        kind=SPIKE,
        sentence=sentence(
            cause.channel, SPIKE, seen=seen, low=low, high=high, at_this_time=at_this_time
        ),
    )
