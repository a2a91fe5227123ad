"""One watched series: its rows go into a stream; what is shown of it is kept.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.method import State
from subadjacent.service.watch.grid import MILLISECONDS
from subadjacent.service.watch.grouping import describe
from subadjacent.service.watch.prometheus_api import Labels
from subadjacent.service.watch.settings import Query
from subadjacent.streaming.alarms import CLOSED, AlarmRules
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream

Array = NDArray[np.float64]

SIDES = {"both": 0, "above_expected": 1, "below_expected": -1}
"""Sign of a deviation that counts for each ``detection_direction``; 0 for either."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of the latest row of a series. Lists have a number for each channel."""

    score: float
    alarm: bool
    warm_up: float
    value: tuple[float, ...]
    channel_score: tuple[float, ...]
    expected: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class WatchedSeries:
    """A stream and its latest answer, in the terms of a query.

    Parameters
    ----------
    key
        The labels that all its channels share, which tell it from others.
    channels
        The label set of each channel by the channel's name, in order.
    """

    def __init__(self, key: Labels, channels: Mapping[str, Labels], query: Query) -> None:
        self.key = key
        self.channels = dict(channels)
        self.shown: Shown | None = None
        self._side, self._least = SIDES[query.detection_direction], query.min_dev_from_expected
        self._any_departure = not self._side and not self._least
        # whether an alarm is open, and whether it has had a row that counts
        self._open = self._counted = False
        self._rules = AlarmRules(contamination=query.false_alarms)
        self._stream = SeriesStream(tuple(self.channels), entity=describe(key, query.name))

    @property
    def rows(self) -> int:
        """Rows taken so far."""
        return self._stream.rows

    def watch_from_here(self) -> None:
        """End of the history: alarms count from now on; nobody got those of the past."""
        self._stream = SeriesStream.restore(self._stream.state(), rules=self._rules)

    def push(self, rows: Array, times: Sequence[int]) -> list[str]:
        """Take rows, (B, C), at times in milliseconds; sentences of alarms that begin to show.

        A row without any value is none: machines are switched off every day, and the server has
        alerts of its own for those that should not be. Nothing is shown of a series meanwhile.
        """
        places: list[int] = np.flatnonzero(np.isfinite(rows).any(axis=1)).tolist()
        moments = [datetime.fromtimestamp(times[n] / MILLISECONDS, tz=UTC) for n in places]
        before = self._stream.rows
        sentences = []
        for answer in self._stream.push(rows[places], moments) if places else ():
            # what is said later of rows that had an answer is not the latest
            if answer.row >= before:
                sentences += self._see(rows[places[answer.row - before]], answer)
        if places[-1:] != [len(rows) - 1]:
            self.shown = None
        return sentences

    def _see(self, row: Array, answer: Answer) -> list[str]:
        counts = self._counts(row, answer)
        # a row that barely departs does not turn an alarm of the other direction into one of this
        begins_here = counts and (answer.severity >= 1 or self._any_departure)
        if answer.alarm is not None:
            self._open = answer.alarm.state != CLOSED
        alarm = self._open and (self._counted or begins_here)
        begins = alarm and not self._counted
        self._counted = alarm
        self.shown = Shown(
            # in the other direction it is as good as expected
            score=answer.severity if counts else 0.0,
            alarm=alarm,
            warm_up=answer.warm_up,
            value=tuple(row.tolist()),
            channel_score=tuple(answer.by_channel.tolist()),
            expected=tuple(answer.expected.tolist()),
            low=tuple(answer.low.tolist()),
            high=tuple(answer.high.tolist()),
        )
        return [self._stream.alarms[-1].sentence] if begins else []

    def _counts(self, row: Array, answer: Answer) -> bool:
        """Whether a row departs as the query asks: the channel that adds most decides."""
        if self._any_departure:
            return True
        apart = np.where(np.isfinite(answer.by_channel), answer.by_channel, -math.inf)
        first = int(apart.argmax())
        deviation = float(row[first] - answer.expected[first])
        # a missing value has no direction; somebody asked for one
        return deviation * self._side >= 0 and abs(deviation) >= self._least

    def state(self) -> State:
        """All that is needed to go on after a restart."""
        stream = self._stream.state()
        facts: dict[str, Any] = {
            "stream": stream.facts,
            "channels": [[name, [list(pair) for pair in labels]] for name, labels in self._pairs()],
            "open": self._open,
            "counted": self._counted,
            "shown": None if self.shown is None else _listed(self.shown),
        }
        return State(stream.arrays, facts)

    @classmethod
    def restore(cls, key: Labels, state: State, query: Query) -> Self:
        """The inverse of ``state``."""
        facts = state.facts
        channels = {name: tuple((k, v) for k, v in labels) for name, labels in facts["channels"]}
        series = cls(key, channels, query)
        saved = State(state.arrays, facts["stream"])
        series._stream = SeriesStream.restore(saved, rules=series._rules)
        series._open, series._counted = bool(facts["open"]), bool(facts["counted"])
        if facts["shown"] is not None:
            series.shown = _unlisted(facts["shown"])
        return series

    def _pairs(self) -> list[tuple[str, Labels]]:
        return list(self.channels.items())


def _listed(shown: Shown) -> list[Any]:
    return [getattr(shown, name) for name in Shown.__slots__]


def _unlisted(saved: list[Any]) -> Shown:
    score, alarm, warm_up, *columns = saved
    return Shown(score, alarm, warm_up, *(tuple(column) for column in columns))
