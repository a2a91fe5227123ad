"""Alarms: events of one series, with their times, severity, causes and repeats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.causes import Cause, Explainer, alarm_sentence
from subadjacent.decision.decision import RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.kinds import LEVEL_SHIFT, UNUSUAL
from subadjacent.decision.machine import CLOSED, OngoingEvent
from subadjacent.decision.permanent import is_permanent
from subadjacent.errors import require_whole

PROVISIONAL, CONFIRMED, WITHDRAWN = STATUSES = ("provisional", "confirmed", "withdrawn")

# rows within which an event of the same channels repeats another. With half of it a burst that
# comes every few hundred rows is a new finding every time (reproduce/log.md, "Decisions that hold")
REPEAT_WITHIN = 1000
# similarity of repeated events: the cosine of their channels' departures. With 0.5 faults of
# different channels are often taken for one (same entry)
MIN_SIMILARITY = 0.8
# shorter than the direction of any event
MIN_NORM = 1e-12


@dataclass(frozen=True, slots=True)
class Alarm:
    """One event of a series, of a batch or a stream.

    Parameters
    ----------
    number
        Counts the alarms of its series from 1.
    entity
        The series.
    start, end, peak
        When it began, ended (both included) and was most severe: labels of the input's index or
        times of a stream, or row numbers where there are none.
    first, last
        Its row numbers, both included.
    severity
        The highest of its rows: 1 is the level that normal rows cross as often as was requested, 2
        is crossed a tenth as often.
    score
        At its peak.
    causes
        The channels that explain it best.
    view
        The view of the evidence that adds most to the score over its rows; None without views.
    permanent
        Whether the series did not come back from it, so that it counts as normal from then on.
    state
        How it last changed: "opened", "updated" or "closed", and in a stream with a model then
        "confirmed" or "withdrawn".
    status
        "provisional" until the rows that a final score waits for have come, then "confirmed" or
        "withdrawn". Alarms of a batch are confirmed.
    repeat_of
        The number of the first alarm of its kind, where it repeats one.
    repeat
        The how many-th of its kind it is: 1 for the first.
    kind, sentence
        What happened, in a word and for people: the same in every output.
    """

    number: int
    entity: str | None
    start: Any
    end: Any
    peak: Any
    first: int
    last: int
    severity: float
    score: float | None
    causes: tuple[Cause, ...] = ()
    view: str | None = None
    permanent: bool = False
    state: str = CLOSED
    status: str = CONFIRMED
    repeat_of: int | None = None
    repeat: int = 1
    kind: str = UNUSUAL
    sentence: str = ""

    @property
    def duration(self) -> int:
        """Its rows, from the first to the last."""
        return self.last + 1 - self.first


def describe(
    series: TrainSeries,
    evidence: Evidence,
    decisions: RowDecisions,
    profiles: BaselineProfiles,
    *,
    shortest: int = 1,
    channels: int = 5,
    again: int = REPEAT_WITHIN,
) -> list[Alarm]:
    """An alarm for each event of one series, with the ``channels`` that explain it best.

    Events of fewer than ``shortest`` rows are left out. One of the same channels as another, with
    at most ``again`` rows between them, repeats it.
    """
    require_whole("shortest", shortest, least=1)
    require_whole("channels", channels, least=0)
    require_whole("again", again, least=0)
    explainer = Explainer.of(series, evidence, profiles, decisions.anomalous)
    repeats = Repeats(again)
    alarms: list[Alarm] = []
    for event in decisions.events:
        if event.last + 1 - event.first < shortest:
            continue
        number = len(alarms) + 1
        alarm = _alarm(explainer, decisions, event, number, channels)
        departs = direction(evidence.by_channel[event.first : event.last + 1])
        repeat_of, repeat = repeats.add(number, event.first, event.last, departs)
        alarms.append(replace(alarm, repeat_of=repeat_of, repeat=repeat))
    return alarms


class Repeats:
    """Which events repeat earlier ones, by the departures of their channels.

    Parameters
    ----------
    again
        Rows within which an event of the same channels repeats another.
    """

    def __init__(self, again: int = REPEAT_WITHIN) -> None:
        self._again = again
        # of each kind: its first number, how many there were, the last row, summed directions
        self._kinds: list[tuple[int, int, int, NDArray[Any]]] = []

    def add(
        self, number: int, begin: int, end: int, departs: NDArray[Any]
    ) -> tuple[int | None, int]:
        """The number of the first event of its kind, None for a new kind; and how many-th it is.

        It has rows ``begin`` to ``end``. ``departs`` is the direction, of length 1, in which its
        channels depart.
        """
        # what ended too long ago is repeated by nothing any more
        self._kinds = [kind for kind in self._kinds if begin - kind[2] - 1 <= self._again]
        best, place = MIN_SIMILARITY, None
        for index, (_, _, _, total) in enumerate(self._kinds):
            likeness = float(total @ departs) / max(float(np.linalg.norm(total)), MIN_NORM)
            if likeness >= best:
                best, place = likeness, index
        if place is None:
            self._kinds.append((number, 1, end, departs))
            return None, 1
        first, count, _, total = self._kinds[place]
        self._kinds[place] = first, count + 1, end, total + departs
        return first, count + 1

    def state(self) -> list[list[Any]]:
        """As JSON holds it."""
        return [[*numbers, total.tolist()] for *numbers, total in self._kinds]

    def restore(self, saved: list[list[Any]]) -> None:
        """The inverse of ``state``."""
        self._kinds = [
            (int(number), int(count), int(last), np.array(total))
            for number, count, last, total in saved
        ]


def direction(by_channel: NDArray[Any]) -> NDArray[Any]:
    """The direction, of length 1, in which the channels departed in the rows of an event."""
    means = by_channel.mean(axis=0, dtype=np.float64)
    return np.asarray(means / max(float(np.linalg.norm(means)), MIN_NORM))


def _alarm(
    explainer: Explainer,
    decisions: RowDecisions,
    event: OngoingEvent,
    number: int,
    channels: int,
) -> Alarm:
    series, evidence = explainer.series, explainer.evidence
    view = strongest_view(evidence, slice(event.first, event.last + 1))
    rows = decisions.rows
    shifted = is_permanent(rows.shifted, rows.unlike, event.first, event.last)
    explained = explainer.explain(event.first, event.last, channels, view=view, permanent=shifted)
    # as far as the channels tell
    permanent = shifted and all(cause.kind == LEVEL_SHIFT for cause in explained.causes[:1])
    peak = min(max(event.peak, explained.first), explained.last)
    return Alarm(
        number=number,
        entity=series.entity,
        start=series.label(explained.first),
        end=series.label(explained.last),
        peak=series.label(peak),
        first=explained.first,
        last=explained.last,
        severity=event.severity,
        score=float(evidence.score[event.peak]),
        causes=explained.causes,
        view=view,
        permanent=permanent,
        kind=explained.causes[0].kind if explained.causes else UNUSUAL,
        sentence=alarm_sentence(explained.causes, view, len(series.channels)),
    )


def strongest_view(evidence: Evidence, rows: slice) -> str | None:
    """The view that adds most to the score over the rows; the first of several that tie."""
    sums = {name: evidence.traces[name][rows].sum() for name in evidence.views}
    return max(sums, key=lambda name: sums[name], default=None)
