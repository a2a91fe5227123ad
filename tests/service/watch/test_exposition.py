"""What a scrape reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from subadjacent.service.watch.exposition import OF_CHANNELS, OF_SERIES, Board, Health
from subadjacent.service.watch.watched import Shown

SHOWN = Shown(0.5, False, 1.0, (3.0, float("nan")), (0.1, 0.2), (2.0, 4.0), (1.0, 3.0), (4.0, 5.0))


def watch(*keys: Any, name: str = "load", shown: Shown | None = SHOWN) -> Any:
    """As much of a query as is looked at."""
    series = {
        key: SimpleNamespace(key=key, shown=shown, channels={"a": (), "b": ()}) for key in keys
    }
    query = SimpleNamespace(name=name, step=30_000)
    return SimpleNamespace(query=query, series=series, clock=60_000, refused=2, rows=0)


def scrape(registry: CollectorRegistry) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = generate_latest(registry).decode()
    samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
    found = {(one.name, frozenset(one.labels.items())): one.value for one in samples}
    assert len(found) == len(samples)
    return found


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def registry(board: Board) -> CollectorRegistry:
    found = CollectorRegistry()
    found.register(board)
    return found


def labels(**pairs: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairs.items())


def test_a_series_has_a_score_and_its_channels_have_bands(
    board: Board, registry: CollectorRegistry
) -> None:
    board.show(watch((("host", "x"),)))
    found = scrape(registry)
    series = {"query": "load", "host": "x"}
    a, b = (labels(**series, channel=channel) for channel in "ab")
    assert found == {
        ("anomaly_score", labels(**series)): 0.5,
        ("anomaly_threshold", labels(**series)): 1.0,
        ("anomaly_alarm", labels(**series)): 0.0,
        ("anomaly_warm_up", labels(**series)): 1.0,
        ("anomaly_value", a): 3.0,
        ("anomaly_channel_score", a): 0.1,
        ("anomaly_expected", a): 2.0,
        ("anomaly_expected_low", a): 1.0,
        ("anomaly_expected_high", a): 4.0,
        # its value is missing
        ("anomaly_channel_score", b): 0.2,
        ("anomaly_expected", b): 4.0,
        ("anomaly_expected_low", b): 3.0,
        ("anomaly_expected_high", b): 5.0,
    }


def test_queries_stand_side_by_side_and_the_latest_counts(
    board: Board, registry: CollectorRegistry
) -> None:
    board.show(watch((("host", "x"),)))
    board.show(watch((("host", "y"),), name="other"))
    board.show(watch((("host", "z"),)))
    shown = {key for name, key in scrape(registry) if name == "anomaly_score"}
    assert shown == {labels(query="load", host="z"), labels(query="other", host="y")}
    board.hide(watch(name="other"))
    board.hide(watch(name="unknown"))
    shown = {key for name, key in scrape(registry) if name == "anomaly_score"}
    assert shown == {labels(query="load", host="z")}


def test_a_series_without_a_value_now_is_not_shown(
    board: Board, registry: CollectorRegistry
) -> None:
    board.show(watch((), shown=None))
    assert scrape(registry) == {}


def test_series_that_would_read_the_same_do_not_break_a_scrape(
    board: Board, registry: CollectorRegistry
) -> None:
    board.show(watch((("query", "x"),), (("exported_query", "x"),)))
    assert len([name for name, _ in scrape(registry) if name == "anomaly_score"]) == 1


def test_hostile_label_values_stay_values(board: Board, registry: CollectorRegistry) -> None:
    hostile = 'a"} 1\nanomaly_alarm{x="\\'
    board.show(watch((("host", hostile),)))
    assert ("anomaly_score", labels(query="load", host=hostile)) in scrape(registry)


def test_every_metric_says_what_it_is(board: Board, registry: CollectorRegistry) -> None:
    board.show(watch((("host", "x"),)))
    text = generate_latest(registry).decode()
    for name, meaning in (OF_SERIES | OF_CHANNELS).items():
        assert f"# HELP {name} {meaning}\n# TYPE {name} gauge\n{name}{{" in text


def test_the_watcher_tells_how_it_does() -> None:
    registry = CollectorRegistry()
    health = Health(registry)
    query = watch((("host", "x"),))
    health.failed(query, "timeout")
    load = labels(query="load")
    found = scrape(registry)
    assert found["anomaly_watch_up", load] == 0
    assert found["anomaly_watch_failures_total", load | labels(reason="timeout")] == 1
    # a rise from nothing would not be seen
    assert found["anomaly_watch_failures_total", load | labels(reason="refused")] == 0
    assert found["anomaly_watch_step_seconds", load] == 30
    health.answered(query, now=90_500, rows=7, seconds=0.2)
    found = scrape(registry)
    assert found["anomaly_watch_up", load] == 1
    assert found["anomaly_watch_last_success_timestamp_seconds", load] == 90.5
    assert found["anomaly_watch_last_row_timestamp_seconds", load] == 60
    assert found["anomaly_watch_series", load] == 1
    assert found["anomaly_watch_label_sets_refused", load] == 2
    assert found["anomaly_watch_rows_total", load] == 7
    assert found["anomaly_watch_seconds_sum", load] == 0.2
    assert found["anomaly_watch_seconds_bucket", load | labels(le="0.1")] == 0
    assert found["anomaly_watch_seconds_bucket", load | labels(le="0.3")] == 1
