"""What Prometheus can read of us: scores, bands and alarms of series, and our own health."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from subadjacent.service.watch.grid import MILLISECONDS
from subadjacent.service.watch.grouping import exposed
from subadjacent.service.watch.query import QueryWatch
from subadjacent.service.watch.watched import WatchedSeries

THRESHOLD = 1.0
"""The score that opens an alarm, of every series."""

OF_SERIES = {
    "anomaly_score": "How unusual the latest row is; anomaly_threshold opens an alarm.",
    "anomaly_threshold": "The score that opens an alarm.",
    "anomaly_alarm": "1 while an alarm is open, else 0.",
    "anomaly_warm_up": "From 0 to 1: the share of the warm-up that is done.",
}
"""Names of what is shown of a series, and what they mean."""

OF_CHANNELS = {
    "anomaly_value": "The latest value that was scored.",
    "anomaly_channel_score": "What a channel adds to the score.",
    "anomaly_expected": "What the latest value was expected to be.",
    "anomaly_expected_low": "The least that is usual.",
    "anomaly_expected_high": "The most that is usual.",
}
"""The same of each channel of a series, under the label ``channel``."""

SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
"""Bounds of the histogram of how long it takes to read and score what is new."""


class Board(Collector):
    """The latest of every query; written by the watcher while scrapes read it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: dict[str, dict[str, list[Sample]]] = {}

    def show(self, watch: QueryWatch) -> None:
        """Put the latest of a query in place of what was shown of it."""
        samples: dict[str, list[Sample]] = {name: [] for name in (*OF_SERIES, *OF_CHANNELS)}
        shown_before = set()
        for series in watch.series.values():
            labels = exposed(series.key, watch.query.name)
            # the same labels twice would make a whole scrape fail
            if (identity := frozenset(labels.items())) not in shown_before:
                shown_before.add(identity)
                for sample in _samples(series, labels):
                    samples[sample.name].append(sample)
        with self._lock:
            self._samples[watch.query.name] = samples

    def hide(self, watch: QueryWatch) -> None:
        """Show nothing of a query: what is known of it is too old."""
        with self._lock:
            self._samples.pop(watch.query.name, None)

    def collect(self) -> Iterable[Metric]:
        """Every metric with what is shown now."""
        with self._lock:
            queries = list(self._samples.values())
        for name, help_ in (OF_SERIES | OF_CHANNELS).items():
            metric = Metric(name, help_, "gauge")
            metric.samples = [sample for samples in queries for sample in samples[name]]
            yield metric


REASONS = ("unreachable", "timeout", "refused", "server", "answer", "internal")
"""Why a round may fail: kinds of ``ReadFailure``, and a fault of ours."""


class Health:
    """How the watcher itself does, by query."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str) -> Gauge:
            return Gauge(f"anomaly_watch_{name}", text, ["query"], registry=registry)

        self.up = gauge("up", "1 if the latest question was answered, else 0.")
        self.success = gauge("last_success_timestamp_seconds", "When a question was last answered.")
        self.row = gauge("last_row_timestamp_seconds", "The time of the latest row scored.")
        self.step = gauge("step_seconds", "The time from one row to the next.")
        self.series = gauge("series", "Series that are watched.")
        self.refused = gauge("label_sets_refused", "Label sets beyond max_series, not watched.")
        self.failures = Counter(
            "anomaly_watch_failures",
            "Questions without a usable answer, and rounds that failed, by reason.",
            ["query", "reason"],
            registry=registry,
        )
        self.rows = Counter(
            "anomaly_watch_rows", "Rows scored, of all series.", ["query"], registry=registry
        )
        self.seconds = Histogram(
            "anomaly_watch_seconds",
            "Seconds that it took to read and score what was new.",
            ["query"],
            buckets=SECONDS,
            registry=registry,
        )

    def answered(self, watch: QueryWatch, now: int, rows: int, seconds: float) -> None:
        """Count a round that went well, and the rows that it took."""
        name = watch.query.name
        self._begin_failures(name)
        self.up.labels(name).set(1)
        self.success.labels(name).set(now / MILLISECONDS)
        self.step.labels(name).set(watch.query.step / MILLISECONDS)
        self.series.labels(name).set(len(watch.series))
        self.refused.labels(name).set(watch.refused)
        self.rows.labels(name).inc(rows)
        self.seconds.labels(name).observe(seconds)
        if watch.clock is not None:
            self.row.labels(name).set(watch.clock / MILLISECONDS)

    def failed(self, watch: QueryWatch, kind: str) -> None:
        """Count a round that failed."""
        self._begin_failures(watch.query.name)
        self.up.labels(watch.query.name).set(0)
        self.failures.labels(watch.query.name, kind).inc()
        self.step.labels(watch.query.name).set(watch.query.step / MILLISECONDS)

    def _begin_failures(self, name: str) -> None:
        """Count from zero: of a counter that begins with one, a server sees no rise."""
        for reason in REASONS:
            self.failures.labels(name, reason)


def _samples(series: WatchedSeries, labels: dict[str, str]) -> Iterator[Sample]:
    shown = series.shown
    if shown is None:
        return
    of_series = (shown.score, THRESHOLD, float(shown.alarm), shown.warm_up)
    for name, value in zip(OF_SERIES, of_series, strict=True):
        yield Sample(name, labels, value)
    columns = (shown.value, shown.channel_score, shown.expected, shown.low, shown.high)
    for number, channel in enumerate(series.channels):
        for name, column in zip(OF_CHANNELS, columns, strict=True):
            # what is not known is not shown, so that a chart has a gap there
            if math.isfinite(column[number]):
                yield Sample(name, labels | {"channel": channel}, column[number])
