"""`subadjacent stream`: rows in as they come, answers out at once."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase, UnsupportedOperation
from pathlib import Path
from select import select
from socket import socketpair
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_STREAM, print_lines, tell, write_nowhere
from subadjacent.cli.start import TERMINATED
from subadjacent.errors import DataNotFound

if TYPE_CHECKING:
    from subadjacent.streaming.answer import Answer
    from subadjacent.streaming.line_scorer import LineScorer
    from subadjacent.streaming.scorer import StreamScorer

AT_ONCE = 1 << 18
"""Bytes that are read at most before what was read is answered: some thousand rows."""

SAVE_EVERY = 10_000
"""Rows after which the state is saved; a save takes as long as some hundred rows."""


def _check_false_alarms(contamination: str | float) -> None:
    from subadjacent.streaming.rules import AlarmRules

    AlarmRules(contamination=contamination)


def stream(
    file: Annotated[
        str, typer.Argument(help="NDJSON or CSV file; - for standard input.")
    ] = STANDARD_STREAM,
    model: Annotated[Path | None, typer.Option("-m", "--model", help="Model folder.")] = None,
    learn: Annotated[bool, typer.Option("--learn", help="No model: learn from the rows.")] = False,
    time: Annotated[
        str | None, typer.Option(help="Name of the times. Found by itself where it is plain.")
    ] = None,
    entity: option.Entity = None,
    alarms_only: Annotated[
        bool, typer.Option("--alarms-only", help="Only alarms, when they open, change or close.")
    ] = False,
    provisional: Annotated[
        bool | None,
        typer.Option(
            "--provisional/--final",
            help="Only the immediate answer, or only the final one; by default both.",
        ),
    ] = None,
    false_alarms: Annotated[
        Any,
        typer.Option(
            parser=option.parse_false_alarms,
            callback=option.checked(_check_false_alarms),
            metavar="RATE",
            help="Alarms of each series at most: auto, per time such as 1/week (needs times), or a "
            "share of the rows such as 0.02%.",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="File to go on from, if it is there, and to save to."),
    ] = None,
    save_every: Annotated[
        int, typer.Option(min=1, help="Save the state after so many rows, and at the end.")
    ] = SAVE_EVERY,
    device: option.ScoringDevice = None,
    quiet: option.Quiet = False,
) -> None:
    """Score rows as they come: a JSON object for each answer, at once.

    Rows are JSON objects or CSV, one a line.
    """
    from subadjacent.streaming.line_reader import LineReader
    from subadjacent.streaming.line_scorer import LineScorer

    if learn == (model is not None):
        raise typer.BadParameter("give a model with -m, or --learn to learn from the rows")
    scorer = _scorer(model, device, false_alarms, state)
    if state is not None:
        # what cannot be written is refused before any row is read
        scorer.save(state)
    feed = LineScorer(scorer, LineReader(time, entity), tell)
    show = _Shown(alarms_only=alarms_only, provisional=provisional)
    saved = 0
    with _opened(file) as source, _stopping() as reading:
        try:
            while data := reading(source):
                show(feed.push(data))
                if state is not None and feed.rows - saved >= save_every:
                    scorer.save(state)
                    saved = feed.rows
            show(feed.finish())
            if state is None:
                # with a state, rows that wait are answered once it goes on
                show(scorer.finish())
        except BrokenPipeError:
            write_nowhere()
            return
        finally:
            if state is not None:
                scorer.save(state)
    tell(_summary(scorer, feed), quiet=quiet)


def _scorer(
    model: Path | None, device: str | None, false_alarms: str | float | None, state: Path | None
) -> StreamScorer:
    from subadjacent.detectors.registry import load
    from subadjacent.streaming.scorer import StreamScorer

    detector = None if model is None else load(model, device=device or "auto")
    options: dict[str, Any] = {}
    if false_alarms is not None:
        options["contamination"] = false_alarms
    if state is not None and state.exists():
        return StreamScorer.restore(state, detector, **options)
    return StreamScorer(detector, **options)


class _Shown:
    """Writes the answers that the options select."""

    def __init__(self, *, alarms_only: bool, provisional: bool | None) -> None:
        from subadjacent.streaming.answer import answer_record, live_alarm_record

        self._alarms_only = alarms_only
        self._provisional = provisional
        self._answer, self._alarm = answer_record, live_alarm_record
        self._last: dict[str | None, int] = {}

    def __call__(self, answers: list[Answer]) -> None:
        if self._alarms_only:
            records = [self._alarm(answer.alarm) for answer in answers if answer.alarm is not None]
        else:
            records = [self._answer(answer) for answer in answers if self._wanted(answer)]
        print_lines(json.dumps(record, ensure_ascii=False) for record in records)

    def _wanted(self, answer: Answer) -> bool:
        if self._provisional is None:
            return True
        if not self._provisional:
            return answer.final
        # the first of each row, which is a final one where nothing later changes it
        first = answer.row > self._last.get(answer.entity, -1)
        self._last[answer.entity] = max(answer.row, self._last.get(answer.entity, -1))
        return first


@contextmanager
def _opened(file: str) -> Iterator[BufferedIOBase]:
    if file == STANDARD_STREAM:
        yield sys.stdin.buffer  # type: ignore[misc]  # always buffered, whatever its type says
        return
    if not Path(file).is_file():
        raise DataNotFound(f"{file} is not there, or is no file: name one, or - for standard input")
    with Path(file).open("rb") as opened:
        yield opened


@contextmanager
def _stopping() -> Iterator[Callable[[BufferedIOBase], bytes]]:
    """A function that reads the available input, the only place where a signal ends the command.

    Between two readings all that was read is answered and counted in the state.
    """
    received, wake = socketpair()
    stopped = 0

    def end(number: int, _frame: object) -> None:
        nonlocal stopped
        stopped = number

    def read(source: BufferedIOBase) -> bytes:
        # a signal just before a plain read would wait for the next input; only what has a
        # descriptor makes a read wait
        with suppress(UnsupportedOperation):
            readable: list[Any] = [source, received]
            select(readable, [], [])
        if stopped:
            _stop(stopped)
        return source.read1(AT_ONCE)

    with received, wake:
        wake.setblocking(False)
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        descriptor = signal.set_wakeup_fd(wake.fileno())
        try:
            yield read
            if stopped:
                _stop(stopped)
        finally:
            signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)


def _stop(number: int) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(TERMINATED)


def _summary(scorer: StreamScorer, feed: LineScorer) -> str:
    counts = scorer.counts.values()
    totals = (
        ("row", "rows", sum(count.accepted for count in counts)),
        ("late", "late", sum(count.late for count in counts)),
        ("duplicate", "duplicates", sum(count.duplicates for count in counts)),
        ("line left out", "lines left out", feed.bad),
        ("alarm", "alarms", scorer.opened),
    )
    return ", ".join(
        f"{total:,} {singular if total == 1 else plural}"
        for singular, plural, total in totals
        if total or singular == "row"
    )
