"""The clean protocol: no label reaches fit, score or threshold."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reproduce.benchmarks import Benchmark
from reproduce.datasets import load
from reproduce.methods import build
from reproduce.protocols import clean
from reproduce.run import CLEAN, Run
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError

RUN = Run("nips-ts", "sub-adjacent", CLEAN, quick=True)


class RecordingAssessment:
    """A score is the first channel; every row above 2.5, and the next, is an alarm.

    Normalised, the scores of "b" are twice as high. Rows above 2.5 are assessed anomalous.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    @property
    def scores(self) -> Any:
        if isinstance(self._rows, dict):
            return {entity: values[:, 0] for entity, values in self._rows.items()}
        return self._rows[:, 0]

    @property
    def normalized_scores(self) -> Any:
        scores = self.scores
        return scores | {"b": 2 * scores["b"]} if "b" in scores else scores

    @property
    def decisions(self) -> tuple[SimpleNamespace, ...]:
        return tuple(
            SimpleNamespace(scores=values, anomalous=values > 2.5)
            for values in clean._by_entity(self.scores)
        )

    def alarms(self, *, channels: int) -> list[SimpleNamespace]:
        assert channels == 0
        scores = self.scores if isinstance(self._rows, dict) else {None: self.scores}
        return [
            SimpleNamespace(first=row, last=min(row + 1, len(values) - 1), entity=entity)
            for entity, values in scores.items()
            for row in np.flatnonzero(values > 2.5).tolist()
        ]


class RecordingDetector:
    """Keeps what it is given, and counts how often it is asked."""

    def __init__(self) -> None:
        self.fitted: Any = None
        self.scored: list[Any] = []

    def fit(self, rows: Any) -> None:
        self.fitted = rows

    def assess(self, rows: Any) -> RecordingAssessment:
        self.scored.append(rows)
        return RecordingAssessment(rows)


def entities_of(train: Any, test: Any, labels: Any) -> Benchmark:
    """Two entities of one channel: training rows, test rows, and the labels of either."""
    rows, tests = (
        [np.array(part, dtype=float)[:, None] for part in parts] for parts in (train, test)
    )
    return Benchmark(
        "msl",
        "Two entities",
        tuple(TrainSeries(one, entity=name) for one, name in zip(rows, "ab", strict=True)),
        tuple(
            TestSeries(TrainSeries(one, entity=name), np.array(labels))
            for one, name in zip(tests, "ab", strict=True)
        ),
        "here",
    )


def two_entities() -> Benchmark:
    return entities_of([[0, 1], [1, 0]], [[2, 3], [4, 5]], [0, 1])


def test_a_detector_is_fitted_on_training_rows_and_scores_test_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    detectors: list[RecordingDetector] = []

    def recording(_run: Run, _device: str) -> RecordingDetector:
        detectors.append(RecordingDetector())
        return detectors[-1]

    monkeypatch.setattr(clean, "build", recording)
    monkeypatch.setattr(clean, "load", lambda _run, _root: two_entities())
    row = clean.execute(RUN, None, "cpu")
    (together,) = detectors
    assert {name: rows.ravel().tolist() for name, rows in together.fitted.items()} == {
        "a": [0, 1],
        "b": [1, 0],
    }
    # once: scores, metrics and alarms are all of one pass
    (scored,) = together.scored
    assert {name: rows.ravel().tolist() for name, rows in scored.items()} == {
        "a": [2, 3],
        "b": [4, 5],
    }
    # the anomalous row of each entity scores higher; of all rows, 3 scores less than the normal 4
    assert row["auroc"] == 1
    assert row["pooled_auroc"] == 0.75
    # by the decisions one row of "a" is anomalous, which is right, and both of "b"
    assert row["f1"] == pytest.approx((1 + 2 / 3) / 2)
    detectors.clear()
    clean.execute(replace(RUN, per_entity=True), None, "cpu")
    assert [list(detector.fitted) for detector in detectors] == [["a"], ["b"]]
    assert [detector.fitted["ab"[n]].ravel().tolist() for n, detector in enumerate(detectors)] == [
        [0, 1],
        [1, 0],
    ]


