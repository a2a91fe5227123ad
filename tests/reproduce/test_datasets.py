"""The rows of a run: whole, a share, a few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reproduce import datasets
from reproduce.benchmarks import Benchmark
from reproduce.benchmarks.neurips_ts import neurips_ts
from reproduce.cases import case
from reproduce.datasets import (
    QUICK_ROWS,
    data_of,
    dataset_named,
    fingerprint_of,
    load,
    title_of,
)
from reproduce.run import CLEAN, Run
from subadjacent.data.series import TestSeries, TrainSeries
from subadjacent.errors import InputError

RUN = Run("nips-ts", "random", CLEAN)


def test_a_share_is_the_first_rows_of_training_and_all_rows_of_the_test() -> None:
    whole, part = load(RUN, None), load(replace(RUN, train_share=0.1), None)
    np.testing.assert_array_equal(part.train[0].values, whole.train[0].values[:2000])
    assert len(part.test[0]) == len(whole.test[0]) == 20_000


def test_a_trial_has_few_rows_and_an_anomaly_among_them() -> None:
    few = load(replace(RUN, quick=True), None)
    assert len(few.train[0]) == len(few.test[0]) == QUICK_ROWS
    assert 0 < few.test[0].labels.sum() < QUICK_ROWS


def test_the_contaminated_series_is_another_one_and_the_seed_makes_none() -> None:
    dirty = replace(RUN, settings=(("train", "contaminated"),))
    clean, other = load(RUN, None), load(dirty, None)
    assert not np.array_equal(clean.train[0].values, other.train[0].values)
    np.testing.assert_array_equal(clean.test[0].rows.values, other.test[0].rows.values)
    assert data_of(RUN) == data_of(replace(RUN, seed=3)) != data_of(dirty)


@pytest.mark.parametrize("train", ["clean", "contaminated"])
def test_one_kind_of_anomaly_may_stand_alone_in_both_series(train: str) -> None:
    settings = (("anomalies", "global"), ("train", train))
    alone = load(replace(RUN, settings=settings), None)
    drawn, trained = (neurips_ts(seed=seed, kinds=("global",)) for seed in (100, 101))
    np.testing.assert_allclose(alone.test[0].rows.values, drawn.values, rtol=1e-6)
    np.testing.assert_array_equal(alone.test[0].labels, drawn.labels)
    # the sine moves between -1.8 and 1.8
    rows = trained.values if train == "contaminated" else trained.base
    np.testing.assert_allclose(alone.train[0].values, rows, rtol=1e-6)
    assert (np.abs(rows).max() > 2.5) == (train == "contaminated")
    assert data_of(RUN) != data_of(replace(RUN, settings=settings[:1]))


def two_entities() -> Benchmark:
    whole = load(RUN, None)
    tests = []
    for name, rows, anomaly in (("a", slice(2000), 1990), ("b", slice(2000, 4000), 5)):
        series = TrainSeries(whole.test[0].rows.values[rows], entity=name)
        tests.append(TestSeries(series, np.arange(2000) == anomaly))
    return replace(whole, train=tuple(one.rows for one in tests), test=tuple(tests))


def test_a_trial_reaches_anomalies_at_either_end() -> None:
    few = datasets._shorten(two_entities())
    assert [int(np.argmax(one.labels)) for one in few.test] == [QUICK_ROWS - 10, 5]
    assert [one.rows.entity for one in few.test] == ["a", "b"]


def test_a_generated_kind_has_a_series_for_each_seed() -> None:
    runs = [Run("off the ring", "random", CLEAN, seed) for seed in (0, 1)]
    first, second = (load(run, None) for run in runs)
    drawn = case("off the ring", seed=1)
    np.testing.assert_array_equal(second.train[0].values, drawn.train)
    np.testing.assert_array_equal(second.test[0].rows.values, drawn.test)
    np.testing.assert_array_equal(second.test[0].labels, drawn.labels)
    assert not np.array_equal(first.train[0].values, second.train[0].values)
    assert len({fingerprint_of(data_of(run), None) for run in runs}) == 2


def test_datasets_go_by_their_names_in_any_spelling() -> None:
    assert dataset_named("NeurIPS_TS") == "nips-ts"
    assert dataset_named("Off-the-ring") == "off the ring"
    assert (title_of("nips-ts"), title_of("off the ring")) == ("NeurIPS-TS", "off the ring")
    with pytest.raises(InputError, match=r"among swat, .*, off the ring, .*; got 'mnist'"):
        dataset_named("mnist")
