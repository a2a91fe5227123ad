"""Streams live in a process of their own, so that scoring does not keep the service from answering.

Both would want the interpreter's lock all the time. The two speak in pickles over pipes, several
questions or answers a message; answers come in the order of the questions. A few questions may be
asked before their answers are fetched, so that both processes work at the same time. While nothing
is asked, streams learn what their next rows would have to wait for. Nobody else has these pipes.
When the service ends, however it does, its pipe ends, and with it this process. When this process
ends, the streams are made anew from the tables.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import pickle
import select
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import SubAdjacentError
from subadjacent.methods.method import State
from subadjacent.service.problems import Refusal, refusal_of
from subadjacent.streaming.alarms import LiveAlarm
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream

log = logging.getLogger(__name__)

Saved = tuple[str, bytes]
"""The state of a stream as a table holds it: facts as JSON, arrays as safetensors."""


AHEAD = 16
"""Questions that wait for their answers at most: pipes hold that many, so that nobody is stuck."""

MOST_EARLY = 100
"""Values of rows that may be pushed early: a pipe holds the answers to ``AHEAD`` such questions,
3 kB each. With more, both processes could wait for each other for ever."""

TOGETHER = AHEAD // 2
"""Questions of a message, where nobody waits for the answer of one: while those of a message are
scored, the answers of the one before are written to the tables."""

LENGTH = struct.Struct("<Q")
"""Comes before a message."""


class Posted:
    """A question that was asked, and its answer once it was fetched."""

    def __init__(self, host: StreamHost) -> None:
        self._host = host
        self.answer: Any = None
        self.is_there = False

    def fetch(self) -> Any:
        """The answer; a 503 where the process has ended."""
        while not self.is_there:
            self._host.fetch_next()
        if isinstance(self.answer, SubAdjacentError | Refusal):
            raise self.answer
        return self.answer


class StreamHost:
    """The process that scores, as the writer sees it; it is started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: deque[Posted] = deque()
        self._unsent: list[tuple[Any, ...]] = []
        self.generation = 0

    def begin(
        self,
        key: int,
        channels: Sequence[str],
        name: str,
        model: Path | None,
        saved: Saved | None = None,
    ) -> RemoteStream:
        """A stream that begins, or goes on where its state was saved."""
        posted = self.post("begin", key, tuple(channels), name, model, saved)
        # one that begins with nothing cannot fail
        if model is not None or saved is not None:
            posted.fetch()
        return RemoteStream(self, key)

    def ask(self, *question: Any) -> Any:
        """The answer to a question; a 503 where the process has ended."""
        return self.post(*question).fetch()

    def post(self, *question: Any) -> Posted:
        """Ask a question without waiting for its answer."""
        while len(self._waiting) >= AHEAD:
            self.fetch_next()
        if self._process is None:
            self.start()
        posted = Posted(self)
        self._waiting.append(posted)
        self._unsent.append(question)
        if len(self._unsent) >= TOGETHER:
            self._send()
        return posted

    def _send(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        questions, self._unsent = self._unsent, []
        try:
            _write(self._process.stdin, questions)
        except OSError:
            self._fail()

    def fetch_next(self) -> None:
        """Fetch the next answers; where the process has ended, none will come."""
        if self._unsent:
            self._send()
        if self._process is None:
            return
        assert self._process.stdout is not None
        try:
            answers = _read(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._fail()
            return
        for answer in answers:
            posted = self._waiting.popleft()
            posted.answer, posted.is_there = answer, True

    def _fail(self) -> None:
        for posted in self._waiting:
            posted.answer = Refusal(
                503, "the process that scores has ended, and is started anew: send this again"
            )
            posted.is_there = True
        self._waiting.clear()
        self._unsent.clear()
        self.end()

    def start(self) -> None:
        """Start the process; it is asked once it has imported what it needs."""
        self.generation += 1
        self._process = subprocess.Popen(
            [sys.executable, "-m", "subadjacent.service.streams"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the service, which has more to ask
            start_new_session=True,
        )

    def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


class RemoteStream:
    """A stream in the process that scores."""

    def __init__(self, host: StreamHost, key: int) -> None:
        self._host, self.key = host, key
        self._generation = host.generation
        self._early: tuple[NDArray[np.float64], Posted] | None = None

    @property
    def is_there(self) -> bool:
        """Whether its process still is the one that it was begun in."""
        return self._generation == self._host.generation

    @property
    def has_early(self) -> bool:
        """Whether rows were pushed early whose answers nobody has fetched."""
        return self._early is not None

    def push_early(self, rows: NDArray[np.float64], times: list[Any] | None) -> None:
        """Begin to score rows that are pushed next, before anything else is asked of this one."""
        self._early = rows, self._host.post("push", self.key, rows, times)

    def push(self, rows: NDArray[np.float64], times: list[Any] | None) -> list[Answer]:
        """As ``SeriesStream.push``."""
        if self._early is None:
            self.push_early(rows, times)
        assert self._early is not None
        (given, posted), self._early = self._early, None
        assert given is rows
        answers: list[Answer] = posted.fetch()
        return answers

    def replay(self, rows: NDArray[np.float64], times: list[Any] | None) -> Answer:
        """The same, but only the last answer."""
        answer: Answer = self._host.ask("replay", self.key, rows, times)
        return answer

    def accept(self, number: int) -> LiveAlarm:
        """As ``SeriesStream.accept``."""
        alarm: LiveAlarm = self._host.ask("accept", self.key, number)
        return alarm

    def saved(self) -> Saved:
        """Its state."""
        saved: Saved = self._host.ask("saved", self.key)
        return saved

    def drop(self) -> None:
        """Forget it."""
        if self.is_there:
            self._host.ask("drop", self.key)


class _Streams:
    """All streams, in the process that scores; its methods are the questions."""

    def __init__(self) -> None:
        self._streams: dict[int, SeriesStream] = {}
        # what streams were begun with keeps a detector; one that none was goes by itself
        self._begun_with: dict[int, BaseDetector | None] = {}
        self._detectors: WeakValueDictionary[Path, BaseDetector] = WeakValueDictionary()
        # those that have to learn before their next rows are judged, the first to be so first
        self._behind: dict[int, None] = {}

    @property
    def are_behind(self) -> bool:
        return bool(self._behind)

    def catch_up(self) -> None:
        """Have one stream learn."""
        key = next(iter(self._behind))
        del self._behind[key]
        try:
            self._streams[key].catch_up()
        except Exception:
            # told to whoever pushes its next rows
            log.exception("a stream failed")

    def answer(self, question: tuple[Any, ...]) -> Any:
        name, *words = question
        try:
            return getattr(self, name)(*words)
        except SubAdjacentError as error:
            return error
        except Exception as error:
            # of one stream: the others must not end with it
            log.exception("a stream failed")
            return refusal_of(error)

    def begin(
        self,
        key: int,
        channels: tuple[str, ...],
        name: str,
        model: Path | None,
        saved: Saved | None,
    ) -> None:
        from safetensors.numpy import load as load_arrays

        detector = None if model is None else self._detectors.get(model)
        if model is not None and detector is None:
            detector = self._detectors[model] = load(model)
        if saved is None:
            self._streams[key] = SeriesStream(channels, detector, name)
        else:
            state = State(load_arrays(saved[1]), json.loads(saved[0]))
            self._streams[key] = SeriesStream.restore(state, detector)
        self._begun_with[key] = detector

    def push(self, key: int, rows: NDArray[np.float64], times: list[Any] | None) -> list[Answer]:
        stream = self._streams[key]
        answers = stream.push(rows, times)
        if stream.is_behind:
            self._behind[key] = None
        else:
            self._behind.pop(key, None)
        return answers

    def replay(self, key: int, rows: NDArray[np.float64], times: list[Any] | None) -> Answer:
        return self.push(key, rows, times)[-1]

    def accept(self, key: int, number: int) -> LiveAlarm:
        return self._streams[key].accept(number)

    def saved(self, key: int) -> Saved:
        from safetensors.numpy import save

        state = self._streams[key].state()
        arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        return json.dumps(state.facts), save(arrays)

    def drop(self, key: int) -> None:
        for known in (self._streams, self._begun_with, self._behind):
            known.pop(key, None)


def main(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer questions until there are none; ``questions`` must not be buffered."""
    streams = _Streams()
    while True:
        while streams.are_behind and not select.select([questions], [], [], 0)[0]:
            streams.catch_up()
        try:
            message = _read(questions)
        except EOFError:
            return
        _write(answers, [streams.answer(question) for question in message])


def _write(pipe: IO[bytes], message: list[Any]) -> None:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> list[Any]:
    message: list[Any] = pickle.loads(_exactly(pipe, *LENGTH.unpack(_exactly(pipe, LENGTH.size))))
    return message


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    """So many bytes: a pipe gives as many as it has."""
    parts = []
    while count:
        parts.append(pipe.read(count))
        if not parts[-1]:
            raise EOFError
        count -= len(parts[-1])
    return b"".join(parts)


if __name__ == "__main__":
    # what was imported stays: to look through it for garbage would hold up rows
    gc.freeze()
    # whatever a library prints must not come between answers
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(0, "rb", buffering=0) as into, open(own, "wb") as out:  # noqa: PTH123 — handles
        main(into, out)
