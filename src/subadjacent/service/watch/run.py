"""`subadjacent watch`: the service with a poller for every query."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from subadjacent.decision.machine import OPENED
from subadjacent.service.metrics import Measures
from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.run import serve
from subadjacent.service.series import LiveSeries
from subadjacent.service.watch.exposition import PollerHealth
from subadjacent.service.watch.poller import Remark, poll
from subadjacent.service.watch.prometheus_api import check_secrets
from subadjacent.service.watch.settings import WatchSettings
from subadjacent.service.writer import Changes


def watch(settings: WatchSettings, data: Path, remark: Remark) -> None:
    """Watch until a signal comes; ``remark`` gets sentences for people.

    Raises
    ------
    InputError
        At the start: the address is not free, the folder is in use, a token cannot be read.
    """
    check_secrets(settings)
    serve(
        settings.service(data),
        listening=lambda address: remark(f"metrics on {address}/metrics"),
        background=partial(_poll, settings, remark),
    )


async def _poll(
    settings: WatchSettings, remark: Remark, registry: SeriesRegistry, measures: Measures
) -> None:
    def report(changes: Changes, series: LiveSeries, alarm: dict[str, Any], change: str) -> None:
        if change == OPENED:
            sentence = f"alarm: {series.name}: {alarm['sentence']}"
            changes.then.append(partial(remark, sentence))

    registry.on_alarm.append(report)
    await poll(settings, remark, registry, PollerHealth(measures.registry))
