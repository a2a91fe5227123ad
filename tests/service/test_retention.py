"""Old rows and alarms go: by rows, and after a restart with another rule by days."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apart import run_apart
from live_service import LiveService, alike, live, rows_of, until, with_a_jump, without_keys
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.retention import MAX_ALARMS, Sweeper
from subadjacent.service.settings import Settings
from subadjacent.service.writer import Changes

SECOND = 1 / 86_400
"""In days."""


def renamed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With channels of their own: no model that another test has fitted judges them."""
    return [{"time": row["time"], "kept": row["pressure"], "swept": row["flow"]} for row in rows]


ROWS = renamed(with_a_jump(calm=1_000, jump=20, after=200))
SNAPSHOT = 1_205
"""Rows by the last snapshot of the first series: one is due whenever 100 are full, less its id."""


def kept(service: LiveService, name: str) -> list[int]:
    """Rows that are there: the last ones, without a hole."""
    found = service.get(f"/api/series/{name}/history?limit=5000&points=5000")["rows"]
    rows = service.get(f"/api/series/{name}")["rows"]
    assert found == list(range(rows - len(found), rows))
    return list(found)


def test_the_newest_alarms_of_a_series_are_kept_and_one_that_is_open(tmp_path: Path) -> None:
    async def sweep() -> list[int]:
        registry = SeriesRegistry(Settings(), tmp_path)
        registry.writer.start()

        def work(changes: Changes) -> None:
            tables = changes.tables
            tables.execute(
                "insert into series (id, name, channels, time_kind) values (1, 'x', '[]', 'none')"
            )
            tables.executemany(
                "insert into alarms (series, number, state, first, last, severity, kind, sentence, "
                "causes, for_good, opened_at) values (1, ?, ?, 0, 0, 1, '', '', '[]', 0, 0)",
                [(n, "open" if n == 1 else "closed") for n in range(MAX_ALARMS + 3)],
            )
            registry._undo({1})
            Sweeper(registry.series, registry.settings.retention)(changes)

        await registry.writer.do(work)
        with registry.reader() as tables:
            found = tables.execute("select number from alarms order by id").fetchall()
        await registry.stop()
        return [number for (number,) in found]

    assert run_apart(sweep()) == [1, *range(3, MAX_ALARMS + 3)]


def test_rows_and_alarms_go_by_the_rule_of_the_last_start_and_scoring_goes_on(
    tmp_path: Path, service: LiveService
) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[retention]\nrows = 300\n")
    with live(tmp_path / "data", "--config", str(config)) as swept:
        # one with an alarm that is closed, one with an alarm that stays open
        for one in (swept, service):
            one.push("retained", ROWS[:SNAPSHOT])
            one.push("retained", ROWS[SNAPSHOT:])
            one.push("retained-open", ROWS[:1_010])
        count = len(ROWS)
        opened = swept.get("/api/series/retained-open")["open_alarm"]
        assert opened is not None
        until(lambda: len(kept(swept, "retained")) < 400)
        # rows beyond the bound are deleted by the hundred, perhaps before the last ones came
        assert kept(swept, "retained")[0] in (SNAPSHOT - 300, count - 300)
        assert swept.get("/api/series/retained")["rows"] == count
        assert len(swept.get("/api/alarms?series=retained")["alarms"]) >= 1
        # by days: all are older than a second by and by, but what the stream needs is kept
        swept.kill()
        config.write_text(f"[retention]\ndays = {SECOND}\n")
        swept.start()
        until(lambda: len(kept(swept, "retained")) < 200)
        assert kept(swept, "retained") == list(range(SNAPSHOT, count))
        assert swept.get("/api/series/retained")["rows"] == count
        until(lambda: swept.get("/api/alarms?series=retained")["alarms"] == [])
        left = [alarm["id"] for alarm in swept.get("/api/alarms?series=retained-open")["alarms"]]
        assert left == [opened]
        more = renamed(rows_of(250, first=count))
        taken = [one.push("retained", more) for one in (swept, service)]
        assert alike(*(without_keys(one["answers"]) for one in taken))
        until(lambda: min(kept(swept, "retained"), default=count) >= count)
        # a row that is gone is late, one that is there is a duplicate
        again = swept.push("retained", [ROWS[5], more[-1]])
        assert (again["taken"], again["late"], again["duplicates"]) == (0, 1, 1)
