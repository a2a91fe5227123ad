"""The explanation of a live alarm from the latest rows: causes and sentence as in a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from subadjacent.data.series import TrainSeries
from subadjacent.scoring.baseline_profile import BaselineProfiles, learn_profiles
from subadjacent.scoring.causes import Cause, Explainer, alarm_sentence
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.kinds import HIGHER_VARIANCE, MIN_OUT_ROWS, SPIKE, UNUSUAL
from subadjacent.scoring.sentences import PAST, sentence
from subadjacent.streaming.recent_rows import RecentRows

MAX_CAUSES = 5
"""Channels that an alarm names as causes, as in a batch."""

MIN_ROWS_BEFORE = 40
"""Rows before an alarm that its profiles are learned from; if fewer, also those of the alarm."""


class Explanation(NamedTuple):
    """Kind, sentence and causes of a live alarm."""

    kind: str
    sentence: str
    causes: tuple[Cause, ...]


def profiles_before(rows: RecentRows, begin: int) -> BaselineProfiles:
    """Baseline profiles from the rows before an event that begins at row ``begin``."""
    known = rows.values[:begin] if begin >= MIN_ROWS_BEFORE else rows.values
    return learn_profiles(TrainSeries(known))


def explain(
    rows: RecentRows,
    event: tuple[int, int],
    profiles: BaselineProfiles,
    *,
    channels: tuple[str, ...],
    labels: list[Any],
    interval: float | None,
    permanent: bool = False,
) -> Explanation:
    """The explanation of an event, half-open bounds, in the latest rows."""
    missing = rows.missing if rows.missing.any() else None
    series = TrainSeries(
        rows.values, channels, None, labels, rows.segment_starts, interval, missing
    )
    evidence = Evidence(np.zeros(len(rows.values)), rows.by_channel, None, {})
    left_out = rows.anomalous.copy()
    left_out[slice(*event)] = True
    explainer = Explainer.of(series, evidence, profiles, left_out)
    if rows.silent.any():
        # the stream knows which channels are missing or stuck
        explainer = replace(explainer, silent=rows.silent)
    causes = explainer.causes([event], MAX_CAUSES, view=PAST, permanent=permanent)
    if event[1] - event[0] < MIN_OUT_ROWS:
        causes = tuple(_as_spike(cause, explainer, event) for cause in causes)
    return Explanation(causes[0].kind if causes else UNUSUAL, alarm_sentence(causes, PAST), causes)


def _as_spike(cause: Cause, explainer: Explainer, event: tuple[int, int]) -> Cause:
    """A cause by few rows: one or two large steps are a spike, not a higher variance."""
    if cause.kind != HIGHER_VARIANCE:
        return cause
    series = explainer.series
    channel = series.channels.index(cause.channel)
    start, stop = next(bounds for bounds in series.segments if event[0] < bounds[1])
    before = max(event[0] - 1, start)
    steps = np.abs(np.diff(series.values[before : min(event[1], stop), channel]))
    # the step back may be as great
    row = before + 1 + int(np.argmax(2 * steps >= steps.max()))
    seen = float(series.values[row, channel])
    expected, low, high = (float(one[row]) for one in explainer.expected_range(channel))
    at_this_time = explainer.profiles.of(channel).cycle > 0
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
