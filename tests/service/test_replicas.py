"""Replicas without a cluster: which series is whose, how it moves, how answers become one."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from apart import run_apart
from live_service import LiveService, alike, live, rows_of, until, with_a_jump
from subadjacent.detectors.default import SubAdjacentDetector
from subadjacent.errors import InputError
from subadjacent.service.numbers import MOST_REPLICAS, Numbers
from subadjacent.service.problems import Refusal
from subadjacent.service.replicas import merging
from subadjacent.service.replicas.asking import Asked, Conversation, Told
from subadjacent.service.replicas.handover import hand_over
from subadjacent.service.replicas.placing import alone_in, home, homes, owner
from subadjacent.service.schema import connect
from subadjacent.service.settings import read_settings

LATER = rows_of(50, first=320)
NAMES = [f"s{number}" for number in range(6)]


def test_series_are_spread_the_same_way_for_ever() -> None:
    assert [owner(name, 1) for name in NAMES] == [0] * 6
    assert [owner(name, 2) for name in NAMES] == [1, 0, 0, 0, 1, 0]
    assert [owner(name, 3) for name in NAMES] == [2, 0, 0, 0, 1, 0]


@given(st.text(), st.integers(1, 10))
def test_one_more_replica_takes_series_and_moves_no_others(name: str, count: int) -> None:
    assert owner(name, count + 1) in (owner(name, count), count)


def test_replicas_have_about_as_many_series_each() -> None:
    shares = Counter(owner(f"pump {number}", 4) for number in range(1_000))
    assert sorted(shares) == [0, 1, 2, 3]
    assert min(shares.values()) > 200


def test_the_first_replica_has_the_folder_itself(tmp_path: Path) -> None:
    assert [home(tmp_path, number) for number in (0, 2)] == [tmp_path, tmp_path / "replica-2"]
    for name in (".", "replica-2", "replica-10", "replica-x", "replica-0"):
        (tmp_path / name).mkdir(exist_ok=True)
        connect(tmp_path / name).close()
    (tmp_path / "replica-3").mkdir()
    others = {number: tmp_path / f"replica-{number}" for number in (2, 10)}
    assert homes(tmp_path) == {0: tmp_path} | others


def test_numbers_of_replicas_differ_and_are_in_the_order_of_time(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as tables:
        tables.execute("insert into outbox (id, address, body) values (?, '', '')", (2**60,))
        later = Numbers(tables, 3)
        assert [later(), later()] == [2**60 + 3, 2**60 + 3 + MOST_REPLICAS]
        tables.execute("update sqlite_sequence set seq = 7")
        givers = [Numbers(tables, replica) for replica in (0, 1, MOST_REPLICAS - 1)]
        given = [giver() for _ in range(50) for giver in givers]
        assert len(set(given)) == 150
        assert [number % MOST_REPLICAS for number in given[:3] if number] == [0, 1, 63]
        assert all(one < other for one, other in pairwise(given[::3]) if one and other)
        # a browser counts exactly up to here
        assert 1_700_000_000_000 * 64 < min(number or 0 for number in given) < 2**53
        assert Numbers(tables, None)() is None


# series move


def told_by(service: LiveService) -> dict[str, Any]:
    """All that a client can read, with alarms counted instead of numbered."""
    alarms = service.get("/api/alarms?limit=1000")["alarms"]
    ranks = {one["id"]: rank for rank, one in enumerate(reversed(alarms))}
    return {
        "series": [
            one | {"open_alarm": ranks.get(one["open_alarm"])}
            for one in service.get("/api/series")["series"]
        ],
        "alarms": [one | {"id": ranks[one["id"]]} for one in alarms],
        "history": {name: service.get(f"/api/series/{name}/history?limit=1000") for name in NAMES},
    }


def test_series_that_have_moved_go_on_as_if_they_had_not(tmp_path: Path) -> None:
    rows = {name: with_a_jump(calm=150 + 9 * place) for place, name in enumerate(NAMES)}
    with live(tmp_path / "moved") as moved, live(tmp_path / "stayed") as stayed:
        for name in NAMES:
            for service in (moved, stayed):
                service.push(name, rows[name][:190])
        for service in (moved, stayed):
            first = service.get("/api/alarms")["alarms"][0]["id"]
            service.post(f"/api/alarms/{first}/acknowledge", {"note": "seen"})
        ids = [one["id"] for one in moved.get("/api/alarms")["alarms"]]
        moved.end()
        assert hand_over(tmp_path / "moved", 3) == 2
        assert names_in(tmp_path / "moved") == {0: ["s1", "s2", "s3", "s5"], 1: ["s4"], 2: ["s0"]}
        assert hand_over(tmp_path / "moved", 3) == 0
        assert hand_over(tmp_path / "moved", 2) == 1
        assert names_in(tmp_path / "moved") == {0: ["s1", "s2", "s3", "s5"], 1: ["s4", "s0"]}
        # the service without replicas takes all of them back
        moved.start()
        assert names_in(tmp_path / "moved").keys() == {0}
        assert not list((tmp_path / "moved").glob("*replica-*"))
        assert [one["id"] for one in moved.get("/api/alarms")["alarms"]] == ids
        assert any(one["open_alarm"] for one in moved.get("/api/series")["series"])
        for name in NAMES:
            taken = [service.push(name, rows[name][185:]) for service in (moved, stayed)]
            for one in taken:
                assert one["duplicates"] == 5
                for answer in one["answers"]:
                    answer["alarm"] = answer["alarm"] is not None
            assert alike(*taken)
        assert alike(told_by(moved), told_by(stayed))
        assert any(one["note"] == "seen" for one in told_by(moved)["alarms"])


def names_in(folder: Path) -> dict[int, list[str]]:
    found = {}
    for number, place in homes(folder).items():
        with closing(connect(place)) as tables:
            found[number] = [
                name for (name,) in tables.execute("select name from series order by id")
            ]
    return found


def add_series(place: Path, name: str, rows: int = 0) -> int:
    place.mkdir(exist_ok=True)
    with closing(connect(place)) as tables:
        (key,) = tables.execute(
            "insert into series (name, channels, time_kind, rows) values (?, '[\"a\"]', 'none', ?) "
            "returning id",
            (name, rows),
        ).fetchone()
    return int(key)


def test_a_move_that_was_cut_short_is_ended_the_next_time(tmp_path: Path) -> None:
    add_series(tmp_path, "s1")
    key = add_series(tmp_path, "s0")
    with closing(connect(tmp_path)) as tables:
        tables.execute("insert into snapshots values (?, 3, '{}', x'00')", (key,))
        tables.execute(
            "create trigger stuck before delete on series begin select raise(abort, 'cut'); end"
        )
    with pytest.raises(sqlite3.IntegrityError, match="cut"):
        hand_over(tmp_path, 2)
    assert names_in(tmp_path) == {0: ["s1", "s0"], 1: ["s0"]}
    with closing(connect(tmp_path)) as tables:
        # deleted is all or nothing
        assert tables.execute("select count(*) from snapshots").fetchone() == (1,)
        tables.execute("drop trigger stuck")
    assert hand_over(tmp_path, 2) == 1
    assert names_in(tmp_path) == {0: ["s1"], 1: ["s0"]}
    with closing(connect(tmp_path)) as tables:
        assert tables.execute("select count(*) from snapshots").fetchone() == (0,)
    with closing(connect(tmp_path / "replica-1")) as tables:
        assert tables.execute("select * from snapshots").fetchall() == [(1, 3, "{}", b"\0")]


def test_a_copy_that_failed_leaves_nothing(tmp_path: Path) -> None:
    add_series(tmp_path, "s0")
    add_series(tmp_path / "replica-1", "s5")
    with closing(connect(tmp_path / "replica-1")) as tables:
        tables.execute(
            "create trigger full after insert on series begin select raise(abort, 'full'); end"
        )
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        hand_over(tmp_path, 2)
    assert names_in(tmp_path) == {0: ["s0"], 1: ["s5"]}


def test_a_series_that_two_replicas_have_is_refused(tmp_path: Path) -> None:
    add_series(tmp_path, "s0", rows=3)
    add_series(tmp_path / "replica-1", "s0", rows=4)
    with pytest.raises(
        InputError, match=r"data must have every series once; 's0' is in .*: delete"
    ):
        hand_over(tmp_path, 2)
    assert names_in(tmp_path) == {0: ["s0"], 1: ["s0"]}


def test_a_replica_that_goes_leaves_its_fits_and_webhooks_to_the_first(tmp_path: Path) -> None:
    # one fit was left before, when this was cut short
    for place, fits in ((tmp_path, (1, 2)), (tmp_path / "replica-1", (2, 3))):
        place.mkdir(exist_ok=True)
        with closing(connect(place)) as tables:
            tables.executemany(
                "insert into jobs (id, name, state, started_at) values (?, 'm', 'done', 0)",
                [(fit,) for fit in fits],
            )
            tables.execute("insert into outbox (address, body) values ('a', ?)", (fits[0],))
    assert hand_over(tmp_path, 1) == 0
    with closing(connect(tmp_path)) as tables:
        assert tables.execute("select id from jobs").fetchall() == [(1,), (2,), (3,)]
        assert tables.execute("select body from outbox").fetchall() == [("1",), ("2",)]
    assert not list(tmp_path.glob("*replica-*"))


def test_nothing_moves_while_a_process_still_ends_in_a_folder(tmp_path: Path) -> None:
    add_series(tmp_path, "s0")

    def is_waited_for() -> bool:
        lines = Path("/proc/locks").read_text().splitlines()
        return any("-> FLOCK" in line and f" {os.getpid()} " in line for line in lines)

    with ThreadPoolExecutor() as threads, alone_in(tmp_path):
        handed = [threads.submit(hand_over, tmp_path, 1)]
        until(is_waited_for)
        assert not handed[0].done()
    assert handed[0].result() == 0


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two models of one name."""
    folders = [tmp_path_factory.mktemp(when) / "pump" for when in ("older", "newer")]
    for seed, folder in enumerate(folders):
        SubAdjacentDetector().fit(pl.DataFrame(rows_of(300, seed=seed)).drop("time")).save(folder)
    return folders


