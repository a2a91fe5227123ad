"""Rows scored before their turn: new series too, and nothing stays of what was not taken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from live_service import LiveService
from subadjacent.service.bodies import Batch
from subadjacent.service.early import EarlyRows
from subadjacent.service.models import Models
from subadjacent.service.moments import TimeKind
from subadjacent.service.schema import connect
from subadjacent.service.streams import MOST_EARLY, StreamHost
from subadjacent.service.watched import WatchedSeries
from subadjacent.streaming.series import SeriesStream

CHANNELS = ("a", "b")


def batch(times: list[float] | None = None, rows: int = 2) -> Batch:
    kind = TimeKind.none if times is None else TimeKind.number
    return Batch(CHANNELS, np.arange(2.0 * rows).reshape(rows, 2), times, kind)


@pytest.fixture
def host() -> Iterator[StreamHost]:
    found = StreamHost()
    yield found
    found.end()


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    found = connect(tmp_path)
    yield found
    found.close()


@pytest.fixture
def early(host: StreamHost, tables: sqlite3.Connection, tmp_path: Path) -> EarlyRows:
    return EarlyRows(host, Models(tables, tmp_path / "models"), tables)


def test_the_first_rows_of_a_new_series_are_scored_as_they_would_be(early: EarlyRows) -> None:
    first = batch([1.0, 2.0])
    early.begin("new", first)
    stream = early.begun("new", first)
    assert stream is not None
    assert (stream.key, stream.has_early) == (1, True)
    own = SeriesStream(CHANNELS, None, "new")
    expected = own.push(first.values, [1.0, 2.0])
    found = stream.push(first.values, [1.0, 2.0])
    assert [(one.row, one.time, one.severity) for one in found] == [
        (one.row, one.time, one.severity) for one in expected
    ]
    # it is the series' own from now on
    assert early.begun("new", first) is None
    assert early.settle() == set()
    assert len(stream.push(first.values, [3.0, 4.0])) == 2


def test_what_was_begun_for_other_rows_is_not_taken_and_goes(
    early: EarlyRows, host: StreamHost
) -> None:
    early.begin("new", batch())
    early.begin("new", batch())
    assert early.begun("new", batch()) is None
    assert early.begun("other", batch()) is None
    early.settle()
    # numbers are not used twice, and its own is free of streams: a push finds none there
    assert early.next_key() == 2
    host.begin(1, CHANNELS, "again", None)
    assert host.ask("push", 1, batch().values, None)[0].row == 0


@pytest.fixture
def known(host: StreamHost) -> WatchedSeries:
    columns = (5, "known", '["a", "b"]', "none", None, 0, 0, 0, None, 0.0, 0.0, None, None)
    series = WatchedSeries(columns)
    series.stream = host.begin(5, CHANNELS, "known", None)
    return series


def test_series_whose_rows_were_scored_and_not_taken_are_named(
    early: EarlyRows, known: WatchedSeries
) -> None:
    series, rows = known, batch()
    assert series.stream is not None
    early.push(series, rows)
    assert len(series.stream.push(rows.values, None)) == 2
    assert early.settle() == set()
    early.push(series, rows)
    assert early.settle() == {5}


def test_rows_out_of_order_or_too_many_wait_for_their_turn(early: EarlyRows) -> None:
    for rows in (batch([2.0, 1.0]), batch([1.0, 1.0]), batch(rows=MOST_EARLY // 2 + 1)):
        early.begin("new", rows)
        assert early.begun("new", rows) is None
        early.settle()
    most = batch(rows=MOST_EARLY // 2)
    early.begin("new", most)
    assert early.begun("new", most) is not None


def test_rows_do_not_overtake_those_of_a_request_before_that_waits(
    early: EarlyRows, known: WatchedSeries
) -> None:
    assert known.stream is not None
    early.push(known, batch(rows=MOST_EARLY))
    early.push(known, batch())
    assert not known.stream.has_early
    early.begin("new", batch(rows=MOST_EARLY))
    early.begin("new", second := batch())
    assert early.begun("new", second) is None
    # the next group of requests is another matter
    early.settle()
    early.push(known, batch())
    assert known.stream.has_early


def test_clients_that_push_to_one_series_at_once_are_all_answered(service: LiveService) -> None:
    def pushed(rows: int) -> list[int]:
        body = [{"a": float(row % 7), "b": 2.0} for row in range(rows)]
        answers = [service.ask("POST", "/api/series/both/rows", body) for _ in range(40)]
        return [answer.status for answer in answers]

    sizes = [MOST_EARLY, 1, MOST_EARLY, 1]
    with ThreadPoolExecutor(len(sizes)) as pool:
        for found in pool.map(pushed, sizes):
            assert set(found) == {200}
    assert service.get("/api/series/both")["rows"] == 40 * sum(sizes)


def test_what_was_begun_in_a_process_that_ended_is_not_taken(
    early: EarlyRows, host: StreamHost
) -> None:
    rows = batch()
    early.begin("new", rows)
    host.end()
    host.start()
    assert early.begun("new", rows) is None
    assert early.settle() == set()


def test_numbers_of_series_that_were_deleted_are_not_used_again(
    early: EarlyRows, host: StreamHost, tables: sqlite3.Connection, tmp_path: Path
) -> None:
    tables.execute(
        "insert into series (id, name, channels, time_kind) values (?, 'x', '[]', 'none')",
        (early.next_key() + 6,),
    )
    tables.execute("delete from series")
    later = EarlyRows(host, Models(tables, tmp_path / "models"), tables)
    assert later.next_key() == 8


def test_many_series_that_begin_at_once_are_all_there_with_their_own_rows(
    service: LiveService,
) -> None:
    names = [f"new-{n}" for n in range(60)]

    def push(name: str) -> tuple[int, float]:
        number = float(name.partition("-")[2])
        sent = [{"time": time, "a": number, "b": time} for time in (1, 2)]
        taken = service.push(name, sent)["taken"]
        return taken + service.push(name, [{"time": 3, "a": number, "b": 3}])["taken"], number

    with ThreadPoolExecutor(20) as pool:
        assert [taken for taken, _ in pool.map(push, names)] == [3] * len(names)
    for name in names:
        history = service.get(f"/api/series/{name}/history")
        assert history["values"]["a"] == [float(name.partition("-")[2])] * 3
        assert history["values"]["b"] == [1, 2, 3]


def test_a_series_that_is_refused_leaves_nothing_and_others_go_on(service: LiveService) -> None:
    long = "n" * 300
    refused = service.ask("POST", f"/api/series/{long}/rows", {"rows": [{"a": 1}]})
    assert refused.status == 422
    assert long not in {one["name"] for one in service.get("/api/series")["series"]}
    assert service.push("fine", [{"time": 1, "a": 1.0}])["taken"] == 1
