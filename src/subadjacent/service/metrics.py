"""Metrics for Prometheus: scores and alarms of series, and the state of the service.

Gauges are built at each scrape, so a deleted series has none. Beyond ``MAX_SERIES`` pushed series,
those of the lowest severity are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from subadjacent.service.registry import SeriesRegistry
from subadjacent.service.series import LiveSeries

MAX_SERIES, MAX_CHANNELS = 1_000, 50
"""Series, and channels of each, with gauges of their own: Prometheus keeps each for weeks."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = ("GET", "POST", "PUT", "DELETE")


class Measures:
    """The service's Prometheus metrics."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "subadjacent_request_seconds",
            "Duration of requests in seconds.",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._rows = Counter(
            "subadjacent_rows",
            "Rows received: taken, late or duplicate.",
            ("result",),
            registry=self.registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record the duration of an answered request."""
        known = method if method in METHODS else "other"
        # an event stream lasts as long as somebody listens
        if route != "/api/events":
            self._requests.labels(known, route, f"{status // 100}xx").observe(seconds)

    def count_rows(self, record: dict[str, Any]) -> None:
        """Count the rows of a push by result: taken, late or duplicate."""
        for result in ("taken", "late", "duplicates"):
            if record[result]:
                self._rows.labels(result.removesuffix("s")).inc(record[result])

    def watch(self, registry: SeriesRegistry) -> None:
        """Add the gauges of all series of a registry."""
        self.registry.register(_SeriesGauges(registry))

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)


OF_SERIES = {
    "anomaly_score": "Severity of the open alarm, else of the newest row.",
    "anomaly_threshold": "The score that opens an alarm.",
    "anomaly_alarm": "1 while an alarm is open.",
    "anomaly_warm_up": "Share of the warm-up that is done, 0 to 1.",
}
"""Gauges of a series, and their help."""

OF_CHANNELS = {
    "anomaly_channel_score": "Contribution of a channel to the score of the newest row.",
    "anomaly_expected": "Expected value of a channel at the newest row.",
}
"""Gauges of every channel of a series."""

OF_POLLED_CHANNELS = {
    "anomaly_value": "The newest value of a channel.",
    "anomaly_expected_low": "Lower end of a channel's expected range.",
    "anomaly_expected_high": "Upper end of a channel's expected range.",
}
"""Gauges of the channels of a series that is polled."""


class _SeriesGauges(Collector):
    def __init__(self, registry: SeriesRegistry) -> None:
        self._registry = registry

    def describe(self) -> list[Metric]:
        """No metrics in advance: all are built at each scrape."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Gauges of the newest row of every series, and of the service's queues."""
        registry = self._registry
        shown = _shown(list(registry.series.values()))
        names = OF_SERIES | OF_CHANNELS
        if any(series.labels is not None for series, _ in shown):
            names |= OF_POLLED_CHANNELS
        gauges = {name: Metric(name, text, "gauge") for name, text in names.items()}
        for series, labels in shown:
            numbers = (series.severity, 1.0, series.open_alarm is not None, series.warm_up)
            for name, number in zip(OF_SERIES, numbers, strict=True):
                gauges[name].add_sample(name, labels, float(number))
            for name, channel, number in _channel_numbers(series):
                gauges[name].add_sample(name, labels | {"channel": channel}, number)
        yield from gauges.values()
        for name, text, value in (
            ("series", "Series that are watched.", len(registry.series)),
            ("queue_rows", "Rows that wait to be scored.", registry.writer.rows_waiting),
            ("queue_tasks", "Requests that wait for the writer.", registry.writer.tasks_waiting),
            ("listeners", "Clients that listen to events.", len(registry.listeners)),
        ):
            yield GaugeMetricFamily(f"subadjacent_{name}", text, value=value)


def _shown(every: list[LiveSeries]) -> list[tuple[LiveSeries, dict[str, str]]]:
    """Series with gauges, and their labels: all polled ones, the most severe of the others."""
    polled = [series for series in every if series.labels is not None]
    others = [series for series in every if series.labels is None]
    others.sort(key=lambda series: (series.open_alarm is None, -series.severity))
    # the same labels twice would make a whole scrape fail
    by_labels = {
        frozenset(series.labels.items()): series
        for series in polled
        if series.labels is not None and series.newest is not None
    }
    return [(series, {"series": series.name}) for series in others[:MAX_SERIES]] + [
        (series, dict(labels)) for labels, series in by_labels.items()
    ]


def _channel_numbers(series: LiveSeries) -> Iterator[tuple[str, str, float]]:
    # until its next row after a start, nothing is known of channels
    if (latest := series.latest) is None:
        return
    columns = {"anomaly_channel_score": latest.by_channel, "anomaly_expected": latest.expected}
    channels = series.channels[:MAX_CHANNELS] if series.labels is None else series.channels
    if series.newest is not None:
        columns["anomaly_value"] = np.array(series.newest)
        columns |= {"anomaly_expected_low": latest.low, "anomaly_expected_high": latest.high}
    for name, numbers in columns.items():
        for channel, number in zip(channels, numbers.tolist(), strict=False):
            # a chart has a gap where a number is not known
            if math.isfinite(number):
                yield name, channel, number
