"""A poller with a real server's history and a real registry, and the clock in our hands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apart import run_apart
from service.watch.past import AGAIN, CHANGE, MACHINES, SITE, Past, Polled, polling, settings
from service.watch.servers import free_port, needs_prometheus
from subadjacent.service.problems import Refusal
from subadjacent.service.request_body import RowBatch
from subadjacent.service.times import TimeKind
from subadjacent.service.watch import poller as module
from subadjacent.service.watch.prometheus_api import PrometheusAPI, ReadFailure

pytestmark = needs_prometheus


def polled(
    past: Past,
    folder: Path,
    follow: Callable[[Polled], Awaitable[None]],
    expr: str = MACHINES,
    **of_query: Any,
) -> None:
    async def go() -> None:
        async with polling(settings(past.server.url, expr, **of_query), folder) as found:
            await follow(found)

    run_apart(go())


def rows_by_machine(found: Polled) -> dict[str, int]:
    return {machine: series.rows for machine, series in found.series().items()}


def learned(found: Polled) -> list[str]:
    return [text.partition(": ")[2] for text in found.said if "learned" in text]


def test_series_are_learned_from_history_then_every_row_is_pushed_once(
    past: Past, tmp_path: Path
) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(600) + 400)
        assert found.poller.clock == past.at(600)
        assert rows_by_machine(found) == {"1": 400, "2": 400, "4": 400}
        assert all(series.warm_up == 1 for series in found.series().values())
        assert found.said == [f"{MACHINES}: learned 3 series from history"]
        # the last minute tells what is there, then comes the history
        assert found.api.asked == [(past.at(540), past.at(600)), (past.at(201), past.at(600))]
        for second in (600, 603, CHANGE - 1):
            await found.poller.catch_up(past.at(second))
        assert found.api.asked[2:4] == [
            (past.at(601), past.at(603)),
            (past.at(604), past.at(CHANGE - 1)),
        ]
        assert found.alarms() == []
        await found.poller.catch_up(past.at(CHANGE))
        one, two = (found.series()[machine] for machine in "12")
        assert one.severity > 1
        await found.poller.catch_up(past.at(CHANGE + 5))
        assert found.alarms() == [one.name, two.name]
        assert one.name == f"{MACHINES} {{plant_load,machine=1}}"
        # of machine 4 until its last value is five seconds old; machine 3 was learned meanwhile
        assert found.poller.rows == 2 * (CHANGE + 5 - 600) + (654 - 600) + 6

    polled(past, tmp_path, follow)


def test_alarms_of_the_history_are_listed_and_not_sent(past: Past, tmp_path: Path) -> None:
    for first, is_sent in ((CHANGE + 20, False), (600, True)):
        sent: list[str] = []

        async def follow(found: Polled, first: int = first, sent: list[str] = sent) -> None:
            found.registry.on_alarm.append(lambda *change: sent.append(change[-1]))
            await found.poller.catch_up(past.at(first))
            assert sent == []
            await found.poller.catch_up(past.at(max(first, CHANGE + 5)))
            assert {name[-2] for name in found.alarms()} >= {"1", "2"}

        polled(past, tmp_path / str(first), follow)
        assert (sent != []) is is_sent


def test_a_kill_while_the_history_is_pushed_loses_and_doubles_nothing(
    past: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def first(found: Polled) -> None:
        push, pushed = found.registry.push, []

        async def fail_at_last(name: str, batch: RowBatch, **how: Any) -> Any:
            pushed.append(name)
            if len(pushed) == 3:
                raise KeyError("killed")
            return await push(name, batch, **how)

        monkeypatch.setattr(module, "LEARNED_AT_ONCE", 150)
        monkeypatch.setattr(found.registry, "push", fail_at_last)
        with pytest.raises(KeyError):
            await found.poller.catch_up(past.at(600))
        assert [series.rows for series in found.registry.series.values()] == [300]

    async def second(found: Polled) -> None:
        await found.poller.catch_up(past.at(600))
        # the others begin their history where the first one had come to
        assert rows_by_machine(found) == {"1": 400, "2": 500, "4": 500}

    polled(past, tmp_path, first)
    polled(past, tmp_path, second)


def test_series_come_and_go(past: Past, tmp_path: Path) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(610))
        await found.poller.catch_up(past.at(709))
        # it came at second 700, and is learned 100 rows after the last learning
        assert sorted(found.series()) == ["1", "2", "4"]
        await found.poller.catch_up(past.at(710))
        assert rows_by_machine(found)["3"] == 11
        # the last value of machine 4, of second 649, is used until second 654
        await found.poller.catch_up(past.at(714))
        assert sorted(found.series()) == ["1", "2", "3", "4"]
        await found.poller.catch_up(past.at(715))
        assert sorted(found.series()) == ["1", "2", "3"]
        await found.poller.catch_up(past.at(730))
        assert rows_by_machine(found)["3"] == 31

    polled(past, tmp_path, follow)


def test_the_first_series_to_appear_does_not_wait(past: Past, tmp_path: Path) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(690))
        assert found.poller.series == {}
        await found.poller.catch_up(past.at(702))
        assert rows_by_machine(found) == {"3": 3}

    polled(past, tmp_path, follow, 'plant_load{machine="3"}')


def test_label_sets_that_share_labels_are_channels_of_one_series(
    past: Past, tmp_path: Path
) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(750))
        # the new sensor waits: the last learning was too short a while ago
        await found.poller.catch_up(past.at(849))
        (series,) = found.registry.series.values()
        assert series.channels == ("plant_load,sensor=a", "plant_load,sensor=b")
        await found.poller.catch_up(past.at(850))
        (series,) = found.registry.series.values()
        assert [name[-1] for name in series.channels] == ["a", "b", "c"]
        assert series.rows == 400
        await found.poller.catch_up(past.at(CHANGE))
        assert series.latest is not None
        assert series.latest.by_channel.argmax() == 0

    polled(past, tmp_path, follow, SITE, groupby=("site",))


def test_a_restart_goes_on_and_comes_to_the_same_alarms(past: Past, tmp_path: Path) -> None:
    found_by: dict[str, list[Any]] = {}

    async def all_at_once(found: Polled) -> None:
        for second in (600, CHANGE + 10, AGAIN + 5):
            await found.poller.catch_up(past.at(second))
        found_by["whole"] = [rows_by_machine(found), found.alarms()]

    async def first_part(found: Polled) -> None:
        await found.poller.catch_up(past.at(600))
        await found.poller.catch_up(past.at(CHANGE + 10))

    async def second_part(found: Polled) -> None:
        await found.poller.catch_up(past.at(AGAIN + 5))
        assert found.said == [f"{MACHINES}: resumed 3 stored series"]
        # only the last minute, to see what is there, and the rows since
        assert found.api.asked[1][0] == past.at(CHANGE + 11)
        found_by["restarted"] = [rows_by_machine(found), found.alarms()]

    async def changed(found: Polled) -> None:
        await found.poller.catch_up(past.at(AGAIN + 6))
        assert learned(found) == ["learned 3 series from history"]
        assert set(rows_by_machine(found).values()) == {400}

    polled(past, tmp_path / "whole", all_at_once)
    polled(past, tmp_path / "parts", first_part)
    polled(past, tmp_path / "parts", second_part)
    assert found_by["restarted"] == found_by["whole"]
    # another setting of the query: what was learned before is not used
    polled(past, tmp_path / "parts", changed, false_alarms="9/hour")


def test_it_begins_again_after_a_long_sleep_or_a_clock_that_was_put_right(
    past: Past, tmp_path: Path
) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(500))
        await found.poller.catch_up(past.at(901))
        assert rows_by_machine(found) == {"1": 400, "2": 400, "3": 202}
        await found.poller.catch_up(past.at(501))
        # by as much as its history: it may be right by then
        assert found.poller.clock == past.at(901)
        await found.poller.catch_up(past.at(500))
        assert found.poller.clock == past.at(500)
        assert learned(found) == ["learned 3 series from history"] * 3

    polled(past, tmp_path, follow)


def test_no_more_label_sets_are_watched_than_requested(past: Past, tmp_path: Path) -> None:
    async def follow(found: Polled) -> None:
        for second in (600, 601, 602):
            await found.poller.catch_up(past.at(second))
        assert sorted(found.series()) == ["1", "2"]
        assert found.poller.refused == 1
        assert found.said[0] == (
            f"{MACHINES}: 2 label sets are watched and 1 are not: narrow the query, or raise "
            f"max_series"
        )
        assert len(found.said) == 2

    polled(past, tmp_path, follow, max_series=2)


def test_a_long_history_and_many_missed_rows_are_read_in_parts(past: Past, tmp_path: Path) -> None:
    rows = module.MAX_POINTS + 1_000

    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(600 - rows))
        found.api.asked.clear()
        await found.poller.catch_up(past.at(600))
        missed = found.api.asked[: rows // 1_000]
        assert [first for first, _ in missed] == [
            past.at(601 - rows + 1_000 * part) for part in range(rows // 1_000)
        ]
        assert missed[-1][1] == past.at(600)
        earlier, later = found.api.asked[rows // 1_000 :]
        assert earlier == (past.at(601 - rows), past.at(600 - rows + module.MAX_POINTS))
        assert later == (past.at(601 - rows + module.MAX_POINTS), past.at(600))
        # rows before a series began are none of its rows
        assert set(rows_by_machine(found).values()) == {601}
        with pytest.raises(ReadFailure, match="exceeded maximum resolution of 11,000") as refused:
            await found.api.read(MACHINES, past.at(600 - rows), past.at(600), 1_000)
        assert refused.value.kind == "refused"

    polled(past, tmp_path, follow, history=rows * 1_000)


def test_rows_are_asked_for_when_they_are_old_enough(past: Past, tmp_path: Path) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(630) - 1)
        assert found.poller.clock == past.at(599)

    polled(past, tmp_path, follow, offset=30_000)


def test_a_series_that_a_client_pushes_is_left_alone(past: Past, tmp_path: Path) -> None:
    async def follow(found: Polled) -> None:
        await found.poller.catch_up(past.at(600))
        (name, *_) = found.poller.series
        await found.registry.delete(name)
        await found.registry.push(name, RowBatch(("x",), np.ones((1, 1)), None, TimeKind.none))
        found.poller.clock = None
        await found.poller.catch_up(past.at(601))
        assert found.registry.series[name].rows == 1
        assert found.said[1] == (
            f"{name!r} is not watched: a client already pushes a series of this name"
        )

    polled(past, tmp_path, follow)


def test_an_outage_is_reported_once_and_hides_what_is_too_old(
    past: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at(second: int) -> None:
        monkeypatch.setattr(module, "_now", lambda: past.at(second) + 250)

    async def follow(found: Polled) -> None:
        def shown() -> int:
            return sum(
                len(family.samples)
                for family in found.metrics.collect()
                if family.name == "anomaly_score"
            )

        at(600)
        turn, url = found.poller.turn, found.api._url
        assert await turn() == 750
        at(603)
        assert await turn() == 750
        assert (found.number("anomaly_watch_up"), shown()) == (1, 3)
        assert found.number("anomaly_watch_rows_total") == 9
        assert found.number("anomaly_watch_series") == 3
        assert found.number("anomaly_watch_last_row_timestamp_seconds") == past.begin + 603
        # a rise from nothing would not be seen
        assert found.number("anomaly_watch_failures_total", reason="unreachable") == 0
        found.api._url = f"http://127.0.0.1:{free_port()}/"
        at(604)
        assert [await turn() for _ in range(3)] == [1_000, 2_000, 4_000]
        assert (found.number("anomaly_watch_up"), shown()) == (0, 3)
        at(904)
        assert [await turn() for _ in range(5)] == [8_000, 16_000, 32_000, 60_000, 60_000]
        assert shown() == 0
        found.api._url = url
        assert await turn() == 750
        assert shown() == 3
        assert found.number("anomaly_watch_failures_total", reason="unreachable") == 8
        assert found.said.count(f"{MACHINES}: rows are read again") == 1
        assert sum("no rows" in text for text in found.said) == 1

    polled(past, tmp_path, follow)


def test_a_failure_of_the_service_is_reported_and_rows_are_pushed_again(
    past: Past, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise Refusal(507, "the disk is full")

    async def follow(found: Polled) -> None:
        monkeypatch.setattr(module, "_now", lambda: past.at(600) + 250)
        await found.poller.turn()
        monkeypatch.setattr(module, "_now", lambda: past.at(605) + 250)
        for broken, text in ((fail, "the disk is full"), (None, "TypeError: 'NoneType' object")):
            with monkeypatch.context() as patched:
                patched.setattr(found.registry, "push", broken)
                assert await found.poller.turn() in (1_000, 2_000)
            assert any(f"no rows ({text}" in one for one in found.said) or broken is None
        assert await found.poller.turn() == 750
        assert rows_by_machine(found) == {"1": 405, "2": 405, "4": 405}
        assert found.number("anomaly_watch_failures_total", reason="internal") == 2

    polled(past, tmp_path, follow)


def test_a_wrong_query_is_refused_in_the_server_s_words(past: Past) -> None:
    async def ask() -> None:
        async with aclosing(PrometheusAPI(settings(past.server.url, "plant_load{"))) as api:
            await api.read("plant_load{", past.at(0), past.at(1), 1_000)

    with pytest.raises(ReadFailure, match="parse error") as found:
        run_apart(ask())
    assert found.value.kind == "refused"
