"""The process that scores: questions ahead of their answers, and its end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from safetensors.numpy import load

from live_service import LiveService, until
from subadjacent.service.problems import Refusal
from subadjacent.service.streams import AHEAD, MOST_EARLY, StreamHost
from subadjacent.streaming.learning.history import MINI_BATCH
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


@pytest.mark.parametrize("channels", [2, MOST_EARLY // 4])
def test_more_questions_than_pipes_hold_do_not_stop_anything(
    host: StreamHost, channels: int
) -> None:
    stream = host.begin(1, [f"c{n}" for n in range(channels)], "one", None)
    given = np.random.default_rng(0).standard_normal((5 * AHEAD, 4, channels))
    posted = [host.post("push", 1, some, None) for some in given]
    assert [len(one.fetch()) for one in reversed(posted)] == [4] * len(posted)
    assert stream.push(given[0, :1], None)[0].row == 4 * len(posted)


def test_wide_rows_of_many_series_at_once_are_all_taken(service: LiveService) -> None:
    names = [f"wide-{n}" for n in range(AHEAD)]

    def push(name: str) -> list[int]:
        taken = []
        for first in (0, 4):
            times = range(first, first + 4)
            sent = [{"time": time} | {f"c{n}": time + n for n in range(500)} for time in times]
            taken.append(service.push(name, sent)["taken"])
        return taken

    with ThreadPoolExecutor(len(names)) as pool:
        assert list(pool.map(push, names)) == [[4, 4]] * len(names)


def test_streams_learn_while_nothing_is_asked_and_say_the_same(host: StreamHost) -> None:
    stream, own = host.begin(1, CHANNELS, "one", None), SeriesStream(CHANNELS, None, "one")
    given = rows(12 * MINI_BATCH)

    def waits() -> int:
        """Rows that are not learned from yet."""
        return int(load(stream.saved()[1])["watcher/learner/mini_batch/count"][0])

    for first in range(0, len(given), MINI_BATCH):
        some = given[first : first + MINI_BATCH]
        found, expected = stream.push(some, None), own.push(some)
        assert [one.severity for one in found] == [one.severity for one in expected]
        assert own.is_behind
        until(lambda: waits() == 0)
    own.catch_up()
    assert not own.is_behind
    state, (facts, arrays) = own.state(), stream.saved()
    assert json.loads(facts) == json.loads(json.dumps(state.facts))
    for name, array in load(arrays).items():
        np.testing.assert_array_equal(array, state.arrays[name], err_msg=name)


def test_a_stream_that_is_dropped_is_not_waited_for(host: StreamHost) -> None:
    stream = host.begin(1, CHANNELS, "one", None)
    stream.push(rows(MINI_BATCH), None)
    stream.drop()
    other = host.begin(2, CHANNELS, "two", None)
    assert len(other.push(rows(MINI_BATCH), None)) == MINI_BATCH


def test_a_stream_that_fails_takes_no_other_with_it(
    host: StreamHost, capfd: pytest.CaptureFixture[str]
) -> None:
    stream = host.begin(1, CHANNELS, "one", None)
    with pytest.raises(Refusal, match=r"made a mistake \(KeyError\)") as caught:
        host.ask("push", 2, rows(1), None)
    assert caught.value.status == 500
    assert "a stream failed" in capfd.readouterr().err
    assert stream.is_there
    assert stream.push(rows(1), None)[0].row == 0


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
