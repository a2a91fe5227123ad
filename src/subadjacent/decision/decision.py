"""One decision: from evidence to severities and events, for a whole series or as rows come.

A row is held against normal rows twice: by its score, and by its strongest channel, so that the
severity of a departure does not depend on how many quiet channels stand beside it. The two share
the false alarms that were requested. A batch runs the same steps as a stream: whatever is
decided on a row depends on earlier rows, and on at most ``blur`` later ones. Only three things
take hindsight, in a batch alone: the thresholds ``DynamicLevel`` and ``AdaptiveConformal``, whether
the model still fits, and whether a shift was permanent.

A row in which a channel is silent (``silence``) is part of an event whatever its score, and does
not count for other rows.

Shapes: T rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from subadjacent.decision.adaptive import AdaptiveConformal
from subadjacent.decision.base_threshold import BaseThreshold
from subadjacent.decision.baseline_profile import Rows
from subadjacent.decision.conformal import Conformal
from subadjacent.decision.dynamic import dynamic_level
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.machine import CLOSED, EventMachine, OngoingEvent
from subadjacent.decision.severity_stream import (
    NO_ROWS,
    Flags,
    RowEvents,
    RowSeverity,
    SeverityStream,
)
from subadjacent.decision.threshold import AlarmBudget, AutoRate, DynamicLevel, Quantile
from subadjacent.decision.trace_threshold import STRONGEST_SHARE, TraceThreshold

# how steep probabilities are: a typical row gets 1 %, a row at the threshold 50 %
STEEPNESS = float(np.log(99))
# a model no longer fits a series if most of its rows are unlike the training rows, and at least as
# many as it was fitted on: a fault that lasts is no reason to disown a model
MAX_UNLIKE_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class RowDecisions:
    """The decisions on the rows of one series.

    Parameters
    ----------
    scores
        As given.
    rows
        Their severity.
    events
        What stands out, in time order.
    anomalous
        Which rows belong to an event.
    fits
        Whether the model still fits the series.
    segments
        Bounds of its unbroken segments.
    p_values
        Upper bound of the chance that a normal row scores as high, (T,); None where it is not
        conformal.
    """

    scores: Rows
    rows: RowSeverity
    events: list[OngoingEvent]
    anomalous: Flags
    fits: bool
    segments: Sequence[tuple[int, int]]
    p_values: Rows | None = None

    @property
    def severity(self) -> Rows:
        """1 is the level that normal rows cross as often as requested, 2 a tenth as often."""
        return self.rows.severity

    @property
    def probability(self) -> Rows:
        """A logistic curve over the severity; it orders, it is not a frequency."""
        return np.asarray(expit(STEEPNESS * (self.severity - 1)))


@dataclass(frozen=True, slots=True)
class Decision:
    """What was requested, and what is normal for each entity.

    Parameters
    ----------
    score
        The threshold of the score.
    strongest
        That of the strongest channel; None where models do not tell it, or the threshold was set by
        hand or by an object of another library, which knows scores alone.
    adapt_after
        Rows after which a shifted baseline is the new normal; None: never.
    """

    score: TraceThreshold
    strongest: TraceThreshold | None
    adapt_after: int | None

    def period(self, entity: str | None) -> float:
        """Rows in which one false alarm is requested, by the score or the strongest channel."""
        share = 1.0 if self.strongest is None else 1 - STRONGEST_SHARE
        return share * self.score.period(entity)

    def requesting(self, rate: float, entity: str | None, *, of_rows: bool) -> Decision:
        """The decision on one entity at another rate: of false alarms, or of rows above a level."""
        if self.strongest is None:
            return replace(self, score=self.score.requesting(rate, entity, of_rows=of_rows))
        rest, own = (1 - STRONGEST_SHARE) * rate, STRONGEST_SHARE * rate
        score = self.score.requesting(rest, entity, of_rows=of_rows)
        strongest = self.strongest.requesting(own, entity, of_rows=of_rows)
        return replace(self, score=score, strongest=strongest)

    @property
    def is_share_of_rows(self) -> bool:
        """Whether a share of the rows was requested: no row between two of them counts."""
        return _is_share_of_rows(self.score.rule)

    def stream(
        self, entity: str | None, blur: int = 0, levels: Rows | None = None
    ) -> SeverityStream:
        """The severities of an entity's rows as they come; ``levels`` where they are known."""
        return SeverityStream(
            self.score,
            self.strongest,
            entity,
            adapt_after=self.adapt_after,
            blur=blur,
            by_row=self.is_share_of_rows,
            levels=levels,
            period=self.period(entity) if self.is_rate_of_events else None,
        )

    @property
    def is_rate_of_events(self) -> bool:
        """Whether events were requested, so many in so many rows or in some time."""
        return isinstance(self.score.rule, AutoRate | AlarmBudget)

    def machine(self, *, tells_new: bool = False) -> EventMachine:
        """The machine that follows severities of final evidence.

        Where a share of the rows was requested, every run of such rows is an event. ``tells_new``
        says that the evidence tells how rare an event is that begins at a row.
        """
        if self.is_share_of_rows:
            return EventMachine(0, only_new=True)
        return EventMachine(only_new=tells_new and self.is_rate_of_events)

    def decide(
        self,
        evidence: Evidence,
        entity: str | None = None,
        segments: Sequence[tuple[int, int]] | None = None,
        silent: Flags | None = None,
        *,
        blur: int = 0,
    ) -> RowDecisions:
        """Decide on the rows of one series.

        Parameters
        ----------
        evidence
            On all of its rows, in time order; only scores and strongest channels are read.
        entity
            The entity's name.
        segments
            Bounds of unbroken segments; all rows are one if not given.
        silent
            Rows in which a channel is missing for long or stuck, (T,); none if not given.
        blur
            Rows by which averaging spreads an event to either side; they are left out.
        """
        scores = np.asarray(evidence.score, dtype=np.float64)
        bounds = [(0, len(scores))] if segments is None else segments
        known = np.ones(len(scores), dtype=bool) if silent is None else ~silent
        levels, p_values = self._in_hindsight(scores, known)
        stream = self.stream(entity, blur, levels)
        machine = self.machine(tells_new=evidence.log_period is not None)
        parts, events = [], []
        for first, last in bounds:
            strongest = None if evidence.strongest is None else evidence.strongest[first:last]
            flags = None if silent is None else silent[first:last]
            row_events = RowEvents.of(evidence, slice(first, last))
            pushed = stream.push(scores[first:last], strongest, flags, row_events)
            rows = RowSeverity.joined([pushed, stream.finish()])
            changes = rows.push_to(machine)
            changes += machine.end_segment()
            events += [change.event for change in changes if change.state == CLOSED]
            parts.append(rows)
        everything = RowSeverity.joined(parts) if parts else NO_ROWS
        if isinstance(self.score.rule, Conformal) and known.any():
            p_values = self.score.rule.p_values(scores - everything.shift)
        fits = _fits(everything.unlike[known], self.score.normal.of(entity).rows)
        anomalous = np.zeros(len(scores), dtype=bool)
        for event in events:
            anomalous[event.first : event.last + 1] = True
        return RowDecisions(scores, everything, events, anomalous, fits, bounds, p_values)

    def _in_hindsight(self, scores: Rows, known: Flags) -> tuple[Rows | None, Rows | None]:
        """Levels of the known rows where they depend on the series, and p-values, (T,) each."""
        rule = self.score.rule
        if not known.any():
            return None, None
        if isinstance(rule, AdaptiveConformal):
            followed = rule.follow(scores[known])
            return followed.levels, followed.p_values[np.maximum(np.cumsum(known) - 1, 0)]
        if isinstance(rule, DynamicLevel):
            level = dynamic_level(scores[known], rule.step)
            return np.full(int(known.sum()), level), None
        return None, None


def _is_share_of_rows(rule: BaseThreshold | None) -> bool:
    """Whether a threshold promises how many rows are above it."""
    by_row = isinstance(rule, Conformal) and rule.block == 1
    return by_row or isinstance(rule, Quantile | AdaptiveConformal)


def _fits(unlike: Flags, fitted: int) -> bool:
    """Whether most rows are like training, or fewer are unlike than were fitted on."""
    return not len(unlike) or bool(unlike.mean() <= MAX_UNLIKE_SHARE or unlike.sum() < fitted)
