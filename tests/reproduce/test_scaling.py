"""Each dataset is scaled as the authors' code does, checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reproduce.benchmarks import SOURCES, Benchmark
from reproduce.benchmarks.benchmark import assemble
from reproduce.protocols.scaling import RULES, scale_benchmark

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
    given = benchmark(name)
    before = [one.values.copy() for one in given.train]
    learned, selection = scale_benchmark(given)
    # the data are left as they were
    for one, old in zip(given.train, before, strict=True):
        np.testing.assert_array_equal(one.values, old)
    assert learned.dtype == selection.dtype == np.float32
    return learned[:, 0].tolist(), selection[:, 0].tolist()


def test_smd_and_smap_scale_every_entity_each_part_by_itself_or_both_by_its_test_rows() -> None:
    assert scaled("smd") == ([-1, 1, -1, 1], [-1, 1, -1, 1])
    # (0 - 5)/2, (2 - 5)/2; (9 - 20)/4, (11 - 20)/4
    assert scaled("smap") == ([-2.5, -1.5, -2.75, -2.25], [-1, 1, -1, 1])


def test_msl_and_psm_scale_by_all_training_rows() -> None:
    train = np.array([0, 2, 9, 11])
    for name in ("msl", "psm"):
        learned, selection = scaled(name)
        np.testing.assert_allclose(learned, (train - 5.5) / train.std(), rtol=1e-6)
        if name == "msl":
            # test rows by quartiles: median 5.5, quartiles 1.5 and 9.5
            assert selection == [-0.3125, 0.1875, 1.3125, 2.3125]
    np.testing.assert_allclose(selection, (np.array([3, 7, 16, 24]) - 5.5) / train.std(), rtol=1e-6)


def test_the_others_scale_both_parts_each_by_itself_over_all_rows() -> None:
    assert RULES.keys() == SOURCES.keys()
    for name in ("swat", "wadi", "nips-ts"):
        learned, selection = scaled(name)
        # mean 5.5, deviation √(85 / 4); mean 12.5, deviation √(265 / 4)
        assert learned == pytest.approx([-1.193118, -0.759257, 0.759257, 1.193118], abs=1e-6)
        assert selection == pytest.approx([-1.167161, -0.675725, 0.430007, 1.412879], abs=1e-6)
