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

    @property
    def gist(self) -> tuple[str, ...]:
        """What must differ for them to be news: the kind, and which channels are named."""
        return (self.kind, *(cause.channel for cause in self.causes[:1]))


def usual_before(rows: RecentRows, event_rows: int) -> Habits:
    """What the channels usually do, from the rows before an event that has so many."""
    before = len(rows.values) - event_rows
    known = rows.values[:before] if before >= LEAST else rows.values
    return learn_habits(TrainSeries(known))


def explain(
    rows: RecentRows,
    event_rows: int,
    habits: Habits,
    *,
    channels: tuple[str, ...],
    labels: list[Any],
    interval: float | None,
    for_good: bool = False,
) -> Reasons:
    """What happened in the last ``event_rows`` of some rows."""
    count = len(rows.values)
    missing = rows.missing if rows.missing.any() else None
    series = TrainSeries(
        rows.values, channels, None, labels, rows.stretch_starts, interval, missing
    )
    evidence = Evidence(np.zeros(count), rows.by_channel, None, {})
    left_out = rows.anomalous.copy()
    left_out[count - event_rows :] = True
    explainer = Explainer.of(series, evidence, habits, left_out)
    if rows.silent.any():
        explainer = replace(explainer, silent=rows.silent)
    event = (count - event_rows, count)
    causes = explainer.causes([event], CHANNELS, for_good=for_good)
    # the words of a batch, from the same code
    alarm = Alarm(None, None, None, 0.0, 0.0, event_rows, causes, 0, 0)
    return Reasons(alarm.kind, alarm.sentence, causes)
