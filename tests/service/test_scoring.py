"""The process that scores: several series in one call, learning in spare moments, its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

from live_service import LiveService, children_of, live, until
from subadjacent.methods.online.history import MINI_BATCH
from subadjacent.service.problems import Refusal
from subadjacent.service.scoring import (
    ScoreCall,
    ScoredRows,
    ScoringProcess,
    StreamStart,
    learn,
    save,
)
from subadjacent.streaming.series import SeriesStream

CHANNELS = ("a", "b")


@pytest.fixture(scope="module")
def process() -> Iterator[ScoringProcess]:
    found = ScoringProcess()
    yield found
    found.end()


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 2))


def start(name: str) -> StreamStart:
    return StreamStart(CHANNELS, name, None)


def answers_of(found: ScoredRows | Exception) -> list[float]:
    assert isinstance(found, ScoredRows), found
    return [answer.severity for answer in found.answers]


def has_learned(process: ScoringProcess) -> bool:
    latest = process._learning
    return latest is not None and latest.done() and not latest.result()


def test_series_that_are_scored_together_are_scored_as_by_themselves(
    process: ScoringProcess,
) -> None:
    own = [SeriesStream(CHANNELS, None, f"series {key}") for key in range(3)]
    for turn in range(30):
        given = [rows(5, seed=100 * turn + key) for key in range(3)]
        calls = [
            ScoreCall(key, some, None, None if turn else start(f"series {key}"))
            for key, some in enumerate(given)
        ]
        for found, stream, some in zip(process.score(calls), own, given, strict=True):
            assert answers_of(found) == [one.severity for one in stream.push(some)]


def test_streams_learn_in_spare_moments_and_give_the_same_answers(process: ScoringProcess) -> None:
    own, begin = SeriesStream(CHANNELS, None, "one"), start("one")
    for part in np.split(rows(12 * MINI_BATCH), 12):
        found = process.score([ScoreCall(10, part, None, begin)])[0]
        assert answers_of(found) == [one.severity for one in own.push(part)]
        assert own.is_behind
        # nobody asks for it
        until(lambda: has_learned(process))
        own.catch_up()
        begin = None
    state, (facts, arrays) = own.state(), process.call(save, 10)
    assert json.loads(facts) == json.loads(json.dumps(state.facts))
    for name, array in load(arrays).items():
        np.testing.assert_array_equal(array, state.arrays[name], err_msg=name)


def test_a_stream_that_is_dropped_is_not_waited_for(process: ScoringProcess) -> None:
    process.score([ScoreCall(20, rows(MINI_BATCH), None, start("one"))])
    process.drop(20)
    assert process.call(learn) is False
    (found,) = process.score([ScoreCall(20, rows(1), None, start("two"))])
    assert isinstance(found, ScoredRows)
    assert found.answers[0].row == 0


def test_a_stream_that_fails_takes_no_other_with_it(process: ScoringProcess) -> None:
    calls = [ScoreCall(30, rows(1), None, start("one")), ScoreCall(31, rows(1), None)]
    fine, failed = process.score(calls)
    assert isinstance(fine, ScoredRows)
    assert isinstance(failed, Refusal)
    assert (failed.status, "made a mistake (KeyError)" in str(failed)) == (500, True)


def test_the_process_that_scores_ends_with_a_service_that_is_killed(tmp_path: Path) -> None:
    with live(tmp_path) as service:
        service.push("pump", [{"a": 1.0}])
        (key,) = children_of(service)
        service.kill()
        until(lambda: not Path(f"/proc/{key}").exists())


def test_many_series_that_begin_at_once_have_their_own_rows(service: LiveService) -> None:
    names = [f"new-{n}" for n in range(60)]

    def push(name: str) -> int:
        number = float(name.partition("-")[2])
        sent = [{"time": time, "a": number, "b": time} for time in (1, 2)]
        accepted = service.push(name, sent)["taken"]
        return int(accepted + service.push(name, [{"time": 3, "a": number, "b": 3}])["taken"])

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(push, names)) == [3] * len(names)
    for name in names:
        history = service.get(f"/api/series/{name}/history")
        assert history["values"] == {"a": [float(name.partition("-")[2])] * 3, "b": [1, 2, 3]}


def test_a_new_series_that_is_refused_leaves_nothing(service: LiveService) -> None:
    name = "n" * 300
    refused = service.ask("POST", f"/api/series/{name}/rows", {"rows": [{"a": 1}]})
    assert refused.status == 422
    assert name not in {one["name"] for one in service.get("/api/series")["series"]}