def test_where_models_of_a_name_differ_the_newest_is_it(tmp_path: Path, pumps: list[Path]) -> None:
    """As after a kill between a fit and the telling of it: as if all had been told."""
    rows = with_a_jump(calm=300, jump=20, after=0)
    older, newer = map(str, pumps)
    found = []
    for kind in ("apart", "together"):
        with live(tmp_path / kind, "-m", older) as service:
            service.push("s1", rows)
            assert service.get("/api/series/s1")["open_alarm"] is not None
            service.end()
            service.options = ()
            if kind == "together":
                service.options = ("-m", newer)
            else:
                with live(tmp_path / kind / "replica-1", "-m", newer) as other:
                    other.get("/ready")
                assert hand_over(tmp_path / kind, 2) == 0
            service.start()
            found.append(
                [
                    service.get("/api/series/s1"),
                    service.get("/api/alarms"),
                    [one | {"alarm": None} for one in service.push("s1", LATER)["answers"]],
                    [one["name"] for one in service.get("/api/models")["models"]],
                ]
            )
            assert len(list((tmp_path / kind / "models").iterdir())) == 1
    assert alike(*found)
    assert (found[0][0]["model"], found[0][0]["open_alarm"]) == ("pump", None)
    assert [one["state"] for one in found[0][1]["alarms"]] == ["closed"]


