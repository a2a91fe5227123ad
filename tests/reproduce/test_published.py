"""The paper's protocol, worked by hand on a few rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from reproduce.datasets import load
from reproduce.protocols import published, unadjusted
from reproduce.protocols.published import BLOCKS, TEMPERATURES, RowOutputs
from reproduce.protocols.scaling import scale_benchmark
from reproduce.run import HEURISTICS, PUBLISHED, Run
from subadjacent.data.series import TestSeries
from subadjacent.errors import InputError
from subadjacent.evaluation.metrics import average_precision, best_f1, best_point_adjusted_f1
from subadjacent.rivals.pca import PCADetector

RUN = Run("nips-ts", "sub-adjacent", PUBLISHED, quick=True)
CPU = torch.device("cpu")


def points(error: list[float], contribution: list[float], labels: list[int]) -> RowOutputs:
    return RowOutputs(np.array(error), np.array(contribution), np.array(labels, bool), 0.0, 0.0)


FIVE = points([1, 2, 3, 4, 5], [0, math.log(3), 1, 1, 7], [0, 0, 0, 0, 1])


def test_eq_6_shares_each_blocks_weight_and_a_short_last_block_has_its_own() -> None:
    # softmax(-(0, log 3)) is (3/4, 1/4); two equal ones share; one alone has all; times the length
    found = published._score(FIVE, 2, 1.0, "weighted")
    np.testing.assert_allclose(found, [1 * 1.5, 2 * 0.5, 3, 4, 5])
    # without a temperature it is the error
    np.testing.assert_allclose(published._score(FIVE, 2, 0.0, "weighted"), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(published._score(FIVE, 2, 50.0, "error"), [1, 2, 3, 4, 5])


def test_eq_7_compares_with_the_rows_ahead_as_released() -> None:
    # the first is 2 below the one ahead, in deviations of 1; the last has none ahead
    found = published._score(points([1, 3], [0, 0], [0, 1]), 2, 0.0, "dynamic")
    np.testing.assert_allclose(found, [-math.log(0.977250), math.log(2)], rtol=1e-4)


def noisy(seed: int = 0, rows: int = 1_230) -> RowOutputs:
    random = np.random.default_rng(seed)
    labels = np.zeros(rows, dtype=bool)
    labels[300:340] = labels[800:810] = True
    contribution = random.uniform(0.4, 0.6, rows) - 0.1 * labels
    return RowOutputs(random.exponential(size=rows) + labels, contribution, labels, 0.0, 0.0)


def test_the_best_of_the_grid_is_taken() -> None:
    given = noisy()
    for form in ("weighted", "dynamic"):
        every = {
            (block, temperature): best_point_adjusted_f1(
                published._score(given, block, temperature, form), given.labels
            ).f1
            for block in BLOCKS
            for temperature in TEMPERATURES
        }
        found = published._evaluate(replace(RUN, score=form), given)
        assert found["oracle_point_adjusted_f1"] == max(every.values())
        assert every[int(found["block"]), found["temperature"]] == max(every.values())
        assert found["fixed_point_adjusted_f1"] == every[200, 50.0]
        assert found["temperature"] > 0
        score = published._score(given, int(found["block"]), found["temperature"], form)
        assert found["oracle_f1"] == best_f1(score, given.labels).f1


def test_a_trivial_score_is_found_and_adjusted() -> None:
    error = [0.0] * 300
    error[120] = 1.0
    labels = [0] * 300
    labels[100:150] = [1] * 50
    found = published._evaluate(replace(RUN, score="weighted"), points(error, [0.5] * 300, labels))
    # one row of fifty is found; adjustment makes it all of them
    assert found["oracle_point_adjusted_f1"] == 1
    assert found["oracle_point_adjusted_precision"] == found["oracle_point_adjusted_recall"] == 1
    assert found["oracle_f1"] < 0.5


def test_tries_on_the_labels_are_counted() -> None:
    for changed, tries in (
        ({}, 1 + 5 * 9), ({"score": "error"}, 1), ({"detector": "random"}, 1),
        ({"score": "smoothed"}, 61),
    ):  # fmt: skip
        assert published._tries(replace(RUN, **changed)) == tries


def test_heuristics_are_the_better_of_two_scores_that_learn_nothing() -> None:
    run = Run("nips-ts", HEURISTICS, PUBLISHED, score="error", quick=True)
    both = [
        published.execute(replace(run, detector=name), None, "cpu")["oracle_point_adjusted_f1"]
        for name in ("random", "magnitude")
    ]
    found = published.execute(run, None, "cpu")
    assert both[0] != both[1]
    assert found["oracle_point_adjusted_f1"] == max(both)
    assert found["tries"] == 2


def test_the_largest_dataset_is_trained_longer_on_fewer_windows() -> None:
    assert published._settings(Run("smd", "sub-adjacent", PUBLISHED)) == {
        "window": 100, "near": 20, "far": 30, "size": "paper", "attention": "softmax",
        "attention_weight": 10.0, "epochs": 3, "stride": 10, "batch_size": 128,
    }  # fmt: skip
    assert published._settings(Run("msl", "sub-adjacent", PUBLISHED))["epochs"] == 1
    assert published._settings(Run("smd", "untrained", PUBLISHED))["epochs"] == 0
    assert (
        published._settings(Run("msl", "anomaly-transformer", PUBLISHED))["attention_weight"] == 3
    )


def rates_of(**settings: object) -> list[float]:
    """The learning rate of every step of training on 300 rows."""
    rates: list[float] = []

    def record(optimizer: torch.optim.Optimizer, *_arguments: object) -> None:
        rates.append(float(optimizer.param_groups[0]["lr"]))

    rows = np.random.default_rng(0).normal(size=(300, 1)).astype(np.float32)
    hook = register_optimizer_step_pre_hook(record)
    try:
        published.fit(replace(RUN, settings=tuple(settings.items())), rows, CPU)
    finally:
        hook.remove()
    return rates


def test_steps_have_the_windows_and_rates_of_the_paper_or_the_windows_of_a_script() -> None:
    # 201 windows, one in every row
    every: dict[str, object] = {"epochs": 1, "stride": 1, "size": "tiny"}
    assert len(rates_of(**every)) == 2
    assert len(rates_of(**every, batch_size=64)) == 4
    # windows start in rows 0, 100 and 200: one batch in each epoch; the rate stays for two epochs
    assert rates_of(epochs=4, stride=100) == pytest.approx([1e-4, 1e-4, 5e-5, 2.5e-5])


def test_without_point_adjustment_the_kernels_length_is_picked_for_each_entity() -> None:
    found = published._evaluate(replace(RUN, score="smoothed"), noisy())
    assert found == unadjusted.evaluate(noisy().error, noisy().labels)
    # with a model for each entity, a row has the F1 of each
    many = replace(RUN, score="smoothed", per_entity=True)
    row = published.execute(many, None, "cpu")
    assert row[unadjusted.BY_ENTITY] == f"{row['oracle_f1']:.4f}"
    assert unadjusted.BY_ENTITY not in published.execute(RUN, None, "cpu")


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(InputError, match=r"settings of the published protocol are window.*\['w'\]"):
        published.execute(replace(RUN, settings=(("w", 1),)), None, "cpu")


def test_any_detector_is_fitted_on_the_scaled_rows_and_scored_as_it_is() -> None:
    run = replace(RUN, detector="pca", score="error")
    train_rows, test_rows = scale_benchmark(load(run, None))
    scores = PCADetector().fit(train_rows).decision_function(test_rows)
    labels = np.concatenate([one.labels for one in load(run, None).test])
    row = published.execute(run, None, "cpu")
    assert row["oracle_point_adjusted_f1"] == best_point_adjusted_f1(scores, labels).f1
    assert row["average_precision"] == pytest.approx(average_precision(scores, labels))
    assert row["tries"] == 1


def test_labels_reach_neither_the_network_nor_its_output() -> None:
    benchmark = load(RUN, None)
    turned = replace(
        benchmark, test=tuple(TestSeries(one.rows, 1 - one.labels) for one in benchmark.test)
    )
    one, other = (published._one_model(RUN, part, CPU) for part in (benchmark, turned))
    np.testing.assert_array_equal(one.error, other.error)
    np.testing.assert_array_equal(one.contribution, other.contribution)
    assert not np.array_equal(one.labels, other.labels)


def test_a_run_gives_a_row_and_the_same_one_again() -> None:
    rows = []
    for _ in range(2):
        published._outputs.cache_clear()
        rows.append(published.execute(RUN, None, "cpu"))
    timed = {"fit_seconds", "score_seconds"}
    assert {k: v for k, v in rows[0].items() if k not in timed} == {
        k: v for k, v in rows[1].items() if k not in timed
    }
    assert rows[0]["tries"] == 46
    # runs that differ in the score share their training
    for score in ("dynamic", "weighted", "error"):
        published.execute(replace(RUN, score=score), None, "cpu")
    assert published._outputs.cache_info().misses == 1
    assert 0 < rows[0]["oracle_point_adjusted_f1"] <= 1
