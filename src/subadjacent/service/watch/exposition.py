"""Metrics of the pollers themselves, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from subadjacent.service.watch.settings import MILLISECONDS, PolledQuery

if TYPE_CHECKING:
    from subadjacent.service.watch.poller import Poller

SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
"""Bounds of the histogram of the time to read and score new rows."""

REASONS = ("unreachable", "timeout", "refused", "server", "answer", "internal")
"""Why a poll may fail: kinds of ``ReadFailure``, and a failure of the service."""


class PollerHealth:
    """Metrics of the pollers themselves, by query."""

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

    def report_answer(self, poller: Poller, now: int, rows: int, seconds: float) -> None:
        """Record a successful poll and its rows."""
        name = poller.query.name
        self._start_counters(name)
        self.up.labels(name).set(1)
        self.success.labels(name).set(now / MILLISECONDS)
        self.step.labels(name).set(poller.query.step / MILLISECONDS)
        self.series.labels(name).set(len(poller.series))
        self.refused.labels(name).set(poller.refused)
        self.rows.labels(name).inc(rows)
        self.seconds.labels(name).observe(seconds)
        if poller.clock is not None:
            self.row.labels(name).set(poller.clock / MILLISECONDS)

    def report_failure(self, query: PolledQuery, kind: str) -> None:
        """Count a failed poll of a query, by the ``kind`` of its error."""
        self._start_counters(query.name)
        self.up.labels(query.name).set(0)
        self.failures.labels(query.name, kind).inc()
        self.step.labels(query.name).set(query.step / MILLISECONDS)

    def _start_counters(self, name: str) -> None:
        """Begin all counters at zero: a server sees no rise in one that begins with 1."""
        for reason in REASONS:
            self.failures.labels(name, reason)
