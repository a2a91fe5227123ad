"""Rows as lines of text → answers; lines that cannot be read are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from subadjacent.errors import InputError
from subadjacent.showing import listed
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.line_reader import Line, LineReader, measurements
from subadjacent.streaming.scorer import StreamScorer

MAX_BAD_LINES = 100
"""Lines that cannot be read before the input is refused: then it is something else altogether."""


class LineScorer:
    """Gives rows of lines to a scorer, and leaves out lines that cannot be read.

    Parameters
    ----------
    scorer
        Takes the rows.
    reader
        Reads the lines.
    tell
        Called with a message for each line that is left out.
    """

    def __init__(
        self, scorer: StreamScorer, reader: LineReader, tell: Callable[[str], None]
    ) -> None:
        self.bad = 0
        self.rows = 0
        self._scorer = scorer
        self._reader = reader
        self._tell = tell
        # what was text in the first row of each series
        self._text: dict[str | None, list[str]] = {}
        self._told_of: set[str] = set()

    def push(self, data: bytes) -> list[Answer]:
        """Answers of all rows whose lines are whole now."""
        return list(self._take(self._reader.feed(data)))

    def finish(self) -> list[Answer]:
        """Answers of a last line without an end."""
        return list(self._take(self._reader.finish()))

    def _take(self, lines: Iterable[Line]) -> Iterator[Answer]:
        # rows of one entity together, in the order in which entities first come
        places: dict[str | None, int] = {}
        for line in (lines := list(lines)):
            places.setdefault(line.entity, len(places))
        ordered = sorted(lines, key=lambda line: places[line.entity])
        for entity, group in groupby(ordered, key=lambda line: line.entity):
            yield from self._series(entity, list(group))

    def _series(self, entity: str | None, lines: list[Line]) -> Iterator[Answer]:
        for line in lines:
            if line.wrong:
                self._leave_out(line, line.wrong)
        good = [line for line in lines if not line.wrong]
        if not good:
            return
        try:
            yield from self._score(entity, good)
        except InputError as error:
            if error.argument == "contamination" and not self.rows:
                # the option is wrong, not a line of the input
                remedy = "give a share of the rows, or rows with dates"
                raise error.rephrase("--false-alarms", remedy) from error
            if len(good) == 1:
                self._leave_out(good[0], str(error))
                return
            # none of them was taken: one by one, to know which are wrong
            for line in good:
                yield from self._series(entity, [line])

    def _score(self, entity: str | None, lines: list[Line]) -> list[Answer]:
        rows: list[Any] = [line.values for line in lines]
        if self._scorer.channels is None:
            rows = self._of_new_series(entity, rows)
        times = [line.time for line in lines]
        known = None if all(time is None for time in times) else times
        answers = self._scorer.score_many(rows, known, entity)
        self.rows += len(lines)
        return answers

    def _of_new_series(self, entity: str | None, rows: list[Any]) -> list[Any]:
        """Rows without what was text in the first row of their series: it measures nothing."""
        if entity not in self._text:
            # of a series that goes on from a state it is known what its channels are
            is_new = entity not in self._scorer.series
            numbers = measurements(rows[0]) if is_new else list(rows[0])
            self._text[entity] = text = [name for name in rows[0] if name not in numbers]
            if new := [name for name in text if name not in self._told_of]:
                self._told_of.update(new)
                self._tell(f"no numbers, so left out: {listed(new)}")
        if not (left_out := self._text[entity]):
            return rows
        return [{name: row[name] for name in row if name not in left_out} for row in rows]

    def _leave_out(self, line: Line, why: str) -> None:
        self.bad += 1
        self._tell(f"line {line.number} is left out: {why}")
        if self.bad >= MAX_BAD_LINES:
            raise InputError.of(
                "input",
                "must hold rows as JSON objects or CSV, one a line",
                f"{self.bad} lines could not be read",
            )
