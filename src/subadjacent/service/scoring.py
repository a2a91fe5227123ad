"""The worker process that scores rows, so that scoring does not keep the service from answering.

It is the one process of an executor and holds the stream of every series. It ends with the service,
however that ends. When it ends by itself, streams are restored from the tables.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import threading
import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.alarms import Alarm
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import SubAdjacentError
from subadjacent.methods.method import State
from subadjacent.service.problems import Refusal, refusal_of
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.rules import AlarmRules
from subadjacent.streaming.series import SeriesStream

log = logging.getLogger(__name__)

T = TypeVar("T")

Array = NDArray[np.float64]

SavedStream = tuple[str, bytes]
"""The state of a stream as a table holds it: facts as JSON, arrays as safetensors."""

LEARN_SECONDS = 0.002
"""How long streams learn in one call, or one of them longer: the next rows wait for it, and on a
busy machine every group of rows does. With 0.01 rows waited for seconds where others had the cores.
"""


class StreamStart(NamedTuple):
    """What a stream begins with; ``saved`` is the state it continues from.

    ``false_alarms`` is the rate that is requested of a series that is polled, "auto" of others.
    """

    channels: tuple[str, ...]
    name: str
    model: Path | None
    saved: SavedStream | None = None
    false_alarms: str | float = "auto"


class ScoreCall(NamedTuple):
    """Rows of one series to score; ``start`` is set for a new stream."""

    key: int
    rows: Array
    times: list[Any] | None
    start: StreamStart | None = None
    save: bool = False


class ScoredRows(NamedTuple):
    """Answers to a call, and the stream's state where it was requested."""

    answers: list[Answer]
    saved: SavedStream | None


class ScoringProcess:
    """The worker process as the writer's thread sees it; started again when it has ended."""

    def __init__(self) -> None:
        self.generation = 0
        """Counts starts: streams of an earlier generation are gone."""
        self._pool: ProcessPoolExecutor | None = None
        self._learning: Future[bool] | None = None

    def start(self) -> None:
        """Start the process."""
        self.generation += 1
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_prepare_worker)

    def end(self) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def warm_up(self) -> None:
        """Wait until the process has imported what it needs."""
        self.call(learn)

    def score(self, calls: Sequence[ScoreCall]) -> list[ScoredRows | Exception]:
        """Score rows of several series; a call that fails does not affect the others.

        Then streams learn, while the results are written and until the next rows come.
        """
        scored = self._submit(score, calls)
        self._learn()
        return self._result(scored)

    def call(self, work: Callable[..., T], *args: Any) -> T:
        """Run one of the functions below in the process, and wait for its result."""
        return self._result(self._submit(work, *args))

    def _result(self, future: Future[T]) -> T:
        try:
            return future.result()
        except BrokenProcessPool as error:
            self.end()
            raise Refusal(
                503, "the scoring process ended and is being restarted: send this again"
            ) from error

    def drop(self, key: int) -> None:
        """Forget a stream without waiting for its results."""
        if self._pool is not None:
            self._submit(drop, key)

    def _learn(self) -> None:
        # the next rows report a process that has ended
        with suppress(RuntimeError):
            if (pool := self._pool) is not None:
                self._learning = pool.submit(learn)
                self._learning.add_done_callback(self._learn_on)

    def _learn_on(self, done: Future[bool]) -> None:
        # a later call has begun to learn by itself
        is_latest = done is self._learning and not done.cancelled()
        if is_latest and done.exception() is None and done.result():
            self._learn()

    def _submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        if self._pool is None:
            self.start()
        assert self._pool is not None
        try:
            return self._pool.submit(work, *args)
        except Exception as error:
            # the waiting caller gets the error
            failed: Future[T] = Future()
            failed.set_exception(error)
            return failed


# what follows runs in the worker process

_streams: dict[int, SeriesStream] = {}
_detectors: WeakValueDictionary[Path, BaseDetector] = WeakValueDictionary()
_detector_of: dict[int, BaseDetector | None] = {}
"""Keeps a detector as long as a stream uses it."""
_behind: dict[int, None] = {}
"""Streams that have to learn before their next rows are scored, the oldest first."""


def _prepare_worker() -> None:
    # signals of a terminal or a supervisor are for the service, which still needs this process
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # imported modules stay: looking through them for garbage would delay rows
    gc.freeze()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(0)


def score(calls: Sequence[ScoreCall]) -> list[ScoredRows | Exception]:
    """Score rows of several series."""
    return [_score_one(call) for call in calls]


def _score_one(call: ScoreCall) -> ScoredRows | Exception:
    try:
        if call.start is not None:
            begin(call.key, call.start)
        answers = _push(call.key, call.rows, call.times)
        return ScoredRows(answers, save(call.key) if call.save else None)
    except SubAdjacentError as error:
        return error
    except Exception as error:
        log.exception("a stream failed")
        return refusal_of(error)


def begin(key: int, start: StreamStart) -> None:
    """Begin or restore a stream."""
    from safetensors.numpy import load as load_arrays

    detector = None if start.model is None else _detectors.get(start.model)
    if start.model is not None and detector is None:
        detector = _detectors[start.model] = load(start.model)
    rules = AlarmRules.of(detector, contamination=start.false_alarms)
    if start.saved is None:
        _streams[key] = SeriesStream(start.channels, detector, start.name, rules=rules)
    else:
        facts, arrays = start.saved
        state = State(load_arrays(arrays), json.loads(facts))
        _streams[key] = SeriesStream.restore(state, detector, rules=rules)
    _detector_of[key] = detector


def replay(key: int, rows: Array, times: list[Any] | None) -> Answer:
    """Score rows again; return the last answer."""
    return _push(key, rows, times)[-1]


def _push(key: int, rows: Array, times: list[Any] | None) -> list[Answer]:
    stream = _streams[key]
    answers = stream.push(rows, times)
    _behind.pop(key, None)
    if stream.is_behind:
        _behind[key] = None
    return answers


def accept_alarm(key: int, number: int) -> Alarm:
    """Mark an alarm of a stream as normal."""
    return _streams[key].accept(number)


def save(key: int) -> SavedStream:
    """The state of a stream."""
    from safetensors.numpy import save as save_arrays

    state = _streams[key].state()
    arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
    return json.dumps(state.facts), save_arrays(arrays)


def drop(key: int) -> None:
    """Forget a stream."""
    for known in (_streams, _detector_of, _behind):
        known.pop(key, None)


def learn() -> bool:
    """Let streams learn for a moment; return whether there is more to learn."""
    until = clock.monotonic() + LEARN_SECONDS
    while _behind and clock.monotonic() < until:
        key = next(iter(_behind))
        del _behind[key]
        try:
            _streams[key].catch_up()
        except Exception:
            # the next push to the series gets the error
            log.exception("a stream failed")
    return bool(_behind)
