"""Turns of a query that go wrong: counted, said once, and never the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from apart import call_apart, run_apart
from service.watch.past import MACHINES, Looking, Past, look, machines, settings
from service.watch.servers import Prometheus, free_port, needs_prometheus
from subadjacent.service.watch.exposition import Board, Health
from subadjacent.service.watch.store import Store
from subadjacent.service.watch.watcher import Turns


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def turns(looking: Looking, registry: CollectorRegistry, store: Store | None = None) -> Turns:
    board = Board()
    registry.register(board)
    return Turns(looking.watch, store, board, Health(registry), looking.said.append)


def number(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, {"query": MACHINES} | labels)


def take(looking: Looking, *steps: Any) -> list[int]:
    """What each of some turns, or functions in between, gives."""

    async def go() -> list[int]:
        async with looking.api:
            return [await step() for step in steps]

    return run_apart(go())


def shown(registry: CollectorRegistry) -> int:
    return sum(
        len(family.samples) for family in registry.collect() if family.name == "anomaly_score"
    )


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch, past: Past) -> Iterator[Any]:
    """Sets the second of the past that it is now."""

    def now(second: int) -> None:
        monkeypatch.setattr("subadjacent.service.watch.watcher._now", lambda: past.at(second) + 250)

    now(600)
    return now


@needs_prometheus
def test_a_turn_waits_for_the_next_row(past: Past, at: Any, registry: CollectorRegistry) -> None:
    looking = look(settings(past.server, MACHINES))
    turn = turns(looking, registry).turn

    async def later() -> int:
        at(603)
        return await turn()

    assert take(looking, turn, later) == [750, 750]
    assert number(registry, "anomaly_watch_up") == 1
    assert number(registry, "anomaly_watch_rows_total") == 9
    assert number(registry, "anomaly_watch_seconds_count") == 2
    assert number(registry, "anomaly_watch_last_row_timestamp_seconds") == past.begin + 603
    assert shown(registry) == 3


@needs_prometheus
def test_an_outage_is_said_once_and_hides_what_is_too_old(
    past: Past, at: Any, registry: CollectorRegistry
) -> None:
    looking = look(settings(past.server, MACHINES))
    turn = turns(looking, registry).turn
    api, url = looking.api, looking.api._url

    async def down() -> int:
        at(601)
        api._url = f"http://127.0.0.1:{free_port()}/"
        return await turn()

    async def long_down() -> int:
        assert shown(registry) == 3
        at(901)
        return await turn()

    async def up() -> int:
        assert shown(registry) == 0
        api._url = url
        return await turn()

    assert take(looking, turn, down, down, long_down, up) == [750, 1_000, 2_000, 4_000, 750]
    assert number(registry, "anomaly_watch_failures_total", reason="unreachable") == 3
    assert shown(registry) == 3
    # machine 3 came meanwhile
    assert f"{MACHINES}: learned 1 series more from history" in looking.said
    assert looking.said.count(f"{MACHINES}: answered again") == 1
    assert sum("no rows" in text for text in looking.said) == 1


@needs_prometheus
def test_a_fault_of_ours_is_told_and_the_query_begins_anew(
    past: Past, at: Any, registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = look(settings(past.server, MACHINES))
    turn = turns(looking, registry).turn

    async def faulty() -> int:
        at(602)
        with monkeypatch.context() as patched:
            patched.setattr(looking.watch.series[next(iter(looking.watch.series))], "push", None)
            return await turn()

    assert take(looking, turn, faulty, turn) == [750, 1_000, 750]
    assert number(registry, "anomaly_watch_failures_total", reason="internal") == 1
    assert "no rows (TypeError: 'NoneType' object is not callable); trying again" in looking.said[1]
    assert {series.rows for series in machines(looking.watch).values()} == {400}


@needs_prometheus
def test_a_full_disk_is_said_once_and_what_was_kept_stays(
    past: Past, at: Any, registry: CollectorRegistry, tmp_path: Path
) -> None:
    def body() -> None:
        looking = look(settings(past.server, MACHINES))
        with Store(tmp_path) as store:
            turn = turns(looking, registry, store)

            async def full() -> int:
                database: sqlite3.Connection = store._database
                (pages,) = database.execute("PRAGMA page_count").fetchone()
                database.execute(f"PRAGMA max_page_count = {pages}")
                for second in (601, 602):
                    at(second)
                    await turn.turn()
                    # larger by far than what was kept
                    for series in looking.watch.series.values():
                        series.channels |= {str(n) * 1_000: () for n in range(300)}
                    turn.save()
                return 0

            take(looking, turn.turn, full)
            assert (
                sum("state was not saved (database or disk is full)" in t for t in looking.said)
                == 1
            )
            again = look(settings(past.server, MACHINES))
            assert store.restore(again.watch)
            assert again.watch.clock == past.at(600)

    call_apart(body)  # what SQLite opens is for one thread


def test_nothing_is_kept_where_nothing_is_asked_for(registry: CollectorRegistry) -> None:
    server = Prometheus("http://127.0.0.1:1", None)  # type: ignore[arg-type]  # never started
    looking = look(settings(server, MACHINES))
    turns(looking, registry).save()
    assert looking.said == []
