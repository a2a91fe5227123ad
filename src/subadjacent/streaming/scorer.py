"""Rows of many series as they come: every row to its own series."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.frames import is_frame
from subadjacent.decision.alarms import Alarm
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.estimator import require_fitted
from subadjacent.detectors.folder import reading
from subadjacent.detectors.seen import SeenInput
from subadjacent.errors import InputError
from subadjacent.methods.method import State, join_names, split_names
from subadjacent.showing import listed
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.arrivals import Counts
from subadjacent.streaming.row_reader import Row, RowReader, read_frame_rows
from subadjacent.streaming.rules import CLOSE_AFTER, AlarmRules
from subadjacent.streaming.saved_state import load_state, save_state
from subadjacent.streaming.series import SeriesStream


class StreamScorer:
    """Scores rows as they come, of one series or of many.

    Parameters
    ----------
    detector
        A fitted detector, or None to learn from the rows alone.
    channels
        Their names, in order. None: the detector's or, without one, those of the first row.
    close_after
        Rows without a high-severity one after which an alarm is closed.
    adapt_after
        Rows after which what lasts is the new normal; None: never. "auto": the detector's or,
        without one, 300.
    contamination
        False alarms of each series: a share of the rows (0.001: one row in 1,000) or a budget such
        as "1/week". "auto": what was requested of the detector or, without one, a false alarm in
        5,000 rows. It may be changed later.
    fill_limit
        Rows that may be missing without an alarm. None: the detector's or, without one, 10.

    Examples
    --------
    >>> from subadjacent import StreamScorer
    >>> scorer = StreamScorer()
    >>> answers = scorer.score_one({"pressure": 1.0, "flow": 20.5}, time="2026-01-31T12:00")
    >>> answers[0].final, answers[0].anomalous
    (True, False)
    """

    def __init__(
        self,
        detector: BaseDetector | None = None,
        *,
        channels: Sequence[str] | None = None,
        close_after: int = CLOSE_AFTER,
        adapt_after: int | str | None = "auto",
        contamination: Any = "auto",
        fill_limit: int | None = None,
    ) -> None:
        if detector is not None:
            require_fitted(detector)
        self._detector = detector
        self._rules = AlarmRules.of(
            detector,
            close_after=close_after,
            adapt_after=adapt_after,
            contamination=contamination,
            fill_limit=fill_limit,
        )
        self._channels = channels if detector is None else detector.channels_
        self._readers: dict[str | None, RowReader] = {}
        self._series: dict[str | None, SeriesStream] = {}

    @property
    def series(self) -> Mapping[str | None, SeriesStream]:
        """The stream of each entity; of None where rows have no entity."""
        return MappingProxyType(self._series)

    @property
    def channels(self) -> Sequence[str] | None:
        """Those of all series; None where the first row of each says which it has."""
        return self._channels

    @property
    def opened(self) -> int:
        """Alarms that were opened so far."""
        return sum(series.opened for series in self._series.values())

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Alarms of all series so far, as they are known now: the last hundred of each."""
        return tuple(alarm for series in self._series.values() for alarm in series.alarms)

    @property
    def contamination(self) -> Any:
        """The requested rate of false alarms; it may be changed at any time, for all series."""
        return self._rules.contamination

    @contamination.setter
    def contamination(self, contamination: Any) -> None:
        self._rules = replace(self._rules, contamination=contamination)
        for series in self._series.values():
            series.contamination = contamination

    @property
    def counts(self) -> dict[str | None, Counts]:
        """How many rows of each series were accepted, late, duplicates and so on."""
        return {entity: series.counts for entity, series in self._series.items()}

    def score_one(self, row: Row, time: Any = None, entity: str | None = None) -> list[Answer]:
        """The answer to this row, and final answers to earlier rows that waited for it.

        Parameters
        ----------
        row
            A dict of channel → value, or the values in the order of the channels. None and NaN are
            missing values, and so is a channel that a dict does not have.
        time
            A number, a date, or text such as "2026-01-31T12:00". All rows of a series have one, or
            none has.
        entity
            The series that it belongs to.
        """
        return self._push([row], None if time is None else [time], entity)

    def score_many(
        self, rows: Any, times: Sequence[Any] | None = None, entity: str | None = None
    ) -> list[Answer]:
        """The answers to several rows, quicker than one by one.

        Parameters
        ----------
        rows
            Dicts or sequences, an array (rows, channels), or a pandas, polars or Arrow frame, which
            may have columns of times and entities.
        times
            One a row.
        entity
            The series that all of them belong to.

        Raises
        ------
        InputError
            For rows that cannot be read; none of them is accepted then.
        """
        if is_frame(rows):
            return self._push_frame(rows, times, entity)
        if isinstance(rows, Mapping):
            raise InputError.of("rows", "must be several rows", "got a dict", "use score_one")
        return self._push(rows if isinstance(rows, np.ndarray) else list(rows), times, entity)

    def _push(
        self, rows: Sequence[Row] | NDArray[Any], times: Sequence[Any] | None, entity: Any
    ) -> list[Answer]:
        if not len(rows):
            return []
        name = _name(entity)
        reader = self._readers.get(name) or self._reader(rows[0])
        values, unknown = reader.read(rows)
        series = self._series.get(name) or self._begin(name, reader.channels)
        answers = series.push(values, times)
        # kept only once its first rows were good
        self._readers[name], self._series[name] = reader, series
        series.counts.unknown += unknown
        # one half now and the other with the next row, so that neither takes long
        series.learn()
        return answers

    def _reader(self, row: Row) -> RowReader:
        return RowReader.of_row(row) if self._channels is None else RowReader(self._channels)

    def _begin(self, entity: str | None, channels: Sequence[str]) -> SeriesStream:
        if self._detector is not None:
            _check_entity(self._detector.seen_, entity)
        return SeriesStream(channels, self._detector, entity, rules=self._rules)

    def _push_frame(
        self, frame: Any, times: Sequence[Any] | None, entity: str | None
    ) -> list[Answer]:
        parts = list(read_frame_rows(frame, self._channels or ()))
        if len(parts) > 1 and (times is not None or entity is not None):
            raise InputError.of(
                "rows", "must be of one entity where times or entity are given", f"got {len(parts)}"
            )
        answers: list[Answer] = []
        for part in parts:
            own = part.entity if entity is None else entity
            rows = [dict(zip(part.channels, row, strict=True)) for row in part.values.tolist()]
            answers += self._push(rows, part.times if times is None else times, own)
        return answers

    def finish(self) -> list[Answer]:
        """Final answers of all rows that still wait: no rows follow."""
        return [answer for series in self._series.values() for answer in series.finish()]

    def accept(self, number: int, entity: str | None = None) -> Alarm:
        """Mark an alarm of a series as normal: it is closed, and its rows are learned from."""
        name = _name(entity)
        if name not in self._series:
            known = listed(list(map(str, self._series))) or "none"
            raise InputError.of("entity", "must be one with rows", f"got {entity!r} of {known}")
        return self._series[name].accept(number)

    def state(self) -> State:
        """All that is needed to continue; its size grows with the series, not with the rows."""
        states = [series.state() for series in self._series.values()]
        facts = {
            "settings": asdict(self._rules),
            "series": [state.facts for state in states],
            "channels": None if self._channels is None else list(self._channels),
            "detector": None if self._detector is None else type(self._detector).__name__,
        }
        arrays = {str(number): state.arrays for number, state in enumerate(states)}
        return State(join_names(arrays), facts)

    def copy(self) -> Self:
        """A second scorer that continues from here, with the same detector."""
        # arrays of a state may be the very ones that the stream goes on to change
        return self._of_state(copy.deepcopy(self.state()), self._detector, {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file; ``restore`` continues as if there had been no stop."""
        save_state(Path(path), self.state())

    @classmethod
    def restore(
        cls, path: str | os.PathLike[str], detector: BaseDetector | None = None, **options: Any
    ) -> Self:
        """Continue where ``save`` was called, with the same detector.

        ``options`` of the class replace those that were saved.
        """
        state = load_state(Path(path))
        with reading(Path(path)):
            saved, channels = state.facts["detector"], state.facts["channels"]
        _check_detector(detector, saved, channels)
        with reading(Path(path)):
            return cls._of_state(state, detector, options)

    @classmethod
    def _of_state(
        cls, state: State, detector: BaseDetector | None, options: dict[str, Any]
    ) -> Self:
        facts = state.facts
        channels = facts["channels"] if detector is None else None
        scorer = cls(detector, channels=channels, **facts["settings"] | options)
        parts = split_names(state.arrays)
        for number, own in enumerate(facts["series"]):
            saved = State(parts[str(number)], own)
            series = SeriesStream.restore(saved, detector, rules=scorer._rules)
            scorer._series[series.entity] = series
            scorer._readers[series.entity] = RowReader(series.channels)
        return scorer


def _name(entity: Any) -> str | None:
    """The name of a series as text: people number machines as well."""
    return None if entity is None else str(entity)


def _check_entity(seen: SeenInput, entity: str | None) -> None:
    """Warn of an unseen entity; refuse rows that do not say which of several they are of."""
    seen.warn_of_unseen_entities([entity])
    known = seen.entities
    if len(known) > 1 and entity is None:
        raise InputError.of(
            "entity",
            f"must be named, for the detector was fitted on {len(known)} and each has a scale "
            f"of its own",
            f"known are {listed(list(known))}",
        )


def _check_detector(detector: BaseDetector | None, saved: str | None, channels: Any) -> None:
    """Refuse another detector than the one of a saved stream."""
    kind = None if detector is None else type(detector).__name__
    if kind != saved:
        raise InputError.of(
            "detector", f"must be the {saved} that the stream was saved with", f"got {kind}"
        )
    if detector is not None and list(detector.channels_) != channels:
        raise InputError.of(
            "detector",
            f"must have the channels {listed(list(map(str, channels)))}",
            f"got {listed(list(detector.channels_))}",
        )
