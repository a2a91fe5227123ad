"""Streams live in a process of their own, so that scoring does not keep the service from answering.

Both would want the interpreter's lock all the time. The two speak in pickles over pipes; answers
come in the order of the questions. A few questions may be asked before their answers are fetched,
so that both processes work at the same time. Nobody else has these pipes. When the service ends,
however it does, its pipe ends, and with it this process. When this process ends, the streams are
made anew from the tables.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.errors import SubadjacentError
from subadjacent.methods.method import State
from subadjacent.service.problems import Refusal
from subadjacent.streaming.alarms import LiveAlarm
from subadjacent.streaming.answer import Answer
from subadjacent.streaming.series import SeriesStream

Saved = tuple[str, bytes]
"""The state of a stream as a table holds it: facts as JSON, arrays as safetensors."""


AHEAD = 16
"""Questions that wait for their answers at most: pipes hold that many, so that nobody is stuck."""


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
        if isinstance(self.answer, SubadjacentError | Refusal):
            raise self.answer
        return self.answer


class StreamHost:
    """The process that scores, as the writer sees it; it is started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: deque[Posted] = deque()
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
        process, posted = self._process, Posted(self)
        assert process is not None
        assert process.stdin is not None
        self._waiting.append(posted)
        try:
            pickle.dump(question, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
        except OSError:
            self._fail()
        return posted

    def fetch_next(self) -> None:
        """Fetch the next answer; where the process has ended, none will come."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._fail()
            return
        posted = self._waiting.popleft()
        posted.answer, posted.is_there = answer, True

    def _fail(self) -> None:
        for posted in self._waiting:
            posted.answer = Refusal(
                503, "the process that scores has ended, and is started anew: send this again"
            )
            posted.is_there = True
        self._waiting.clear()
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
        self._host, self._key = host, key
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
        self._early = rows, self._host.post("push", self._key, rows, times)

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
        answer: Answer = self._host.ask("replay", self._key, rows, times)
        return answer

    def accept(self, number: int) -> LiveAlarm:
        """As ``SeriesStream.accept``."""
        alarm: LiveAlarm = self._host.ask("accept", self._key, number)
        return alarm

    def saved(self) -> Saved:
        """Its state."""
        saved: Saved = self._host.ask("saved", self._key)
        return saved

    def drop(self) -> None:
        """Forget it."""
        if self.is_there:
            self._host.ask("drop", self._key)


class _Streams:
    """All streams, in the process that scores; its methods are the questions."""

    def __init__(self) -> None:
        self._streams: dict[int, SeriesStream] = {}
        self._detectors: dict[Path, BaseDetector] = {}

    def begin(
        self,
        key: int,
        channels: tuple[str, ...],
        name: str,
        model: Path | None,
        saved: Saved | None,
    ) -> None:
        from safetensors.numpy import load as load_arrays

        if model is not None and model not in self._detectors:
            self._detectors[model] = load(model)
        detector = None if model is None else self._detectors[model]
        if saved is None:
            self._streams[key] = SeriesStream(channels, detector, name)
        else:
            state = State(load_arrays(saved[1]), json.loads(saved[0]))
            self._streams[key] = SeriesStream.restore(state, detector)

    def push(self, key: int, rows: NDArray[np.float64], times: list[Any] | None) -> list[Answer]:
        return self._streams[key].push(rows, times)

    def replay(self, key: int, rows: NDArray[np.float64], times: list[Any] | None) -> Answer:
        return self._streams[key].push(rows, times)[-1]

    def accept(self, key: int, number: int) -> LiveAlarm:
        return self._streams[key].accept(number)

    def saved(self, key: int) -> Saved:
        from safetensors.numpy import save

        state = self._streams[key].state()
        arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        return json.dumps(state.facts), save(arrays)

    def drop(self, key: int) -> None:
        self._streams.pop(key, None)


def main(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer questions until there are none."""
    streams = _Streams()
    while True:
        try:
            name, *words = pickle.load(questions)
        except EOFError:
            return
        try:
            answer = getattr(streams, name)(*words)
        except SubadjacentError as error:
            answer = error
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # whatever a library prints must not come between answers
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(own, "wb") as out:  # noqa: PTH123 — a handle has no path
        main(sys.stdin.buffer, out)
