"""The process that scores: questions ahead of their answers, and its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from subadjacent.service.problems import Refusal
from subadjacent.service.streams import AHEAD, StreamHost
from subadjacent.streaming.series import SeriesStream

CHANNELS = ("a", "b")


@pytest.fixture
def host() -> Iterator[StreamHost]:
    found = StreamHost()
    yield found
    found.end()


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 2))


def test_answers_that_are_fetched_later_are_the_same(host: StreamHost) -> None:
    streams = [host.begin(key, CHANNELS, f"series {key}", None) for key in range(3)]
    own = [SeriesStream(CHANNELS, None, f"series {key}") for key in range(3)]
    for turn in range(30):
        given = [rows(5, seed=100 * turn + key) for key in range(3)]
        for stream, some in zip(streams, given, strict=True):
            stream.push_early(some, None)
        assert all(stream.has_early for stream in streams)
        for stream, other, some in zip(streams, own, given, strict=True):
            found, expected = stream.push(some, None), other.push(some)
            assert [one.severity for one in found] == [one.severity for one in expected]
        assert not any(stream.has_early for stream in streams)


def test_more_questions_than_pipes_hold_do_not_stop_anything(host: StreamHost) -> None:
    stream = host.begin(1, CHANNELS, "one", None)
    posted = [host.post("push", 1, rows(4, seed), None) for seed in range(5 * AHEAD)]
    assert [len(one.fetch()) for one in reversed(posted)] == [4] * len(posted)
    assert stream.push(rows(1), None)[0].row == 4 * len(posted)


def test_the_end_of_the_process_is_told_to_all_who_wait_and_it_is_started_anew(
    host: StreamHost,
) -> None:
    stream = host.begin(1, CHANNELS, "one", None)
    assert len(stream.push(rows(3), None)) == 3
    assert host._process is not None
    os.kill(host._process.pid, signal.SIGSTOP)
    waiting = [host.post("push", 1, rows(1, seed), None) for seed in range(5)]
    os.kill(host._process.pid, signal.SIGKILL)
    for one in waiting:
        with pytest.raises(Refusal, match="started anew: send this again"):
            one.fetch()
    again = host.begin(1, CHANNELS, "one", None)
    assert not stream.is_there
    assert again.push(rows(1), None)[0].row == 0
