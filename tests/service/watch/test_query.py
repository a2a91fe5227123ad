"""A query against a real server's history, with the clock in our hands."""

from __future__ import annotations

import asyncio

import pytest

from apart import run_apart
from service.watch.past import AGAIN, CHANGE, MACHINES, PAIR, SITE, Past, look, machines, settings
from service.watch.servers import needs_prometheus
from subadjacent.service.watch.grid import MOST_POINTS
from subadjacent.service.watch.prometheus_api import PrometheusAPI, ReadFailure

pytestmark = needs_prometheus


def test_it_learns_from_the_history_of_what_is_there_now(past: Past) -> None:
    looking = look(settings(past.server, MACHINES))

    async def learn() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(600) + 400)

    run_apart(learn())
    assert looking.watch.clock == past.at(600)
    found = machines(looking.watch)
    assert sorted(found) == ["1", "2", "4"]
    assert {series.rows for series in found.values()} == {400}
    assert all(series.shown.warm_up == 1 for series in found.values())
    assert all(not series.shown.alarm for series in found.values())
    assert looking.said == [f"{MACHINES}: learned 3 series from history"]
    # the last minute tells what is there, then comes the history
    assert looking.api.asked[0] == (past.at(540), past.at(600))
    assert looking.api.asked[1:] == [(past.at(201), past.at(600))]


def test_every_row_is_taken_once_and_an_anomaly_is_told(past: Past) -> None:
    looking = look(settings(past.server, MACHINES))

    async def follow() -> None:
        async with looking.api:
            for second in (600, 600, 603, CHANGE - 1):
                await looking.watch.catch_up(past.at(second))
            assert not any(one.shown.alarm for one in machines(looking.watch).values())
            await looking.watch.catch_up(past.at(CHANGE))
            assert machines(looking.watch)["1"].shown.score > 1
            await looking.watch.catch_up(past.at(CHANGE + 5))

    run_apart(follow())
    assert looking.api.asked[2:4] == [
        (past.at(601), past.at(603)),
        (past.at(604), past.at(CHANGE - 1)),
    ]
    found = machines(looking.watch)
    assert found["1"].shown.alarm
    assert found["1"].shown.value[0] > found["1"].shown.high[0]
    assert found["2"].shown.value[0] < found["2"].shown.low[0]
    alarms = [one for one in looking.said if one.startswith("alarm: ")]
    assert len(alarms) == 2
    assert f"alarm: {MACHINES} {{plant_load,machine=1}}: " in alarms[0]
    # of machine 4 until its last value is five seconds old; machine 3 was learned at CHANGE - 1
    assert looking.watch.rows == 2 * (CHANGE + 5 - 600) + (654 - 600) + 6


def test_series_come_and_go(past: Past) -> None:
    looking = look(settings(past.server, MACHINES))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(600))
            await looking.watch.catch_up(past.at(700))
            # the newcomer is learned from history at once: the last learning was 100 rows ago
            assert sorted(machines(looking.watch)) == ["1", "2", "3", "4"]
            assert machines(looking.watch)["3"].rows == 1
            # the last value of machine 4, of second 649, is used until second 654
            await looking.watch.catch_up(past.at(714))
            assert sorted(machines(looking.watch)) == ["1", "2", "3", "4"]
            await looking.watch.catch_up(past.at(715))
            assert sorted(machines(looking.watch)) == ["1", "2", "3"]
            await looking.watch.catch_up(past.at(730))
            assert machines(looking.watch)["3"].rows == 31

    run_apart(follow())


def test_label_sets_that_share_labels_are_channels_of_one_series(past: Past) -> None:
    looking = look(settings(past.server, SITE, groupby=("site",)))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(750))
            (series,) = looking.watch.series.values()
            assert list(series.channels) == ["plant_load,sensor=a", "plant_load,sensor=b"]
            # the new sensor waits: the last learning was too short a while ago
            await looking.watch.catch_up(past.at(849))
            assert list(looking.watch.series.values()) == [series]
            await looking.watch.catch_up(past.at(850))
            (series,) = looking.watch.series.values()
            assert [name[-1] for name in series.channels] == ["a", "b", "c"]
            assert series.rows == 400

    run_apart(follow())


def test_the_channel_that_departs_adds_most(past: Past) -> None:
    looking = look(settings(past.server, PAIR, groupby=("site",)))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(CHANGE - 1))
            await looking.watch.catch_up(past.at(CHANGE))

    run_apart(follow())
    (series,) = looking.watch.series.values()
    assert series.shown is not None
    assert series.shown.alarm
    assert max(series.shown.channel_score) == series.shown.channel_score[0]


def test_no_more_label_sets_are_watched_than_asked_for(past: Past) -> None:
    looking = look(settings(past.server, MACHINES, max_series=2))

    async def follow() -> None:
        async with looking.api:
            for second in (600, 601, 602):
                await looking.watch.catch_up(past.at(second))

    run_apart(follow())
    assert sorted(machines(looking.watch)) == ["1", "2"]
    assert looking.watch.refused == 1
    assert looking.said[0] == (
        f"{MACHINES}: 2 label sets are watched and 1 are not: narrow the query, or raise max_series"
    )
    assert len(looking.said) == 2