# answers become one


def told(**content: Any) -> Told:
    return Told(200, [], json.dumps(content).encode())


def asked(query: str = "") -> Asked:
    return Asked("GET", "/", query.encode(), [], b"")


def test_series_of_all_come_the_worst_first() -> None:
    def series(name: str, state: str, severity: float) -> dict[str, Any]:
        return {"name": name, "state": state, "severity": severity}

    one = told(series=[series("a", "alarm", 1.0), series("m", "muted", 9.0)])
    other = told(series=[series("b", "alarm", 2.0), series("c", "calm", 0.5)])
    found = json.loads(merging.all_series(asked(), [one, other]))["series"]
    assert [record["name"] for record in found] == ["b", "a", "c", "m"]


def test_alarms_of_all_come_the_newest_first_as_many_as_were_asked_for() -> None:
    parts = [told(alarms=[{"id": 5}, {"id": 1}]), told(alarms=[{"id": 4}, {"id": 3}])]
    found = json.loads(merging.all_alarms(asked("limit=3&state=open"), parts))
    assert found == {"alarms": [{"id": 5}, {"id": 4}, {"id": 3}]}
    many = told(alarms=[{"id": number} for number in range(101, 1, -1)])
    assert len(json.loads(merging.all_alarms(asked(), [many, parts[0]]))["alarms"]) == 100


