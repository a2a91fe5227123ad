"""The rows of a run: whole, a share, a few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subadjacent.data.benchmarks import Benchmark
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.experiments import datasets
from subadjacent.experiments.datasets import QUICK_ROWS, cut_entities, load
from subadjacent.experiments.run import CLEAN, Run

RUN = Run("nips-ts", "random", CLEAN)


def test_a_share_is_the_first_rows_of_training_and_all_rows_of_the_test() -> None:
    whole, part = load(RUN, None), load(replace(RUN, train_share=0.1), None)
    np.testing.assert_array_equal(part.train[0].values, whole.train[0].values[:2000])
    assert len(part.test[0]) == len(whole.test[0]) == 20_000


def test_a_trial_has_few_rows_and_an_anomaly_among_them() -> None:
    few = load(replace(RUN, quick=True), None)
    assert len(few.train[0]) == len(few.test[0]) == QUICK_ROWS
    assert 0 < few.test[0].labels.sum() < QUICK_ROWS


def test_the_contaminated_series_is_another_one() -> None:
    dirty = replace(RUN, settings=(("train", "contaminated"),))
    assert not np.array_equal(load(RUN, None).train[0].values, load(dirty, None).train[0].values)
    np.testing.assert_array_equal(
        load(RUN, None).test[0].rows.values, load(dirty, None).test[0].rows.values
    )


def two_entities() -> Benchmark:
    whole = load(RUN, None)
    rows = [whole.test[0].rows.values[:2000], whole.test[0].rows.values[2000:4000]]
    labels = [np.zeros(2000, dtype=bool), np.zeros(2000, dtype=bool)]
    labels[0][1990], labels[1][5] = True, True
    return replace(
        whole,
        train=tuple(TrainSeries(one, entity=name) for one, name in zip(rows, "ab", strict=True)),
        test=tuple(
            TestSeries(TrainSeries(one, entity=name), known)
            for one, name, known in zip(rows, "ab", labels, strict=True)
        ),
    )


def test_a_trial_reaches_anomalies_at_either_end() -> None:
    few = datasets._few(two_entities())
    assert [int(np.argmax(one.labels)) for one in few.test] == [QUICK_ROWS - 10, 5]
    assert [one.rows.entity for one in few.test] == ["a", "b"]


def test_entities_are_cut_apart_in_pairs() -> None:
    parts = cut_entities(two_entities())
    assert [part.train[0].entity for part in parts] == ["a", "b"]
    assert [part.test[0].rows.entity for part in parts] == ["a", "b"]
