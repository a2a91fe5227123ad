"""Answers of a server, good and bad; the bad ones from a real server that is up to no good."""

from __future__ import annotations

import json
import math
import socket
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from apart import run_apart
from service.watch.servers import Question, Reply, answering
from subadjacent.errors import InputError
from subadjacent.service.watch.prometheus_api import (
    PrometheusAPI,
    ReadFailure,
    Table,
    check_secrets,
    parse_table,
)
from subadjacent.service.watch.settings import WatchSettings, read_settings

MATRIX = {
    "resultType": "matrix",
    "result": [
        {"metric": {"b": "2", "a": "1"}, "values": [[10, "1.5"], [12.0, "NaN"], [14, "+Inf"]]},
        {"metric": {}, "values": [[12, "-2e3"], [14, "1e200"]]},
        {"metric": {"native": "yes"}, "histograms": []},
    ],
}


def of(port: int, **others: Any) -> WatchSettings:
    return read_settings(None, {"prometheus": f"http://127.0.0.1:{port}/prom"} | others, ("up",))


def read(settings: WatchSettings) -> Table:
    async def ask() -> Table:
        async with aclosing(PrometheusAPI(settings)) as api:
            return await api.read("up", 10_000, 14_000, 2_000)

    return run_apart(ask())


def success(data: Any) -> Reply:
    return 200, json.dumps({"status": "success", "data": data}).encode()


def test_values_are_put_on_the_grid() -> None:
    table = parse_table(MATRIX, 10_000, 14_000, 2_000)
    nan = math.nan
    assert list(table) == [(("a", "1"), ("b", "2")), (), (("native", "yes"),)]
    np.testing.assert_array_equal(
        list(table.values()), [[1.5, nan, nan], [nan, -2e3, nan], [nan] * 3]
    )


def test_a_question_says_what_when_and_how_often() -> None:
    asked: list[Question] = []

    def reply(question: Question) -> Reply:
        asked.append(question)
        return success(MATRIX)

    with answering(reply) as port:
        assert len(read(of(port))) == 3
    (question,) = asked
    assert question.path == "/prom/api/v1/query_range"
    assert parse_qs(question.body) == {
        "query": ["up"],
        "start": ["10.000"],
        "end": ["14.000"],
        "step": ["2.000"],
    }
    assert question.headers["Authorization"] is None


def test_a_token_or_a_password_is_read_for_every_question(tmp_path: Path) -> None:
    asked: list[Question] = []

    def reply(question: Question) -> Reply:
        asked.append(question)
        return success(MATRIX)

    secret = tmp_path / "secret"
    with answering(reply) as port:
        for text in ("one\n", "two"):
            secret.write_text(text)
            read(of(port, token_file=secret))
        read(of(port, username="me", password_file=secret))
        secret.unlink()
        with pytest.raises(ReadFailure, match="secret cannot be read: No such file"):
            read(of(port, token_file=secret))
    assert [question.headers["Authorization"] for question in asked] == [
        "Bearer one",
        "Bearer two",
        "Basic bWU6dHdv",
    ]


def test_a_file_that_holds_no_token_is_refused_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "token"
    settings = of(1, token_file=file)
    for content in (b"", b"\n", b"a\nb", b"\xff\xfe", "café".encode()):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"token (must hold one line|cannot be read: it is)"):
            check_secrets(settings)
    file.write_text("fine\n")
    check_secrets(settings)


def bad(**changes: Any) -> Reply:
    return success(MATRIX | changes)


def series(**changes: Any) -> Reply:
    return bad(result=[{"metric": {}, "values": [[10, "1"]]} | changes])


def test_a_bad_answer_is_told_and_told_apart() -> None:
    answers: list[tuple[Reply | None, str, str]] = [
        (None, "unreachable", "Server disconnected without sending a response"),
        ((200, b"<html>hello</html>"), "answer", "not JSON of the interface"),
        ((200, b"[" * 100_000), "answer", "not JSON of the interface"),
        ((200, b"[]"), "answer", "not JSON of the interface"),
        ((200, b'{"status": "success"}'), "answer", "not JSON of the interface"),
        ((302, b""), "refused", "HTTP status 302"),
        ((401, b"go away"), "refused", "HTTP status 401"),
        ((503, b"busy"), "server", "HTTP status 503"),
        ((400, b'{"status":"error","error":"bad\\nquery"}'), "refused", "bad query"),
        ((503, b'{"status":"error","error":"overloaded"}'), "server", "overloaded"),
        (bad(resultType="vector"), "answer", "values over time were requested; it has a vector"),
        (bad(result=None), "answer", "it is malformed"),
        (bad(result=[[]]), "answer", "it is malformed"),
        (series(values=[[11, "1"]]), "answer", "a value at 11, which was not requested"),
        (series(values=[[16, "1"]]), "answer", "a value at 16, which was not requested"),
        (series(values=[[8, "1"]]), "answer", "a value at 8, which was not requested"),
        (series(values=[[10, "high"]]), "answer", "could not convert"),
        (series(values=[[1e400, "1"]]), "answer", "it is malformed"),
        (series(values=[["10", "1"]]), "answer", "it is malformed"),
        (series(metric=None), "answer", "it is malformed"),
    ]
    replies = iter(answers)
    with answering(lambda _: next(replies)[0]) as port:
        for _, kind, said in answers:
            with pytest.raises(ReadFailure) as found:
                read(of(port))
            assert said in str(found.value)
            assert found.value.kind == kind


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.service.watch.prometheus_api.LARGEST_ANSWER", 1_000)
    with answering(lambda _: (200, b" " * 1_001)) as port, pytest.raises(ReadFailure) as found:
        read(of(port))
    assert str(found.value) == "it is longer than 1,000 bytes"
    assert found.value.kind == "answer"


def test_a_server_that_says_nothing_is_given_up() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(ReadFailure, match=r"no answer within 0\.05 s") as found,
    ):
        read(of(silent.getsockname()[1], timeout="50ms"))
    assert found.value.kind == "timeout"
