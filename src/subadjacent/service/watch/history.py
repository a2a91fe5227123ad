"""Learning a series from its history, for the service's registry."""

from __future__ import annotations

from functools import partial

from subadjacent.service.problems import Refusal
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.request_body import RowBatch, check_series_name
from subadjacent.service.row_store import write_rows
from subadjacent.service.scoring import ScoreCall, StreamStart, watch
from subadjacent.service.times import for_stream
from subadjacent.service.watch.rules import WatchRules
from subadjacent.service.writer import Changes
from subadjacent.streaming.answer import Answer

LEARNED_AT_ONCE = 500
"""Rows of history scored in one call; other requests wait no longer than for these."""


def watched_series(registry: SeriesRegistry) -> dict[str, tuple[str, str]]:
    """The query and rule fingerprint of every series learned from history, by name."""
    with registry.reader() as tables:
        found = tables.execute(
            "select name, json_extract(facts, '$.watch.query'), "
            "json_extract(facts, '$.watch.fingerprint') from snapshots "
            "join series on series.id = snapshots.series"
        ).fetchall()
    return {name: (query, mark) for name, query, mark in found if query is not None}


async def learn_history(
    registry: SeriesRegistry,
    name: str,
    batch: RowBatch,
    rules: WatchRules,
    labels: dict[str, str],
) -> None:
    """Learn a series from history; it replaces any series of its name.

    Its rows are stored, its past alarms are not. Nothing is written before all is learned.
    """
    check_series_name(name)
    key = await registry.writer.do(lambda _: registry.next_key(), patient=True)
    first = StreamStart(batch.channels, name, None)
    generation = registry.process.generation
    times = for_stream(batch.times or (), batch.kind)
    answers: list[Answer] = []
    try:
        for start in range(0, len(batch), LEARNED_AT_ONCE):
            part = slice(start, start + LEARNED_AT_ONCE)
            call = ScoreCall(
                key,
                batch.values[part],
                None if times is None else times[part],
                None if start else first,
            )
            answers += await registry.writer.do(partial(_score, registry, call), patient=True)

        def work(changes: Changes) -> None:
            if generation != registry.process.generation:
                raise Refusal(503, f"the scoring process restarted while {name!r} was learned")
            if name in registry.series:
                registry.remove(changes, registry.series[name])
            series = registry.create(changes, key, name, batch, None)
            series.labels = labels
            saved = registry.process.call(watch, key, rules)
            write_rows(changes.tables, series, batch, answers)
            series.follow(batch, answers)
            series.write(changes.tables)
            series.write_snapshot(changes.tables, saved)
            registry.publish_series(changes, series)

        await registry.writer.do(work)
    except BaseException:
        registry.process.drop(key)
        raise


def _score(registry: SeriesRegistry, call: ScoreCall, _changes: Changes) -> list[Answer]:
    (found,) = registry.process.score([call])
    if isinstance(found, Exception):
        raise found
    return found.answers
