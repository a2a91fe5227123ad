"""What Prometheus reads: scores and alarms of series, and how the service itself does.

Gauges of series are made from what is known when they are asked for, so that a series that is
deleted is gone. Series and channels beyond a bound are left out, the calmest first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from subadjacent.service.hub import Hub
from subadjacent.service.watched import WatchedSeries

MOST_SERIES, MOST_CHANNELS = 1_000, 50
"""That have gauges of their own: Prometheus keeps each of them for weeks."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = ("GET", "POST", "PUT", "DELETE")


class Measures:
    """All that is measured."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "subadjacent_request_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._rows = Counter(
            "subadjacent_rows",
            "Rows that came: taken, late or duplicate.",
            ("result",),
            registry=self.registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        known = method if method in METHODS else "other"
        # an event stream lasts as long as somebody listens
        if route != "/api/events":
            self._requests.labels(known, route, f"{status // 100}xx").observe(seconds)

    def rows(self, taken: int, late: int, duplicates: int) -> None:
        """Rows came."""
        for result, count in (("taken", taken), ("late", late), ("duplicate", duplicates)):
            if count:
                self._rows.labels(result).inc(count)

    def watch(self, hub: Hub) -> None:
        """Tell of the series of a hub from now on."""
        self.registry.register(_SeriesGauges(hub))

    def text(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)


class _SeriesGauges(Collector):
    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def describe(self) -> list[Metric]:
        """Nothing: all is made when it is asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """What is known now."""
        hub = self._hub
        series = sorted(
            hub.series.values(), key=lambda one: (one.open_alarm is None, -one.severity)
        )[:MOST_SERIES]
        yield _gauge("anomaly_score", "Severity of the newest row.", series, _severity)
        yield _gauge("anomaly_threshold", "The score that opens an alarm.", series, lambda _: 1.0)
        yield _gauge("anomaly_alarm", "1 while an alarm is open.", series, _is_alarm)
        yield _gauge("anomaly_warm_up", "0 to 1: warm-up done.", series, lambda one: one.warm_up)
        yield from _channel_gauges(series)
        for name, text, value in (
            ("series", "Series that are watched.", len(hub.series)),
            ("queue_rows", "Rows that wait to be scored.", hub.writer.rows_waiting),
            ("queue_tasks", "Requests that wait for the writer.", hub.writer.tasks_waiting),
            ("listeners", "Clients that listen to events.", len(hub.listeners)),
        ):
            yield GaugeMetricFamily(f"subadjacent_{name}", text, value=value)


def _severity(series: WatchedSeries) -> float:
    return float(series.severity)


def _is_alarm(series: WatchedSeries) -> float:
    return float(series.open_alarm is not None)


def _gauge(name: str, text: str, series: list[WatchedSeries], value: object) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=("series",))
    assert callable(value)
    for one in series:
        gauge.add_metric((one.name,), value(one))
    return gauge


def _channel_gauges(series: list[WatchedSeries]) -> Iterator[Metric]:
    labels = ("series", "channel")
    scores = GaugeMetricFamily(
        "anomaly_channel_score", "What a channel adds at the newest row.", labels=labels
    )
    expected = GaugeMetricFamily(
        "anomaly_expected", "What a channel was expected to be at the newest row.", labels=labels
    )
    for one in series:
        # until its next row after a start, nothing is known of channels
        if (latest := one.latest) is None:
            continue
        for gauge, numbers in ((scores, latest.by_channel), (expected, latest.expected)):
            pairs = list(zip(one.channels, numbers.tolist(), strict=True))[:MOST_CHANNELS]
            for channel, number in pairs:
                if math.isfinite(number):
                    gauge.add_metric((one.name, channel), number)
    yield scores
    yield expected