def long_entities() -> Benchmark:
    """Two entities of 100 rows with one anomaly each, rows 50 to 59; values are scores."""
    labels, loud, quiet = np.zeros(100, dtype=int), np.zeros(100), np.zeros(100)
    labels[50:60] = 1
    # right, 3 rows late; false; false; right before the anomaly begins, and found at once
    loud[[53, 80, 90]] = 9, 5, 5
    quiet[46] = 3
    return entities_of([[0] * 3] * 2, [loud, quiet], labels)


def test_alarms_are_counted_over_all_entities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "build", lambda _run, _device: RecordingDetector())
    monkeypatch.setattr(clean, "load", lambda _run, _root: long_entities())
    for dataset, per_entity in (("msl", False), ("smd", True), ("off the ring", False)):
        row = clean.execute(replace(RUN, dataset=dataset, per_entity=per_entity), None, "cpu")
        assert (row["alarms"], row["alarms_right"], row["alarms_false"]) == (4, 2, 2)
        assert (row["anomalies"], row["anomalies_found"]) == (2, 2)
        assert (row["alarms_right_share"], row["anomalies_found_share"]) == (0.5, 1)
        assert row["event_f1"] == pytest.approx(2 / 3)
        # normalised, both that are right are above those that are not
        assert row["oracle_event_f1"] == 1
        assert row["alarms_false_per_1000_rows"] == 10
        assert row["alarm_delay"] == 1.5
        assert row["normal_rows_alarmed"] == 6 / 180
        # 200 rows, one a minute where that is published
        per_day = 2 / (200 / 1440) if dataset == "smd" else np.nan
        assert row["alarms_false_per_day"] == pytest.approx(per_day, nan_ok=True)


def few_rows(benchmark: Benchmark) -> Benchmark:
    """200 training rows, and 400 test rows around an anomaly."""
    (train,), (test,) = benchmark.train, benchmark.test
    rows = slice(max(int(np.argmax(test.labels)) - 200, 0), int(np.argmax(test.labels)) + 200)
    return replace(
        benchmark,
        train=(TrainSeries(train.values[:200]),),
        test=(TestSeries(TrainSeries(test.rows.values[rows]), test.labels[rows]),),
    )


def test_other_labels_give_the_same_scores_and_the_same_threshold() -> None:
    benchmark = few_rows(load(RUN, None))
    turned = replace(
        benchmark, test=tuple(TestSeries(test.rows, 1 - test.labels) for test in benchmark.test)
    )
    for detector in ("default", "sub-adjacent", "knn"):
        run = replace(RUN, detector=detector)
        one, other = (clean._one_model(build(run, "cpu"), rows) for rows in (benchmark, turned))
        np.testing.assert_array_equal(one.scores, other.scores)
        assert one.alarms.alarms == other.alarms.alarms
        for ours, theirs in zip(one.metrics, other.metrics, strict=True):
            # the share of rows above it, on the same scores
            assert ours["alarm_rate"] == theirs["alarm_rate"]
            assert ours["auroc"] == pytest.approx(1 - theirs["auroc"])


def test_the_untrained_network_is_the_trained_one_without_training() -> None:
    trained, untrained = (
        build(replace(RUN, detector=name, quick=False), "cpu").get_params()
        for name in ("sub-adjacent", "untrained")
    )
    assert untrained == trained | {"epochs": 0}


def test_seed_settings_and_device_reach_the_detector() -> None:
    detector = build(replace(RUN, seed=7, settings=(("window", 50),)), "cpu")
    assert (detector.random_state, detector.window, detector.device) == (7, 50, "cpu")
    # settings that choose a series do not
    run = Run("nips-ts", "random", CLEAN)
    of_series = replace(run, settings=(("anomalies", "global"), ("train", "contaminated")))
    assert build(of_series, "cpu").get_params() == build(run, "cpu").get_params()
    with pytest.raises(InputError, match=r"detector must be one of default, .*; got 'oracle'"):
        build(replace(RUN, detector="oracle"), "cpu")


def test_settings_of_one_run_do_not_reach_the_next() -> None:
    for quick in (False, True):
        plain = Run("nips-ts", "default", CLEAN, quick=quick)
        before = build(plain, "cpu").get_params()
        changed = build(replace(plain, settings=(("lookahead", 0),)), "cpu").get_params()
        assert changed["lookahead"] == 0 != before["lookahead"]
        assert build(plain, "cpu").get_params() == before
