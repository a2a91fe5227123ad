"""What a scrape reads of series that are polled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from subadjacent.service.metrics import (
    MAX_SERIES,
    OF_CHANNELS,
    OF_POLLED_CHANNELS,
    OF_SERIES,
    Measures,
)

NEWEST = (3.0, float("nan"))


def series(
    labels: dict[str, str] | None, newest: tuple[float, ...] | None = NEWEST, name: str = "x"
) -> Any:
    latest = SimpleNamespace(
        by_channel=np.array([0.1, 0.2]),
        expected=np.array([2.0, 4.0]),
        low=np.array([1.0, 3.0]),
        high=np.array([4.0, 5.0]),
    )
    return SimpleNamespace(
        name=name, labels=labels, newest=newest, latest=latest, channels=("a", "b"),
        severity=0.5, open_alarm=None, warm_up=1.0,
    )  # fmt: skip


def scrape(*every: Any) -> tuple[str, dict[tuple[str, frozenset[tuple[str, str]]], float]]:
    registry: Any = SimpleNamespace(
        series=dict(enumerate(every)),
        writer=SimpleNamespace(rows_waiting=0, tasks_waiting=0),
        listeners=(),
    )
    measures = Measures()
    measures.watch(registry)
    text = measures.text().decode()
    samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
    found = {(one.name, frozenset(one.labels.items())): one.value for one in samples}
    assert len(found) == len(samples)
    return text, {key: value for key, value in found.items() if key[0].startswith("anomaly")}


def labels(**pairs: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairs.items())


def test_a_series_has_a_score_and_its_channels_have_bands() -> None:
    own = {"query": "load", "host": "x"}
    text, found = scrape(series(own))
    a, b = (labels(**own, channel=channel) for channel in "ab")
    assert found == {
        ("anomaly_score", labels(**own)): 0.5,
        ("anomaly_threshold", labels(**own)): 1.0,
        ("anomaly_alarm", labels(**own)): 0.0,
        ("anomaly_warm_up", labels(**own)): 1.0,
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
    for name, meaning in (OF_SERIES | OF_CHANNELS | OF_POLLED_CHANNELS).items():
        assert f"# HELP {name} {meaning}\n# TYPE {name} gauge\n{name}{{" in text


def test_a_series_without_a_value_now_is_not_shown_and_a_pushed_one_has_its_name() -> None:
    assert scrape(series({"query": "load"}, newest=None))[1] == {}
    text, found = scrape(series(None, newest=None, name="pump"))
    assert ("anomaly_score", labels(series="pump")) in found
    assert "anomaly_value" not in text


def test_series_that_would_read_the_same_do_not_break_a_scrape() -> None:
    one = {"query": "load", "host": "x"}
    _, found = scrape(series(one), series(dict(reversed(one.items()))))
    assert sum(name == "anomaly_score" for name, _ in found) == 1


def test_hostile_label_values_stay_values() -> None:
    hostile = 'a"} 1\nanomaly_alarm{x="\\'
    _, found = scrape(series({"query": "load", "host": hostile}))
    assert ("anomaly_score", labels(query="load", host=hostile)) in found


def test_the_calmest_series_beyond_the_bound_have_no_measures() -> None:
    many = [series(None, None, name=f"s{number}") for number in range(MAX_SERIES + 2)]
    for number, one in enumerate(many):
        one.severity = number
    # the calmest of all has an alarm
    many[0].open_alarm = 7
    text, found = scrape(*many)
    shown = {dict(names)["series"] for name, names in found if name == "anomaly_score"}
    assert {one.name for one in many} - shown == {"s1", "s2"}
    assert f"subadjacent_series {len(many)}.0" in text
