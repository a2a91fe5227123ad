"""Of more series than have measures of their own, the worst have them."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from apart import run_apart
from subadjacent.service.database import connect
from subadjacent.service.metrics import MAX_SERIES, Measures
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.settings import Settings


def test_the_calmest_series_beyond_the_bound_have_no_measures(tmp_path: Path) -> None:
    severities = [number / 1_000 for number in range(MAX_SERIES + 2)]
    with closing(connect(tmp_path)) as tables:
        # together: a commit of each would wait for the disk
        tables.execute("begin")
        tables.executemany(
            "insert into series (name, channels, time_kind, severity, open_alarm) "
            "values (?, '[]', 'none', ?, ?)",
            # the calmest of all has an alarm
            [(f"s{n}", one, 7 if n == 0 else None) for n, one in enumerate(severities)],
        )
        tables.execute("commit")

    async def scrape() -> str:
        registry, measures = SeriesRegistry(Settings(), tmp_path), Measures()
        registry.writer.start()
        measures.watch(registry)
        text = measures.text().decode()
        await registry.stop()
        return text

    text = run_apart(scrape())
    shown = {int(one) for one in re.findall(r'anomaly_score{series="s(\d+)"}', text)}
    assert set(range(len(severities))) - shown == {1, 2}
    assert f"subadjacent_series {len(severities)}.0" in text
