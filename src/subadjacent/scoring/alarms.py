"""Events joined into alarms, with their times, severity, number of occurrences and causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.errors import require_whole
from subadjacent.scoring.baseline_profile import BaselineProfiles
from subadjacent.scoring.causes import Cause, Explainer, alarm_sentence
from subadjacent.scoring.decision import RowDecisions
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.kinds import UNUSUAL

# rows within which a repeated event is the same finding. With half of it a burst that comes
# every few hundred rows is reported twice as often (reproduce/log.md, "Decisions that hold")
REPEAT_WITHIN = 1000
# rows within which events of any channels are one finding: a fault soon affects other channels
JOIN_WITHIN = 100
# similarity of repeated events: the cosine of their channels' departures. With 0.5 faults of
# different channels are often taken for one (same entry)
MIN_SIMILARITY = 0.8
# shorter than the direction of any event
MIN_NORM = 1e-12


@dataclass(frozen=True, slots=True)
class Alarm:
    """One finding: an event, a permanent change, or an event that repeats.

    ``start``, ``end`` (both included) and ``peak`` are labels of the input's index, or row
    numbers where it has none; ``first`` and ``last`` are always row numbers. ``severity`` is
    the highest normalised score: 1.0 is the threshold. ``view`` is the one of the evidence's
    views that adds most to the score over the rows of the event, None where there are none.

    ``occurrences`` are the row bounds, both included, of each event that it joins, and
    ``duration`` counts the rows from the first to the last. ``permanent`` says that the series did
    not come back from it, so that it counts as normal from then on.
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
    occurrences: tuple[tuple[int, int], ...] = ()
    permanent: bool = False

    @property
    def times(self) -> int:
        """How many events it joins."""
        return max(len(self.occurrences), 1)

    @property
    def kind(self) -> str:
        """The kind of its first cause: one of ``kinds.KINDS``."""
        return self.causes[0].kind if self.causes else UNUSUAL

    @property
    def sentence(self) -> str:
        """What happened, as a sentence for people: the same in every output."""
        return alarm_sentence(self.causes, self.view, self.times)


def describe(
    series: TrainSeries,
    evidence: Evidence,
    decisions: RowDecisions,
    profiles: BaselineProfiles,
    events: Sequence[tuple[int, int]],
    *,
    channels: int = 5,
    again: int = REPEAT_WITHIN,
) -> list[Alarm]:
    """An alarm for each finding in one series, with the ``channels`` that explain it best.

    Events that are close, or of the same channels with at most ``again`` rows between them, are
    one finding. So are all within ``again`` rows in a series that the model no longer fits, as
    differences between events say little there. None reaches from one segment into the next.
    """
    require_whole("channels", channels, least=0)
    require_whole("again", again, least=0)
    explainer = Explainer.of(series, evidence, profiles, decisions.anomalous)
    alarms = []
    for start, stop in decisions.segments:
        in_segment = [event for event in events if start <= event[0] < stop]
        directions = [_direction(evidence, *event) for event in in_segment]
        grouped = findings(in_segment, directions, again, MIN_SIMILARITY if decisions.fits else 0.0)
        alarms += [_alarm(explainer, decisions, finding, channels) for finding in grouped]
    return alarms


def findings(
    events: Sequence[tuple[int, int]],
    directions: Sequence[NDArray[Any]],
    again: int,
    alike: float = MIN_SIMILARITY,
) -> list[list[tuple[int, int]]]:
    """Group events that repeat, by the departures of their channels.

    Events come in time order, and findings in the order of their first one. A direction is the
    direction, of length 1, in which an event's channels departed.
    """
    groups: list[list[tuple[int, int]]] = []
    totals: list[NDArray[Any]] = []
    for event, direction in zip(events, directions, strict=True):
        joins = -1, 0.0
        for number, (finding, total) in enumerate(zip(groups, totals, strict=True)):
            rows_between = event[0] - finding[-1][1]
            likeness = float(total @ direction) / max(float(np.linalg.norm(total)), MIN_NORM)
            # a close event comes before a similar one
            closeness = likeness + (2 if rows_between <= JOIN_WITHIN else 0)
            if rows_between <= again and closeness >= max(alike, joins[1]):
                joins = number, closeness
        if joins[0] < 0:
            groups.append([event])
            totals.append(direction)
        else:
            groups[joins[0]].append(event)
            totals[joins[0]] = totals[joins[0]] + direction
    return groups


def _direction(evidence: Evidence, start: int, stop: int) -> NDArray[Any]:
    """The direction, of length 1, in which the channels departed in an event."""
    means = evidence.by_channel[start:stop].mean(axis=0, dtype=np.float64)
    return np.asarray(means / max(float(np.linalg.norm(means)), MIN_NORM))


def _alarm(
    explainer: Explainer,
    decisions: RowDecisions,
    events: Sequence[tuple[int, int]],
    channels: int,
) -> Alarm:
    series, evidence = explainer.series, explainer.evidence
    first, last = events[0][0], events[-1][1] - 1
    rows = np.concatenate([np.arange(*event) for event in events])
    peak = int(rows[np.argmax(decisions.normalized[rows])])
    view, permanent = _view(evidence, rows), _is_permanent(decisions, first, last)
    return Alarm(
        start=series.label(first),
        end=series.label(last),
        peak=series.label(peak),
        severity=float(decisions.normalized[peak]),
        score=float(evidence.score[peak]),
        duration=last + 1 - first,
        causes=explainer.causes(events, channels, view=view, permanent=permanent),
        first=first,
        last=last,
        entity=series.entity,
        view=view,
        occurrences=tuple((start, stop - 1) for start, stop in events),
        permanent=permanent,
    )


def _is_permanent(decisions: RowDecisions, first: int, last: int) -> bool:
    """Whether the baseline has shifted by the end of an alarm, and does not come back."""
    # an alarm ends before the first row with a shifted baseline
    shifted = decisions.baseline.shifted
    if shifted[first] or not shifted[last : last + 1 + JOIN_WITHIN].any():
        return False
    later = slice(last + 1 + JOIN_WITHIN, last + 1 + 4 * JOIN_WITHIN)
    # the threshold before the shift: scores of a series that came back are below it
    stays = decisions.scores[later] > decisions.threshold[first]
    return not len(stays) or bool(np.median(stays))


def _view(evidence: Evidence, rows: NDArray[np.intp]) -> str | None:
    """The view that adds most to the score over the rows; the first of several that tie."""
    sums = {name: evidence.traces[name][rows].sum() for name in evidence.views}
    return max(sums, key=lambda name: sums[name], default=None)