def test_a_long_history_is_read_in_parts_that_the_server_allows(past: Past) -> None:
    given = settings(past.server, MACHINES)
    rows = MOST_POINTS + 1_000
    query = given.queries[0].model_copy(update={"history": rows * 1_000})
    looking = look(given.model_copy(update={"queries": (query,)}))

    async def learn() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(600))
            with pytest.raises(ReadFailure, match="exceeded maximum resolution of 11,000") as found:
                await looking.api.read(MACHINES, past.at(600 - rows), past.at(600), 1_000)
            assert found.value.kind == "refused"

    run_apart(learn())
    _, later, earlier, _ = looking.api.asked
    assert later == (past.at(601 - MOST_POINTS), past.at(600))
    assert earlier == (past.at(601 - rows), past.at(600 - MOST_POINTS))
    # rows before a series began are none of its rows
    assert {series.rows for series in machines(looking.watch).values()} == {601}


def test_a_watch_that_slept_longer_than_its_history_begins_anew(past: Past) -> None:
    looking = look(settings(past.server, MACHINES))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(500))
            await looking.watch.catch_up(past.at(901))
            assert {series.rows for series in machines(looking.watch).values()} == {202, 400}
            looking.watch.forget()
            await looking.watch.catch_up(past.at(902))
            assert machines(looking.watch)["3"].rows == 203

    run_apart(follow())
    assert [text for text in looking.said if "learned" in text] == [
        f"{MACHINES}: learned {n} series from history" for n in (3, 3, 3)
    ]


def test_newcomers_are_learned_at_most_once_in_a_hundred_rows(past: Past) -> None:
    looking = look(settings(past.server, "plant_load"))

    async def follow() -> list[int]:
        watched = []
        async with looking.api:
            for second in (610, 709, 710, 809, 810):
                await looking.watch.catch_up(past.at(second))
                watched.append(len(looking.watch.series))
        return watched

    # machine 3 came at second 700, machine 4 is gone by 715, the third sensor came at 800
    assert run_apart(follow()) == [5, 5, 6, 5, 6]


def test_rows_that_were_missed_are_read_in_parts_that_the_server_allows(past: Past) -> None:
    given = settings(past.server, MACHINES)
    rows = MOST_POINTS + 1_000
    query = given.queries[0].model_copy(update={"history": rows * 1_000})
    looking = look(given.model_copy(update={"queries": (query,)}))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(600 - rows))
            looking.api.asked.clear()
            await looking.watch.catch_up(past.at(600))

    run_apart(follow())
    asked = looking.api.asked[: rows // 1_000]
    assert [first for first, _ in asked] == [
        past.at(601 - rows + 1_000 * part) for part in range(rows // 1_000)
    ]
    assert asked[-1][1] == past.at(600)
    assert sorted(machines(looking.watch)) == ["1", "2", "4"]


def test_a_budget_holds_alarms_back(past: Past) -> None:
    given = settings(past.server, 'plant_load{machine="1"}')
    query = given.queries[0].model_copy(update={"false_alarms": "1/day"})
    looking = look(given.model_copy(update={"queries": (query,)}))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(CHANGE - 1))
            await looking.watch.catch_up(past.at(AGAIN + 5))

    run_apart(follow())
    # it jumps twice
    assert sum(text.startswith("alarm: ") for text in looking.said) == 1


def test_the_first_series_to_appear_does_not_wait(past: Past) -> None:
    looking = look(settings(past.server, 'plant_load{machine="3"}'))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(690))
            assert looking.watch.series == {}
            await looking.watch.catch_up(past.at(702))
            assert machines(looking.watch)["3"].rows == 3

    run_apart(follow())


def test_a_clock_that_was_put_right_does_not_end_the_watch(past: Past) -> None:
    looking = look(settings(past.server, MACHINES))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(1_000))
            await looking.watch.catch_up(past.at(600))
            # by as much as its history: it may be right by then
            assert looking.watch.clock == past.at(1_000)
            await looking.watch.catch_up(past.at(599))
            assert looking.watch.clock == past.at(599)

    run_apart(follow())


def test_rows_are_asked_for_when_they_are_old_enough(past: Past) -> None:
    given = settings(past.server, MACHINES)
    query = given.queries[0].model_copy(update={"offset": 30_000})
    looking = look(given.model_copy(update={"queries": (query,)}))

    async def follow() -> None:
        async with looking.api:
            await looking.watch.catch_up(past.at(630) - 1)
            assert looking.watch.clock == past.at(599)

    run_apart(follow())


@pytest.mark.parametrize("steps", [1, 3, 6, 10])
def test_an_interruption_leaves_whole_rows(past: Past, steps: int) -> None:
    given = settings(past.server, MACHINES)

    async def whole() -> object:
        looking = look(given)
        async with looking.api:
            await looking.watch.catch_up(past.at(600))
            await looking.watch.catch_up(past.at(690))
        return {key: one.shown for key, one in machines(looking.watch).items()}

    async def interrupted() -> object:
        looking = look(given)
        async with looking.api:
            await looking.watch.catch_up(past.at(600))
            task = asyncio.create_task(looking.watch.catch_up(past.at(690)))
            for _ in range(steps):
                await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert looking.watch.clock in range(past.at(600), past.at(691), 1_000)
            await looking.watch.catch_up(past.at(690))
        return {key: one.shown for key, one in machines(looking.watch).items()}

    assert run_apart(interrupted()) == run_apart(whole())


def test_a_wrong_query_is_refused_in_the_server_s_words(past: Past) -> None:
    given = settings(past.server, "plant_load{")

    async def ask() -> None:
        async with PrometheusAPI(given) as api:
            await api.read("plant_load{", past.at(0), past.at(1), 1_000)

    with pytest.raises(ReadFailure, match="parse error") as found:
        run_apart(ask())
    assert found.value.kind == "refused"
