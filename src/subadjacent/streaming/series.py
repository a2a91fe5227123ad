"""The stream of one series: rows in order are assessed and learned from, alarms are kept.

Rows that come together go through in few calls. The answer to a row does not depend on how rows
are grouped.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.cleaning import LARGEST
from subadjacent.data.gaps import ForwardFill
from subadjacent.data.times import Times
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.evidence import Evidence
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.piecewise import joined_scores
from subadjacent.errors import InputError
from subadjacent.methods.method import State, join_names, split_names
from subadjacent.streaming.answer import Answer, answers_of_state, answers_state
from subadjacent.streaming.arrivals import NAMELESS, Arrivals, Counts
from subadjacent.streaming.fitted_parts import FittedParts
from subadjacent.streaming.rules import AlarmRules
from subadjacent.streaming.series_assessor import ROWS_AT_ONCE, SeriesAssessor
from subadjacent.streaming.span import Span

Array = NDArray[np.float64]


class SeriesStream:
    """The stream of one series.

    Parameters
    ----------
    channels
        The channels' names, in order.
    detector
        A fitted one, or None to learn from the rows alone.
    entity
        The name of the series.
    rules
        When alarms open and close. None: the detector's, else the defaults.
    """

    def __init__(
        self,
        channels: Sequence[str],
        detector: BaseDetector | None = None,
        entity: str | None = None,
        *,
        rules: AlarmRules | None = None,
    ) -> None:
        self.channels = tuple(channels)
        self.entity = entity
        self._fitted = None if detector is None else FittedParts.of(detector, self.channels, entity)
        rules = rules or AlarmRules.of(detector)
        self._arrivals = Arrivals(rules.fill_limit, NAMELESS if entity is None else repr(entity))
        typical = np.zeros(len(self.channels)) if self._fitted is None else self._fitted.typical
        self._filler = ForwardFill(typical)
        self._waiting: deque[Answer] = deque()
        self._latest: Answer | None = None
        self._assessor = SeriesAssessor(self.channels, entity, rules, self._fitted)

    @property
    def rows(self) -> int:
        """Rows accepted so far."""
        return self._arrivals.counts.accepted

    @property
    def counts(self) -> Counts:
        """Rows accepted and dropped so far."""
        return self._arrivals.counts

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Alarms so far, the latest last; the last hundred of them."""
        return tuple(self._assessor.alarms.alarms)

    @property
    def opened(self) -> int:
        """Alarms that were opened so far."""
        return self._assessor.alarms.opened

    @property
    def is_behind(self) -> bool:
        """Whether rows wait to be learned from before the next row is assessed."""
        return self._assessor.online.is_behind

    def catch_up(self) -> None:
        """Learn now, so that the next row need not wait for it; its answer is the same."""
        self._assessor.online.prepare()

    def learn(self) -> None:
        """Learn from the rows that wait, but fit with the next row: half of the work each."""
        self._assessor.online.learn()

    def push(self, rows: Any, times: Sequence[Any] | None = None) -> list[Answer]:
        """Answers to the next rows, (B, C), NaN for missing values.

        Each row has an answer at once and, where its score waits for later rows, a final one when
        these have come. Dropped rows (``counts``) have none.

        Raises
        ------
        InputError
            For rows of another shape, impossible values and impossible times; no row is accepted.
        """
        values = self._check(rows)
        read = self._arrivals.read(times, len(values))
        self._check_budget(read, len(values))
        places, starts, skipped = self._arrivals.accept(read, len(values))
        values = values[places]
        own = None if times is None else [times[place] for place in places]
        answers: list[Answer] = []
        for first in range(0, len(values), ROWS_AT_ONCE):
            part = slice(first, min(first + ROWS_AT_ONCE, len(values)))
            some = None if own is None else own[part]
            answers += self._chunk(values[part], starts[part], skipped[part], some)
        return answers

    @property
    def contamination(self) -> Any:
        """The requested rate of false alarms; it may be changed at any time."""
        return self._assessor.rules.contamination

    @contamination.setter
    def contamination(self, contamination: Any) -> None:
        self._assessor.rules = replace(self._assessor.rules, contamination=contamination)

    def _check_budget(self, times: Times | None, count: int) -> None:
        """Refuse alarms per time where rows have no dates."""
        rules = self._assessor.rules
        if rules.by_time and count and (times is None or times.unit == "own"):
            raise InputError.of(
                "contamination",
                "must be a share of the rows where rows have no dates",
                f"got {rules.contamination!r}",
            )

    def _check(self, rows: Any) -> Array:
        """Rows as numbers; infinite ones are missing, as in a batch."""
        try:
            values = np.array(rows, dtype=np.float64, ndmin=2)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError.of("rows", "must hold numbers", f"got {error}") from error
        if values.ndim != 2 or (values.shape[1] != len(self.channels) and values.size):
            raise InputError.of(
                "rows",
                f"must have {len(self.channels)} values each, one a channel",
                f"got shape {values.shape}",
            )
        values = values.reshape(-1, len(self.channels))
        if (np.abs(values) <= LARGEST).all():
            # nothing is missing, infinite or too large, as nearly always
            return values
        if (large := np.isfinite(values) & (np.abs(values) > LARGEST)).any():
            row, column = np.argwhere(large)[0]
            raise InputError.of(
                "rows",
                f"must not exceed {LARGEST:g} in magnitude",
                f"column {self.channels[column]!r} is {values[row, column]} at row {row}",
            )
        values[np.isinf(values)] = np.nan
        return values

    def _chunk(
        self,
        rows: Array,
        starts: NDArray[np.bool_],
        skipped: NDArray[np.int64],
        times: list[Any] | None,
    ) -> list[Answer]:
        assessor, final = self._assessor, None if self._fitted is None else self._fitted.final
        first_values = {} if self._fitted is not None else self._filler.first_values(rows)
        filled = self._filler.step(rows)
        begins = starts.nonzero()[0].tolist()
        span = Span(filled, starts, skipped, times)
        # a channel has its first value, or a segment begins
        stops = sorted({*first_values, *begins, len(rows)})
        answers: list[Answer] = []
        settled: list[Answer] = []
        while (done := len(answers)) < len(rows):
            if done in first_values and assessor.recent.count:
                channels = first_values[done]
                values = {channel: float(filled.values[done, channel]) for channel in channels}
                assessor.relearn(values)
            stop = next(stop for stop in stops if stop > done)
            part = slice(done, stop)
            evidence = None
            if final is not None:
                evidence = final.push(rows[part], [0] if starts[done] else [])
            new = assessor.assess(span.part(part), self._arrivals.seconds, evidence)
            answers += new
            if evidence is not None:
                self._waiting.extend(new)
                settled += self._settled(evidence)
        self._latest = replace((settled or answers)[-1], alarm=None)
        return answers + settled

    def _settled(self, evidence: Evidence) -> list[Answer]:
        """Final answers of the rows that wait longest."""
        return [
            replace(self._waiting.popleft(), final=True, score=score, alarm=None)
            for score in evidence.score.tolist()
        ]

    def accept(self, number: int) -> Alarm:
        """Mark an alarm as normal: close it if it is open, and learn from its rows.

        Of a closed alarm, the rows that are still kept are learned from.
        """
        return self._assessor.accept(number)

    def finish(self) -> list[Answer]:
        """Final answers of the rows that still wait; a row after this begins a new segment.

        Alarms that are confirmed or withdrawn by it are reported with the last of them; where these
        are too few, the answer to the last row comes again.
        """
        final = None if self._fitted is None else self._fitted.final
        evidence = joined_scores([]) if final is None else final.finish()
        answers = self._settled(evidence)
        if answers:
            self._latest = answers[-1]
        alarms = self._assessor.finish(evidence, self._arrivals.seconds)
        if self._latest is not None:
            again = replace(self._latest, final=True)
            answers += [again] * (len(alarms) - len(answers))
        first = len(answers) - len(alarms)
        changed = [
            replace(answers[first + place], alarm=alarm) for place, alarm in enumerate(alarms)
        ]
        return answers[:first] + changed

    def state(self) -> State:
        """All that is needed to continue, of bounded size."""
        assessor, assessor_facts = self._assessor.state()
        waiting, waiting_facts = answers_state(self._waiting)
        latest, latest_facts = answers_state([self._latest] if self._latest else [])
        parts = {"filler": self._filler.state(), "assessor": assessor}
        parts |= {"waiting": waiting, "latest": latest}
        facts: dict[str, Any] = {
            "channels": list(self.channels),
            "entity": self.entity,
            "contamination": self.contamination,
            "arrivals": self._arrivals.state(),
            "assessor": assessor_facts,
            "waiting": waiting_facts,
            "latest": latest_facts,
            "has_model": self._fitted is not None,
        }
        if self._fitted is not None and self._fitted.final is not None:
            state = self._fitted.final.state()
            parts["final"], facts["final"] = state.arrays, state.facts
        return State(join_names(parts), facts)

    @classmethod
    def restore(
        cls,
        state: State,
        detector: BaseDetector | None = None,
        *,
        rules: AlarmRules | None = None,
    ) -> Self:
        """Continue a saved stream with the same detector and settings."""
        facts = state.facts
        if (detector is not None) != facts["has_model"]:
            raise InputError.of(
                "detector",
                "must be there for a stream that was saved with one, and only then",
                f"got {detector}",
            )
        stream = cls(facts["channels"], detector, facts["entity"], rules=rules)
        stream._continue(state)
        return stream

    def _continue(self, state: State) -> None:
        facts, parts = state.facts, split_names(state.arrays)
        self._arrivals.restore(facts["arrivals"])
        self._filler.restore(parts["filler"])
        self._assessor.restore(parts["assessor"], facts["assessor"])
        self._waiting.extend(answers_of_state(parts.get("waiting", {}), facts["waiting"]))
        self._latest = next(answers_of_state(parts.get("latest", {}), facts["latest"]), None)
        if self._fitted is not None and self._fitted.final is not None:
            self._fitted.final.restore(State(parts["final"], facts["final"]))
