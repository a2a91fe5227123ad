"""Events joined into alarms, with their times, severity, number of occurrences and causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.series import TrainSeries
from subadjacent.errors import require_whole
from subadjacent.scoring.causes import Cause, Explainer
from subadjacent.scoring.decision import Judgement
from subadjacent.scoring.evidence import Evidence
from subadjacent.scoring.habits import Habits
from subadjacent.scoring.kinds import MISSING, STUCK, UNUSUAL
from subadjacent.scoring.sentences import also, saw

# rows within which a repeated event is the same finding. With half of it a burst that comes
# every few hundred rows is reported twice as often (reproduce/log.md, "Decisions that hold")
AGAIN = 1000
# rows within which events of any channels are one finding: a fault soon affects other channels
CLOSE = 100
# similarity of repeated events: the cosine of their channels' departures. With 0.5 faults of
# different channels are often taken for one (same entry)
ALIKE = 0.8
# a channel that departs by this share of the first one's square is named in the sentence as well
NAMED_SHARE = 0.3
# shorter than the profile of any event
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Alarm:
    """One finding: an event, a change for good, or an event that repeats.

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
        first_cause = self.causes[0].sentence if self.causes else saw(self.view)
        often = f"{self.times:,} times: " if self.times > 1 else ""
        return often + first_cause + also([cause.channel for cause in self.spoken_of[1:]])

    @property
    def spoken_of(self) -> tuple[Cause, ...]:
        """The causes that the sentence names or counts: the first, and those of similar size."""
        return self.causes[:1] + tuple(
            cause for cause in self.causes[1:] if _is_named(cause, self.causes[0])
        )


def _is_named(cause: Cause, first: Cause) -> bool:
    """Whether a channel departed enough, beside the first one, to be named."""
    if first.kind in (MISSING, STUCK):
        return cause.kind == first.kind
    return cause.score >= NAMED_SHARE * first.score and (
        cause.kind != UNUSUAL or first.kind == UNUSUAL
    )


def describe(
    series: TrainSeries,
    evidence: Evidence,
    judgement: Judgement,
    habits: Habits,
    events: Sequence[tuple[int, int]],
    *,
    channels: int = 5,
    again: int = AGAIN,
) -> list[Alarm]:
    """An alarm for each finding in one series, with the ``channels`` that explain it best.

    Events that are close, or of the same channels with at most ``again`` rows between them, are
    one finding. So are all within ``again`` rows in a series that the model no longer fits, as
    differences between events say little there. None reaches from one segment into the next.
    """
    require_whole("channels", channels, least=0)
    require_whole("again", again, least=0)
    explainer = Explainer.of(series, evidence, habits, judgement.anomalous)
    alarms = []
    for start, stop in judgement.segments:
        in_segment = [event for event in events if start <= event[0] < stop]
        profiles = [_profile(evidence, *event) for event in in_segment]
        grouped = findings(in_segment, profiles, again, ALIKE if judgement.fits else 0.0)
        alarms += [_alarm(explainer, judgement, finding, channels) for finding in grouped]
    return alarms


def findings(
    events: Sequence[tuple[int, int]],
    profiles: Sequence[NDArray[Any]],
    again: int,
    alike: float = ALIKE,
) -> list[list[tuple[int, int]]]:
    """Group events that repeat, by the departures of their channels.

    Events come in time order, and findings in the order of their first one. A profile is the
    direction, of length 1, in which an event's channels departed.
    """
    groups: list[list[tuple[int, int]]] = []
    totals: list[NDArray[Any]] = []
    for event, profile in zip(events, profiles, strict=True):
        joins = -1, 0.0
        for number, (finding, total) in enumerate(zip(groups, totals, strict=True)):
            rows_between = event[0] - finding[-1][1]
            likeness = float(total @ profile) / max(float(np.linalg.norm(total)), TINY)
            # a close event comes before a similar one
            closeness = likeness + (2 if rows_between <= CLOSE else 0)
            if rows_between <= again and closeness >= max(alike, joins[1]):
                joins = number, closeness
        if joins[0] < 0:
            groups.append([event])
            totals.append(profile)
        else:
            groups[joins[0]].append(event)
            totals[joins[0]] = totals[joins[0]] + profile
    return groups


def _profile(evidence: Evidence, start: int, stop: int) -> NDArray[Any]:
    """The direction, of length 1, in which the channels departed in an event."""
    means = evidence.by_channel[start:stop].mean(axis=0, dtype=np.float64)
    return np.asarray(means / max(float(np.linalg.norm(means)), TINY))


def _alarm(
    explainer: Explainer,
    judgement: Judgement,
    events: Sequence[tuple[int, int]],
    channels: int,
) -> Alarm:
    series, evidence = explainer.series, explainer.evidence
    first, last = events[0][0], events[-1][1] - 1
    rows = np.concatenate([np.arange(*event) for event in events])
    peak = int(rows[np.argmax(judgement.normalized[rows])])
    view, permanent = _view(evidence, rows), _is_permanent(judgement, first, last)
    return Alarm(
        start=series.label(first),
        end=series.label(last),
        peak=series.label(peak),
        severity=float(judgement.normalized[peak]),
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


def _is_permanent(judgement: Judgement, first: int, last: int) -> bool:
    """Whether the series has moved by the end of an alarm, and does not come back."""
    # an alarm ends before the first row by which the series has moved
    moved = judgement.lately.moved
    if moved[first] or not moved[last : last + 1 + CLOSE].any():
        return False
    later = slice(last + 1 + CLOSE, last + 1 + 4 * CLOSE)
    # the threshold before the move: scores of a series that came back are below it
    stays = judgement.scores[later] > judgement.threshold[first]
    return not len(stays) or bool(np.median(stays))


def _view(evidence: Evidence, rows: NDArray[np.intp]) -> str | None:
    """The view that adds most to the score over the rows; the first of several that tie."""
    sums = {name: evidence.traces[name][rows].sum() for name in evidence.views}
    return max(sums, key=lambda name: sums[name], default=None)
