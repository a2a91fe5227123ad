"""Each dataset is scaled as the authors' code does, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.data.benchmarks import SOURCES, Benchmark
from subadjacent.data.benchmarks.benchmark import assemble
from subadjacent.experiments.protocols.scaling import RULES, scale_benchmark

# two entities of one channel: means 1 and 10 to train on, 5 and 20 to test on
TRAIN = [[0, 2], [9, 11]]
TEST = [[3, 7], [16, 24]]


def benchmark(name: str) -> Benchmark:
    source = SOURCES[name]
    train, test = (
        [np.repeat(np.array(part, dtype=float)[:, None], source.channels, axis=1) for part in parts]
        for parts in (TRAIN, TEST)
    )
    if source.entities == 1:
        train, test = [np.concatenate(train)], [np.concatenate(test)]
    labels = [np.zeros(len(part), dtype=int) for part in test]
    return assemble(source, "here", train, test, labels, entities=["a", "b"])


def scaled(name: str) -> tuple[list[float], list[float]]:
    learned, selection = scale_benchmark(benchmark(name))
    assert learned.dtype == selection.dtype == np.float32
    return learned[:, 0].tolist(), selection[:, 0].tolist()


def test_every_dataset_has_a_rule() -> None:
    assert RULES.keys() == SOURCES.keys()


def test_smd_scales_every_machines_parts_each_by_itself() -> None:
    assert scaled("smd") == ([-1, 1, -1, 1], [-1, 1, -1, 1])


def test_smap_scales_every_channels_parts_by_its_test_rows() -> None:
    # (0 - 5)/2, (2 - 5)/2; (9 - 20)/4, (11 - 20)/4
    assert scaled("smap") == ([-2.5, -1.5, -2.75, -2.25], [-1, 1, -1, 1])


def test_msl_scales_train_by_deviation_and_test_by_quartiles_over_all_entities() -> None:
    learned, selection = scaled("msl")
    train = np.array([0, 2, 9, 11])
    np.testing.assert_allclose(learned, (train - 5.5) / train.std(), rtol=1e-6)
    # sorted test rows 3 7 16 24: median 11.5, quartiles 6 and 18
    np.testing.assert_allclose(selection, (np.array([3, 7, 16, 24]) - 11.5) / 12, rtol=1e-6)


@pytest.mark.parametrize("name", ["psm", "swat", "wadi"])
def test_the_others_are_scaled_by_training_rows(name: str) -> None:
    _, selection = scaled(name)
    train = np.array([0, 2, 9, 11])
    np.testing.assert_allclose(selection, (np.array([3, 7, 16, 24]) - 5.5) / train.std(), rtol=1e-6)


def test_nips_ts_scales_both_parts_each_by_itself_over_all_rows() -> None:
    learned, selection = scaled("nips-ts")
    for found, part in ((learned, [0, 2, 9, 11]), (selection, [3, 7, 16, 24])):
        rows = np.array(part)
        np.testing.assert_allclose(found, (rows - rows.mean()) / rows.std(), rtol=1e-6)


def test_the_data_are_left_as_they_were() -> None:
    given = benchmark("smd")
    before = [one.values.copy() for one in given.train]
    scale_benchmark(given)
    for one, old in zip(given.train, before, strict=True):
        np.testing.assert_array_equal(one.values, old)
