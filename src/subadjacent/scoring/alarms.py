"""Rows above the threshold, joined into events that say when, how bad, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d
from scipy.signal import find_peaks, peak_prominences

from subadjacent.data.series import TrainSeries
from subadjacent.errors import require_whole
from subadjacent.scoring.decision import Decision
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.explanations import EXPLANATIONS

# added to a channel's usual squared error: one that never moved in training is not explained
# by its first ripple
ERROR_FLOOR = 1e-3
# share of the highest score around it that a row of an event has
CORE = 0.5
# share of its height that a peak must stand out by, to be one of its own
VALLEY = 0.25


@dataclass(frozen=True, slots=True)
class Cause:
    """A channel's part in an alarm, at the row where it was furthest from what was expected.

    ``score`` is its squared departure in units of the usual one, the mean over the alarm;
    ``expected`` is NaN where the detector expects no value.
    """

    channel: str
    score: float
    at: Any
    expected: float
    seen: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """One event: rows above the threshold, close enough to belong together.

    ``start``, ``end`` (both included) and ``peak`` are labels of the input's index, or row
    numbers where it has none; ``first`` and ``last`` are always row numbers. ``severity`` is
    the highest normalised score: 1.0 is the threshold. ``view`` is the one of the evidence's
    views that adds most to the score over the rows of the event, None where there are none.
    """

    start: Any
    end: Any
    peak: Any
    severity: float
    score: float
    duration: int
    causes: tuple[Cause, ...]
    first: int
    last: int
    entity: str | None = None
    view: str | None = None

    @property
    def explanation(self) -> str | None:
        """What the view saw, in words; None where there is no view."""
        return None if self.view is None else EXPLANATIONS.get(self.view, self.view)


def join(
    above: NDArray[np.bool_],
    gap: int = 0,
    shortest: int = 1,
    stretches: Sequence[tuple[int, int]] | None = None,
) -> list[tuple[int, int]]:
    """Half-open row bounds of the events in ``above``.

    Runs with at most ``gap`` rows between them are one event; events that then span fewer
    than ``shortest`` rows are dropped. No event reaches from one stretch into the next.
    """
    require_whole("gap", gap, least=0)
    require_whole("shortest", shortest, least=1)
    joined: list[tuple[int, int]] = []
    for first, last in stretches or [(0, len(above))]:
        edges = np.diff(above[first:last], prepend=False, append=False)
        runs = first + np.flatnonzero(edges).reshape(-1, 2)
        for start, stop in runs.tolist():
            if joined and joined[-1][1] > first and start - joined[-1][1] <= gap:
                joined[-1] = (joined[-1][0], stop)
            else:
                joined.append((start, stop))
    return [(start, stop) for start, stop in joined if stop - start >= shortest]


def core_of(
    above: NDArray[np.bool_],
    scores: NDArray[Any],
    reach: int,
    stretches: Sequence[tuple[int, int]],
) -> NDArray[np.bool_]:
    """Those rows of ``above`` that score at least half as high as any around them.

    An average spreads an event over the rows around it; these are left out. Around a row are those
    within ``reach`` that no valley parts from it: a small event beside a large one stays.
    """
    highest = np.empty(len(scores))
    for first, last in stretches:
        for start, stop in _slopes(scores[first:last], reach):
            part = slice(first + start, first + stop)
            highest[part] = maximum_filter1d(scores[part], 2 * reach + 1, mode="nearest")
    return above & (scores >= CORE * highest)


def _slopes(scores: NDArray[Any], reach: int) -> list[tuple[int, int]]:
    """Where the slopes of each peak begin and end, from valley to valley."""
    # one row more at either end: the first and the last row may be peaks
    padded = np.pad(scores.astype(float), 1, constant_values=scores.min() - 1)
    # seen from the middle of a longer plateau nothing is lower: it does not stand out
    peaks, _ = find_peaks(padded, plateau_size=(None, 2 * reach + 1))
    stands_out = peak_prominences(padded, peaks, wlen=2 * reach + 3)[0]
    peaks = peaks[stands_out >= VALLEY * padded[peaks]] - 1
    valleys = [one + int(np.argmin(scores[one : two + 1])) for one, two in pairwise(peaks)]
    return list(pairwise([0, *valleys, len(scores)]))


def rows_of(events: Sequence[tuple[int, int]], n: int) -> NDArray[np.bool_]:
    """Which of ``n`` rows belong to an event."""
    rows = np.zeros(n, dtype=bool)
    for start, stop in events:
        rows[start:stop] = True
    return rows


def describe(
    series: TrainSeries,
    evidence: Evidence,
    events: Sequence[tuple[int, int]],
    decision: Decision,
    channels: int,
) -> list[Alarm]:
    """An alarm for each event of one series, with the ``channels`` that explain it best."""
    require_whole("channels", channels, least=0)
    alarms = []
    for start, stop in events:
        peak = start + int(np.argmax(evidence.score[start:stop]))
        alarms.append(
            Alarm(
                start=series.label(start),
                end=series.label(stop - 1),
                peak=series.label(peak),
                severity=float(decision.normalized(evidence.score[peak])),
                score=float(evidence.score[peak]),
                duration=stop - start,
                causes=_causes(series, evidence, start, stop, channels),
                first=start,
                last=stop - 1,
                entity=series.entity,
                view=_view(evidence, start, stop),
            )
        )
    return alarms


def _view(evidence: Evidence, start: int, stop: int) -> str | None:
    """The view that adds most to the score over the rows; the first of several that tie."""
    sums = {name: evidence.traces[name][start:stop].sum() for name in evidence.views}
    return max(sums, key=lambda name: sums[name], default=None)


def _causes(
    series: TrainSeries, evidence: Evidence, start: int, stop: int, most: int
) -> tuple[Cause, ...]:
    """The ``most`` channels that explain the event best."""
    by_channel, expected = evidence.by_channel[start:stop], evidence.expected
    means = by_channel.mean(axis=0)
    departures = by_channel
    if expected is not None:
        # what each channel did is averaged over rows: where it departed most is not its top
        departures = np.abs(series.values[start:stop] - expected[start:stop])
    worst = start + departures.argmax(axis=0)
    return tuple(
        Cause(
            channel=series.channels[column],
            score=float(means[column]),
            at=series.label(int(worst[column])),
            expected=math.nan if expected is None else float(expected[worst[column], column]),
            seen=float(series.values[worst[column], column]),
        )
        for column in np.argsort(-means, kind="stable")[:most].tolist()
    )
