"""Answers of several replicas as one: what a lone service would say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector, CollectorRegistry
from starlette.datastructures import QueryParams

from subadjacent.service.answers import Json
from subadjacent.service.jobs import REMEMBERED
from subadjacent.service.records import how_bad
from subadjacent.service.replicas.asking import Asked, Told
from subadjacent.service.routes.alarms import LISTED

Merge = Callable[[Asked, Sequence[Told]], bytes]


def all_series(_asked: Asked, told: Sequence[Told]) -> bytes:
    """Series of all, the worst first."""
    return _json({"series": sorted(_together(told, "series"), key=how_bad)})


def all_alarms(asked: Asked, told: Sequence[Told]) -> bytes:
    """Alarms of all, the newest first, as many as were asked for."""
    wanted = int(QueryParams(asked.query).get("limit", LISTED))
    found = sorted(_together(told, "alarms"), key=_number, reverse=True)
    return _json({"alarms": found[:wanted]})


def all_models(_asked: Asked, told: Sequence[Told]) -> bytes:
    """Models, which all know, and fits of all, the newest first."""
    jobs = sorted(_together(told, "jobs"), key=_number, reverse=True)
    return _json({"models": json.loads(told[0].body)["models"], "jobs": jobs[:REMEMBERED]})


def all_ready(_asked: Asked, told: Sequence[Told]) -> bytes:
    """All are ready, or this would not be asked."""
    return told[0].body


def metrics(own: bytes, told: Sequence[Told], listeners: int) -> bytes:
    """Gauges and counters of all, added up, and those of the ingress.

    A client that listens does so at several replicas; it counts once.
    """
    found: dict[str, Metric] = {}
    for text in (own, *(one.body for one in told)):
        for metric in text_string_to_metric_families(text.decode()):
            if metric.name in found:
                _add(found[metric.name], metric)
            else:
                found[metric.name] = metric
    counted = found["subadjacent_listeners"]
    counted.samples = [sample._replace(value=float(listeners)) for sample in counted.samples]
    registry = CollectorRegistry()
    registry.register(_Known(found.values()))
    return generate_latest(registry)


class _Known(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _add(known: Metric, other: Metric) -> None:
    samples = {(one.name, *sorted(one.labels.items())): one for one in known.samples}
    for sample in other.samples:
        key = (sample.name, *sorted(sample.labels.items()))
        if (one := samples.get(key)) is None:
            samples[key] = sample
        elif sample.name.endswith("_created"):
            # when it was first counted
            samples[key] = one._replace(value=min(one.value, sample.value))
        else:
            samples[key] = one._replace(value=one.value + sample.value)
    known.samples = list(samples.values())


def _together(told: Sequence[Told], name: str) -> list[dict[str, Any]]:
    return list(chain.from_iterable(json.loads(one.body)[name] for one in told))


def _number(record: dict[str, Any]) -> int:
    return int(record["id"])


def _json(content: Any) -> bytes:
    return bytes(Json(content).body)