def test_models_are_those_of_the_first_and_fits_of_all() -> None:
    parts = [
        told(models=["m"], jobs=[{"id": number} for number in range(100, 50, -1)]),
        told(models=["n"], jobs=[{"id": 99.5}]),
    ]
    found = json.loads(merging.all_models(asked(), parts))
    assert found["models"] == ["m"]
    assert [one["id"] for one in found["jobs"]] == [100, 99, 99.5, *range(98, 51, -1)]


def test_metrics_of_all_are_added_up() -> None:
    def text(series: str, rows: int, created: float) -> bytes:
        return (
            "# HELP anomaly_score Severity of the newest row.\n# TYPE anomaly_score gauge\n"
            f'anomaly_score{{series="{series}"}} 0.5\n'
            "# HELP subadjacent_rows_total Rows.\n# TYPE subadjacent_rows_total counter\n"
            f'subadjacent_rows_total{{result="taken"}} {rows}\n'
            "# HELP subadjacent_rows_created Rows.\n# TYPE subadjacent_rows_created gauge\n"
            f'subadjacent_rows_created{{result="taken"}} {created}\n'
            "# HELP subadjacent_listeners Who.\n# TYPE subadjacent_listeners gauge\n"
            "subadjacent_listeners 4\n"
        ).encode()

    own = b"# HELP up Own.\n# TYPE up gauge\nup 1.0\n"
    parts = [Told(200, [], text("a", 3, 20.0)), Told(200, [], text(r"b\"", 4, 10.0))]
    found = merging.metrics(own, parts, 1).decode().splitlines()
    assert [line for line in found if line and line[0] != "#"] == [
        "up 1.0",
        'anomaly_score{series="a"} 0.5',
        'anomaly_score{series="b\\""} 0.5',
        'subadjacent_rows_total{result="taken"} 7.0',
        'subadjacent_rows_created{result="taken"} 10.0',
        "subadjacent_listeners 1.0",
    ]
    assert "# TYPE subadjacent_rows_total counter" in found


# a request travels

App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with what was asked, in two parts."""
    message = await receive()
    words = [scope["method"], scope["path"], scope["query_string"].decode()]
    await send({"type": "http.response.start", "status": 201, "headers": scope["headers"]})
    await send({"type": "http.response.body", "body": " ".join(words).encode(), "more_body": True})
    await send({"type": "http.response.body", "body": message["body"]})


async def for_ever(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200})
    for number in range(1_000_000):
        await send({"type": "http.response.body", "body": b"%d" % number, "more_body": True})
    await receive()


async def fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise Refusal(503, "not now")


async def tasks_left() -> int:
    """Tasks beside this one, once those that were cancelled are gone."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks()) - 1


def test_a_request_and_its_answer_travel_whole() -> None:
    scope = {
        "method": "PUT", "path": "/a b", "query_string": b"x=1", "headers": [(b"h", b"v")],
    }  # fmt: skip
    request = Asked.of(scope, b"!")

    async def ask() -> Told:
        return await Conversation(echo, request).whole()

    assert run_apart(ask()) == Told(201, [(b"h", b"v")], b"PUT /a b x=1!")


def test_an_answer_without_end_waits_for_whoever_listens_and_can_be_ended() -> None:
    async def listen() -> None:
        conversation = Conversation(for_ever, asked())
        assert await conversation.begin() == Told(200, [], b"")
        assert [await conversation.more() for _ in range(3)] == [b"0", b"1", b"2"]
        await asyncio.sleep(0)
        hears = asyncio.ensure_future(conversation.more())
        await conversation.end()
        assert await hears == b"3"
        left = [part async for part in rest(conversation)]
        assert len(left) <= 1
        assert await tasks_left() == 0

    async def rest(conversation: Conversation) -> Any:
        while (part := await conversation.more()) is not None:
            yield part

    run_apart(listen())


def test_an_application_that_answers_nothing_has_its_error_told() -> None:
    async def ask() -> None:
        with pytest.raises(Refusal, match="not now"):
            await Conversation(fails, asked()).whole()
        assert await tasks_left() == 0

    run_apart(ask())


@pytest.mark.parametrize("count", [0, 65])
def test_the_number_of_replicas_has_bounds(count: int) -> None:
    with pytest.raises(InputError, match="replicas is not as it must be"):
        read_settings(None, replicas=count)


def test_made_up_series_have_one_replica() -> None:
    assert read_settings(None, replicas=1, demo=True).demo
    with pytest.raises(InputError, match="replicas must be 1 for --demo; got 2"):
        read_settings(None, replicas=2, demo=True)
