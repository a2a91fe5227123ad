"""The stream of an online model: assesses rows as they come, and learns from the normal ones.

Shapes: B rows that come together, C channels, V views of the learner.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.baseline_profile import ExpectedRange
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.view_facts import FORECASTING
from subadjacent.methods.method import State, join_names, split_names
from subadjacent.methods.online.lasting import LastingAssessment, LastingStream
from subadjacent.methods.online.learner import Learner, RowAssessment
from subadjacent.methods.online.learning_rule import ADAPT_AFTER, LearningRule
from subadjacent.methods.online.new_events import LOG_RETURN_PERIOD
from subadjacent.methods.online.surprise import CHANNEL_NORM, VIEW_WEIGHT
from subadjacent.methods.online.views import view_names
from subadjacent.methods.stream import ModelStream, check_rows, check_taken, part_of
from subadjacent.methods.views.residual_scale import SOFTNESS
from subadjacent.methods.views.settings import LEVEL

if TYPE_CHECKING:
    from subadjacent.methods.online.model import OnlineModel

Array = NDArray[np.float64]

NEW_SHARE = 0.1
"""Of the requested false alarms those that the learner may raise beside views of what lasts. With a
half it raises five times as many false ones on SMAP (reproduce/log.md, "Alarms that look back
only")."""

MIN_HALF_RANGE = 1e-9
"""Half-width of an expected range, in the units of the series: none is narrower."""

LOOK_BACK = tuple(name for name in FORECASTING if name != LEVEL)
"""Views that expect a row from rows before it."""

CHANNEL_UNIT = 0.05
"""Surprise of a channel to the views of what lasts that one value in a hundred of white noise
exceeds."""


class Watched(NamedTuple):
    """The learner's assessment of rows, and their expected range."""

    assessment: RowAssessment
    expected: ExpectedRange
    goes_on: NDArray[np.bool_]  # (B,), rows that keep an event going


class Watcher:
    """A learner that decides by itself which rows to learn from."""

    def __init__(self, learner: Learner, adapt_after: int | None = ADAPT_AFTER) -> None:
        self.learner = learner
        self.rule = LearningRule(adapt_after)

    def watch(
        self,
        rows: Array,
        missing: NDArray[np.bool_] | None = None,
        lasting: LastingAssessment | None = None,
    ) -> Watched:
        """Assess the next rows, (B, C), at least one, and learn from the normal ones.

        Rows of an event to the views of what lasts are not normal either.
        """
        pieces, done = [], 0
        while done < len(rows):
            some = slice(done, min(done + self.learner.room, len(rows)))
            own_missing = None if missing is None else missing[some]
            own_lasting = None if lasting is None else lasting.part(some)
            pieces.append(self._watch(rows[some], own_missing, own_lasting))
            done = some.stop
        if len(pieces) == 1:
            return pieces[0]
        assessments, ranges, goes_on = zip(*pieces, strict=True)
        return Watched(
            RowAssessment(*_joined(assessments)),
            ExpectedRange(*_joined(ranges)),
            np.concatenate(goes_on),
        )

    def _watch(
        self, rows: Array, missing: NDArray[np.bool_] | None, lasting: LastingAssessment | None
    ) -> Watched:
        learner, first = self.learner, self.learner.rows
        ends = len(rows) == learner.room
        assessment = learner.assess(rows, missing)
        severity, ongoing = assessment.severity, assessment.ongoing
        if lasting is not None:
            severity = np.maximum(severity, lasting.begins / LOG_RETURN_PERIOD)
            ongoing = np.maximum(ongoing, lasting.log_period / LOG_RETURN_PERIOD)
        normal, goes_on, accepted = self.rule.follow(first, severity, ongoing, may_accept=ends)
        expected = learner.mark_normal(normal)
        if accepted is not None:
            learner.accept(learner.rows - accepted, 1)
        return Watched(assessment, expected, goes_on)

    def accept(self, first: int, last: int) -> None:
        """Mark rows as normal: those from ``first`` to ``last`` rows ago, 1 is the latest."""
        if last == 1:
            self.rule.end()
        self.learner.accept(first, last)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, as arrays of bounded size; ``restore`` is the inverse."""
        return join_names({"learner": self.learner.state(), "rule": self.rule.state()})

    @classmethod
    def restore(
        cls, state: dict[str, NDArray[Any]], adapt_after: int | None = ADAPT_AFTER
    ) -> Watcher:
        """The inverse of ``state``, for the same ``adapt_after``."""
        parts = split_names(state)
        watcher = cls(Learner.restore(parts["learner"]), adapt_after)
        watcher.rule.restore(parts["rule"])
        return watcher


class OnlineStream(ModelStream):
    """Assesses rows as they come; every row is final at once.

    ``gap`` goes on after missing rows with all that was learned; ``finish`` begins a new segment as
    the model was after training.
    """

    def __init__(
        self,
        model: OnlineModel,
        state: State | None = None,
        *,
        adapt_after: int | None = ADAPT_AFTER,
    ) -> None:
        self._model = model
        self._adapt_after = adapt_after
        self._begin()
        if state is not None:
            self._continue(state)

    def _begin(self) -> None:
        self.taken = self.given = 0
        self._watcher = Watcher(self._model.learner(), self._adapt_after)
        self._begin_lasting(None)

    def _begin_lasting(self, state: State | None) -> None:
        lasting, after = self._model.lasting, self._adapt_after
        self._lasting = None if lasting is None else LastingStream(lasting, after, state)

    def push(self, rows: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Evidence:
        """Take the next rows; return the evidence on all of them.

        ``missing`` says which values are only carried over a gap, (B, C).
        """
        check_rows(rows, len(self._model.typical_values))
        if not len(rows):
            return self._nothing
        lasting = None if self._lasting is None else self._lasting.push(rows, missing)
        watched = self._watcher.watch(np.asarray(rows, dtype=np.float64), missing, lasting)
        self.taken += len(rows)
        self.given = self.taken
        return self._evidence(rows, watched, lasting)

    def _evidence(
        self, rows: NDArray[Any], watched: Watched, lasting: LastingAssessment | None
    ) -> Evidence:
        """Both parts of the score, each in its own unit.

        An event is as rare as the rarer of the two says, given that either may tell of one.
        """
        model, (assessment, expected, goes_on) = self._model, watched
        score = assessment.surprise / model.unit
        by_channel = VIEW_WEIGHT / model.unit * assessment.by_channel
        traces = self._traces(assessment)
        log_period = assessment.severity * LOG_RETURN_PERIOD
        if lasting is not None and model.lasting is not None:
            evidence, unit = lasting.evidence, model.lasting.unit
            surprise = np.log1p(evidence.by_channel / SOFTNESS)
            by_channel = by_channel + surprise / (CHANNEL_UNIT * unit)
            out = _out_of_range(rows, expected)
            for name, trace in evidence.traces.items():
                traces[name] = trace / unit * (out if name in LOOK_BACK else 1)
                score = score + traces[name]
            new = log_period + math.log(NEW_SHARE)
            log_period = np.maximum(np.maximum(new, lasting.begins + math.log(1 - NEW_SHARE)), 0)
        return Evidence(
            score,
            by_channel,
            expected.expected,
            traces,
            tuple(traces),
            low=expected.low,
            high=expected.high,
            log_period=log_period,
            goes_on=goes_on,
            warm_up=assessment.warm_up,
        )

    def _traces(self, assessment: RowAssessment) -> dict[str, Array]:
        """What each view of the learner adds to the score.

        A row's surprise is divided among its channels as they count in the norm over channels, and
        that of a channel among the views as they add up to it.
        """
        by_channel = assessment.by_channel
        largest = by_channel.max(axis=1, keepdims=True, initial=0)
        powers = (by_channel / np.where(largest > 0, largest, 1)) ** CHANNEL_NORM
        total = powers.sum(axis=1, keepdims=True)
        factors = powers / np.where(total > 0, total, 1) / np.where(by_channel > 0, by_channel, 1)
        shares = np.einsum("bvc,bc->vb", assessment.by_view, factors)
        shares *= assessment.surprise / self._model.unit
        return dict(zip(view_names(by_channel.shape[1]), shares, strict=True))

    def waiting(self) -> Evidence:
        """Evidence on no rows: none waits."""
        return self._nothing

    @cached_property
    def _nothing(self) -> Evidence:
        """Evidence on no rows, in the shape of this model's evidence."""
        other = OnlineStream(self._model)
        return part_of(other.push(self._model.typical_values[None]), 0, 0)

    @property
    def is_behind(self) -> bool:
        """Whether rows wait to be learned from before the next row is assessed."""
        return self._watcher.learner.is_behind

    def prepare(self) -> None:
        """Learn, and fit all that the next row is assessed by."""
        self._watcher.learner.prepare()

    def learn(self) -> None:
        """Learn from the rows that wait to be learned from, if they are enough.

        It is done before the next row otherwise; answers do not depend on when.
        """
        self._watcher.learner.learn()

    def gap(self, rows: int | None) -> None:
        """Skip missing rows, None where nobody knows how many; the first rows after are suppressed.

        What was learned stays.
        """
        self._watcher.learner.gap(rows)
        if self._lasting is not None:
            self._lasting.gap()

    def accept(self, first: int, last: int) -> None:
        """Mark rows as normal: those from ``first`` to ``last`` rows ago, 1 is the latest."""
        self._watcher.accept(first, last)
        if self._lasting is not None and last == 1:
            self._lasting.accept(first)

    def state(self) -> State:
        """The state of the learner and of the views of what lasts."""
        parts = {"watcher": self._watcher.state()}
        facts: dict[str, Any] = {"taken": self.taken}
        if self._lasting is not None:
            parts["lasting"], facts["lasting"] = self._lasting.state()
        return State(join_names(parts), facts)

    def _continue(self, state: State) -> None:
        parts = split_names(state.arrays)
        self.taken = self.given = check_taken(state.facts["taken"])
        self._watcher = Watcher.restore(parts["watcher"], self._adapt_after)
        if self._model.lasting is not None:
            self._begin_lasting(State(parts["lasting"], state.facts["lasting"]))


def _out_of_range(rows: NDArray[Any], expected: ExpectedRange) -> Array:
    """How far the values of rows are on the way out of their expected range: 1 out of it, (B,).

    After an event, forecasts are wrong because they look back at it. A row whose values are all as
    they would be without the event is no part of it.
    """
    half_range = np.maximum(expected.high - expected.expected, expected.expected - expected.low)
    way = np.abs(rows - expected.expected) / np.maximum(half_range, MIN_HALF_RANGE)
    out: Array = np.minimum(way.max(axis=1), 1)
    return out


def _joined(pieces: Any) -> list[Array]:
    """Join tuples of arrays, one array after the other."""
    return [np.concatenate(arrays) for arrays in zip(*pieces, strict=True)]
