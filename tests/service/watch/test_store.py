"""What is kept between runs: the same answers as without a stop."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from apart import run_apart
from service.watch.past import CHANGE, MACHINES, PAIR, Looking, Past, look, settings
from service.watch.servers import needs_prometheus
from subadjacent.errors import InputError
from subadjacent.service.watch.settings import Settings
from subadjacent.service.watch.store import FILE, Store

STOP, END = CHANGE + 2, CHANGE + 40


def follow(looking: Looking, *moments: int) -> dict[Any, Any]:
    async def go() -> None:
        async with looking.api:
            for moment in moments:
                await looking.watch.catch_up(moment)

    run_apart(go())
    return {key: series.shown for key, series in looking.watch.series.items()}


def restored(given: Settings, folder: Path) -> tuple[Looking, bool]:
    looking = look(given)
    with Store(folder) as store:
        return looking, store.restore(looking.watch)


@pytest.fixture
def kept(past: Past, tmp_path: Path) -> Settings:
    """Settings of a watch that was stopped in the middle of an anomaly."""
    given = settings(past.server, MACHINES)
    looking = look(given)
    with Store(tmp_path) as store:
        store.save(looking.watch)
        follow(looking, past.at(800), past.at(STOP))
        store.save(looking.watch)
        store.save(looking.watch)
    return given


@needs_prometheus
@pytest.mark.parametrize(("expr", "groupby"), [(MACHINES, None), (PAIR, ("site",))])
def test_a_stop_in_the_middle_changes_no_answer(
    past: Past, tmp_path: Path, expr: str, groupby: tuple[str, ...] | None
) -> None:
    given = settings(past.server, expr, groupby=groupby)
    moments = [past.at(second) for second in (820, STOP, END)]
    without = follow(look(given), *moments)
    assert any(shown.alarm for shown in without.values())
    first = look(given)
    follow(first, *moments[:2])
    with Store(tmp_path) as store:
        store.save(first.watch)
    second, found = restored(given, tmp_path)
    assert found
    assert follow(second, moments[2]) == without
    # the rows that were missed are asked for, and no history
    assert second.api.asked[0] == (past.at(STOP + 1), past.at(END))


@needs_prometheus
def test_another_query_does_not_use_what_was_kept(kept: Settings, tmp_path: Path) -> None:
    assert restored(kept, tmp_path)[1]
    for change in ({"step": 2_000}, {"groupby": ("machine",)}, {"name": "other"}):
        query = kept.queries[0].model_copy(update=change)
        looking, found = restored(kept.model_copy(update={"queries": (query,)}), tmp_path)
        assert not found
        assert looking.watch.clock is None


@needs_prometheus
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE query SET facts = '{'",
        "UPDATE query SET facts = '{}'",
        "UPDATE series SET arrays = x'00'",
        "UPDATE series SET facts = '[]'",
        "UPDATE series SET key = rowid",
    ],
)
def test_what_is_damaged_is_learned_again(kept: Settings, tmp_path: Path, damage: str) -> None:
    database = sqlite3.connect(tmp_path / FILE)
    database.execute(damage)
    database.commit()
    database.close()
    looking, found = restored(kept, tmp_path)
    assert not found
    assert (looking.watch.clock, looking.watch.series) == (None, {})


@needs_prometheus
def test_what_cannot_be_kept_whole_leaves_what_was_kept_and_the_next_is_kept(
    kept: Settings, past: Past, tmp_path: Path
) -> None:
    def refuse(action: int, table: str | None, *_: object) -> int:
        is_last = action == sqlite3.SQLITE_INSERT and table == "series"
        return sqlite3.SQLITE_DENY if is_last else sqlite3.SQLITE_OK

    looking, _ = restored(kept, tmp_path)
    follow(looking, past.at(END))
    with Store(tmp_path) as store:
        store._database.set_authorizer(refuse)
        with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
            store.save(looking.watch)
        store._database.set_authorizer(None)
        again = look(kept)
        assert store.restore(again.watch)
        assert again.watch.clock == past.at(STOP)
        store.save(looking.watch)
        assert store.restore(again.watch)
        assert again.watch.clock == past.at(END)


@needs_prometheus
def test_what_is_kept_of_a_series_is_bounded(kept: Settings, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / FILE)
    sizes = database.execute("SELECT length(facts) + length(arrays) FROM series").fetchall()
    ((facts,),) = database.execute("SELECT facts FROM query").fetchall()
    database.close()
    assert len(sizes) == 3
    assert max(size for (size,) in sizes) < 1_000_000
    assert len(json.loads(facts)["seen"]) == 3
    assert kept.queries[0].name == MACHINES


def test_a_folder_is_used_by_one_watcher_at_a_time(tmp_path: Path) -> None:
    in_use = r"no other watcher uses; .* is in use: name another"
    with Store(tmp_path / "data"), pytest.raises(InputError, match=in_use):
        Store(tmp_path / "data")
    with Store(tmp_path / "data"):
        pass


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="data must be a folder to write to"):
        Store(tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).write_text(
        "not a database, and longer than its header would be" * 9
    )
    with pytest.raises(InputError, match=r"no watch\.sqlite of another program"):
        Store(tmp_path / "other")
    assert [file.name for file in (tmp_path / "other").iterdir()] == [FILE]
