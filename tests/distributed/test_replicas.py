"""Two replicas on a real cluster, beside a lone service that is given the same: the same answers.

The tests follow each other: a story of one service.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from live_service import (
    START_WORDS,
    Answered,
    LiveService,
    alike,
    as_csv,
    live,
    rows_of,
    until,
    with_a_jump,
)
from subadjacent.service.replicas.placing import owner

NAMES = [f"s{number}" for number in range(6)]
ROWS = {name: with_a_jump(calm=120 + 7 * place) for place, name in enumerate(NAMES)}


class Pair(NamedTuple):
    """Replicas, and a service without."""

    many: LiveService
    lone: LiveService

    def push(self, name: str, first: int, stop: int) -> None:
        """The same rows to both; both say the same of them."""
        taken = [one.push(name, ROWS[name][first:stop]) for one in self]
        for one in taken:
            for answer in one["answers"]:
                answer["alarm"] = answer["alarm"] is not None
        assert alike(*taken)

    def same(self, read: Callable[[LiveService], Any]) -> Any:
        """What both say."""
        found = [read(one) for one in self]
        assert alike(*found)
        return found[0]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("replicas")
    (folder / "config.toml").write_text("[limits]\nbody_bytes = 200000\nlisteners = 1\n")
    options = ("--config", str(folder / "config.toml"))
    with (
        live(folder / "lone", *options) as lone,
        live(folder / "many", *options, "--replicas", "2", more_env={"RAY_ADDRESS": ""}) as many,
    ):
        yield Pair(many, lone)


def everything(service: LiveService) -> dict[str, Any]:
    """All that can be read; alarms have the numbers of their series, which are the same."""
    alarms = service.get("/api/alarms?limit=1000")["alarms"]
    numbers = {one["id"]: one["number"] for one in alarms}
    assert len(numbers) == len(alarms)
    assert list(numbers) == sorted(numbers, reverse=True)
    series = service.get("/api/series")["series"]
    return {
        "series": [one | {"open_alarm": numbers.get(one["open_alarm"])} for one in series],
        "alarms": sorted(
            (one | {"id": 0} for one in alarms), key=lambda one: (one["series"], one["number"])
        ),
        "history": {
            one["name"]: service.get(f"/api/series/{one['name']}/history?limit=1000")
            for one in series
        },
        "models": [one | {"fitted_at": ""} for one in service.get("/api/models")["models"]],
    }


def process_of(service: LiveService, replica: int) -> int | None:
    """The process that has the tables of a replica open."""
    assert service.folder is not None
    place = service.folder / f"replica-{replica}" / "service.sqlite"
    for found in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if found.readlink() == place:
                return int(found.parts[2])
    return None


def test_both_replicas_have_series() -> None:
    assert {owner(name, 2) for name in NAMES} == {owner(name, 2) for name in NAMES[:2]} == {0, 1}


def test_replicas_answer_as_one_service(pair: Pair) -> None:
    for name in NAMES:
        pair.push(name, 0, 130)
        pair.push(name, 128, 160)
    found = pair.same(everything)
    assert len(found["series"]) == 6
    # in the order in which they were opened, whoever has them
    pair.same(lambda one: [alarm["series"] for alarm in one.get("/api/alarms")["alarms"]])
    assert any(one["open_alarm"] is not None for one in found["series"])
    pair.same(lambda one: one.get("/api/series/s0")["rows"])
    pair.same(lambda one: len(one.get("/api/alarms?limit=2")["alarms"]))
    pair.same(lambda one: len(one.get("/api/alarms?series=s0")["alarms"]))
    assert pair.many.get("/api/replicas") == {"replicas": 2}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/", None),
        ("GET", "/health", None),
        ("GET", "/ready", None),
        ("GET", "/nothing", None),
        ("GET", "/api/series/nothing", None),
        ("DELETE", "/api/series/nothing", None),
        ("PATCH", "/api/series/s0", None),
        ("POST", "/api/series", None),
        ("POST", "/api/series/s0/rows", {"rows": [{"time": "noon", "flow": 1}]}),
        ("POST", "/api/series/s0/rows", {"rows": [{"time": 1, "flow": 1}]}),
        ("POST", "/api/series/s0/rows", "a" * 200_001),
        ("GET", "/api/alarms/1x", None),
        ("GET", "/api/alarms/7000000", None),
        ("GET", "/api/alarms?limit=0", None),
        ("GET", "/api/alarms?series=nothing", None),
        ("GET", "/api/jobs/7000000", None),
        ("POST", "/api/models", None),
        ("POST", "/api/score?model=nothing", {"rows": []}),
        ("GET", "/api/events?series=" + "a" * 201, None),
    ],
)
def test_what_is_refused_is_refused_in_the_same_words(
    pair: Pair, method: str, path: str, body: Any
) -> None:
    def said(service: LiveService) -> Answered:
        return service.ask(method, path, body)

    one, other = map(said, pair)
    assert one == other


def test_pages_from_elsewhere_are_not_answered(pair: Pair) -> None:
    assert pair.many.ask("GET", "/api/series", Origin="http://evil.example").status == 403
    assert pair.many.ask("GET", "/api/series", Host="evil.example").status == 421


def test_what_people_say_of_alarms_reaches_the_replica_that_has_them(pair: Pair) -> None:
    def say(service: LiveService) -> list[Any]:
        said = []
        for name in ("s0", "s1"):
            key = service.get(f"/api/alarms?series={name}")["alarms"][0]["id"]
            assert service.get(f"/api/alarms/{key}")["series"] == name
            said.append(service.post(f"/api/alarms/{key}/acknowledge", {"note": f"of {name}"}))
            said.append(service.post(f"/api/alarms/{key}/normal"))
        return [one | {"id": 0} for one in said]

    assert [one["note"] for one in pair.same(say)] == ["of s0", "of s0", "of s1", "of s1"]
    pair.same(everything)


def test_a_page_of_alarms_goes_on_where_the_last_one_ended(pair: Pair) -> None:
    alarms = pair.many.get("/api/alarms")["alarms"]
    half = len(alarms) // 2
    assert half > 1
    rest = pair.many.get(f"/api/alarms?before={alarms[half]['id']}")["alarms"]
    assert rest == alarms[half + 1 :]


def test_whoever_listens_hears_of_the_series_of_all_replicas(pair: Pair) -> None:
    many = pair.many
    connection = http.client.HTTPConnection("127.0.0.1", many.port, timeout=600)
    connection.request("GET", "/api/events")
    stream = connection.getresponse()
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert stream.readline() == b": listening\n"
    assert "subadjacent_listeners 1.0" in many.ask("GET", "/metrics").body.decode()
    # a replica has room for one
    refused = many.ask("GET", "/api/events")
    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    for name in ("s0", "s1"):
        pair.push(name, 160, 161)
    heard = dict.fromkeys((b'"name": "s0"', b'"name": "s1"'), False)
    while not all(heard.values()):
        line = stream.readline()
        assert line
        heard |= {name: True for name in heard if name in line}
    connection.close()
    until(lambda: "subadjacent_listeners 0.0" in many.ask("GET", "/metrics").body.decode())


def test_a_model_that_was_fitted_is_known_to_all_replicas(pair: Pair) -> None:
    for one in pair:
        assert one.fit("pump", as_csv(rows_of(300)))["state"] == "done"
        for name in ("s0", "s1"):
            assert one.ask("PUT", f"/api/series/{name}/model", {"model": "pump"}).status == 200
    for name in ("s0", "s1"):
        pair.push(name, 161, 170)
    found = pair.same(everything)
    assert [one["name"] for one in found["models"]] == ["pump"]
    assert found["history"]["pump"]["rows"]
    jobs = pair.many.get("/api/models")["jobs"]
    assert [(one["name"], one["state"]) for one in jobs] == [("pump", "done")]
    rows = {"rows": rows_of(100)}
    pair.same(lambda one: one.post("/api/score?model=pump", rows))


def test_counts_of_all_replicas_are_added_up(pair: Pair) -> None:
    def counted(service: LiveService) -> list[str]:
        text = service.ask("GET", "/metrics").body.decode()
        return sorted(
            line
            for line in text.splitlines()
            if line.startswith(("anomaly_alarm", "anomaly_expected", "subadjacent_series "))
            or (line.startswith("subadjacent_rows_total") and "taken" in line)
        )

    assert "subadjacent_series 7.0" in pair.same(counted)
    text = pair.many.ask("GET", "/metrics").body.decode()
    route = 'subadjacent_request_seconds_count{method="POST",route="/api/series/{name}/rows"'
    assert text.count(route) == pair.lone.ask("GET", "/metrics").body.decode().count(route) == 2


def test_a_replica_that_is_killed_is_back_and_has_lost_nothing(pair: Pair) -> None:
    for name in NAMES:
        pair.push(name, 170, 175)
    before = pair.same(everything)
    killed = process_of(pair.many, 1)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    # those of the other replica do not notice
    (calm,) = [name for name in NAMES[:2] if owner(name, 2) == 0]
    pair.push(calm, 175, 180)

    def is_back() -> bool:
        answer = pair.many.ask("GET", "/ready")
        assert answer.status == 200 or (
            answer.status == 503
            and answer.headers["retry-after"] == "1"
            and answer.json["error"] == "replica 1 has ended, and is started anew: send this again"
        )
        return answer.status == 200

    is_back()
    # it works though nobody asks it: it may have webhooks to send
    until(lambda: process_of(pair.many, 1) not in (None, killed))
    until(is_back)
    for name in NAMES:
        pair.push(name, 175, 190)
    after = pair.same(everything)
    assert len(after["history"]["s0"]["rows"]) == len(before["history"]["s0"]["rows"]) + 15


def test_series_go_to_the_replicas_that_are_left_while_rows_keep_coming(pair: Pair) -> None:
    keys = {one["id"] for one in pair.many.get("/api/alarms")["alarms"]}

    def push(service: LiveService, name: str) -> int:
        parts = [ROWS[name][first : first + 3] for first in range(190, 220, 3)]
        return sum(service.push(name, part)["taken"] for part in parts)

    with ThreadPoolExecutor() as threads:
        pushed = [threads.submit(push, pair.many, name) for name in NAMES]
        answer = pair.many.ask("PUT", "/api/replicas", {"replicas": 1})
        assert [one.result() for one in pushed] == [30] * 6
    assert (answer.status, answer.json) == (200, {"replicas": 1})
    assert pair.many.get("/api/replicas") == {"replicas": 1}
    assert pair.many.folder is not None
    assert not (pair.many.folder / "replica-1").exists()
    for name in NAMES:
        push(pair.lone, name)
        pair.push(name, 218, 230)
    pair.same(everything)
    assert keys <= {one["id"] for one in pair.many.get("/api/alarms")["alarms"]}
    assert pair.many.ask("PUT", "/api/replicas", {"replicas": 0}).status == 422


def test_where_more_replicas_cannot_be_started_those_before_go_on(pair: Pair) -> None:
    assert pair.many.folder is not None
    in_the_way = pair.many.folder / "replica-1"
    in_the_way.touch()
    answer = pair.many.ask("PUT", "/api/replicas", {"replicas": 2})
    in_the_way.unlink()
    assert answer.status == 503
    assert answer.json["error"].startswith("2 replicas could not be started ([Errno 17]")
    assert answer.json["error"].endswith("; there are 1 still")
    assert pair.many.get("/api/replicas") == {"replicas": 1}
    pair.same(everything)


def test_a_start_with_more_replicas_spreads_the_series_again(pair: Pair) -> None:
    said = pair.many.end()
    assert (said.count("replicas could not be started"), pair.many.process.returncode) == (1, 143)
    pair.many.start()
    assert pair.many.get("/api/replicas") == {"replicas": 2}
    assert process_of(pair.many, 1)
    for name in NAMES:
        pair.push(name, 230, 240)
    pair.same(everything)


def test_a_folder_of_replicas_is_read_without_them_after_a_kill(pair: Pair) -> None:
    pair.many.kill()
    pair.many.options = pair.many.options[:2]
    pair.many.start()
    for name in NAMES:
        pair.push(name, 238, 260)
    pair.same(everything)
    assert pair.many.ask("GET", "/api/replicas").status == 404


def test_without_ray_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError('none', name='ray')\n")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, *START_WORDS, "serve", "--replicas", "2", "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 1
    assert "needs ray, which is not installed: pip install 'subadjacent[ray]'" in done.stderr
