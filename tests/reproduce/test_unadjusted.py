"""Errors smoothed by a kernel whose length is picked on labels, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reproduce.protocols.unadjusted import (
    LENGTHS,
    as_text,
    best_of_runs,
    evaluate,
    smoothed,
)
from subadjacent.evaluation.metrics import auroc, average_precision, best_f1

# weight of a row at the end of the bell, three deviations from its middle
END = math.exp(-4.5)


def test_bells_by_hand() -> None:
    # of three rows the middle weighs 1; two rows are both ends, and look back
    found = smoothed(np.array([0, 0, 8, 0, 2]), 3)
    np.testing.assert_allclose(found, [0, 8 * END, 8, 10 * END, 2])
    np.testing.assert_allclose(smoothed(np.array([1.0, 0, 4]), 2), [END, END, 4 * END])
    np.testing.assert_array_equal(smoothed(np.array([1.0, 5, 2]), 0), [1, 5, 2])
    # one that is longer than the series is as long
    error = np.array([3.0, 1, 4])
    np.testing.assert_array_equal(smoothed(error, 600), smoothed(error, 3))


def noisy() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    labels = np.zeros(2_000, dtype=bool)
    labels[300:420] = labels[1_500:1_560] = True
    return rng.exponential(size=2_000) + 0.8 * labels, labels


def test_the_best_length_and_threshold_are_taken() -> None:
    assert [*LENGTHS[:3], LENGTHS[-1], len(LENGTHS)] == [0, 10, 20, 600, 61]
    error, labels = noisy()
    f1s = {length: best_f1(smoothed(error, length), labels).f1 for length in LENGTHS}
    found = evaluate(error, labels)
    best = smoothed(error, int(found["kernel"]))
    assert found == {
        "oracle_f1": max(f1s.values()),
        "auroc": auroc(best, labels),
        "average_precision": average_precision(best, labels),
        "kernel": max(f1s, key=lambda length: f1s[length]),
    }
    # a long anomaly among noise: smoothing helps, and too much of it does not
    assert 0 < found["kernel"] < 600
    assert found["oracle_f1"] > 1.5 * f1s[0]
    # with anomalies in every row all lengths have an F1 of 1: the shortest is taken
    found = evaluate(np.arange(50.0), np.ones(50, dtype=bool))
    assert (found["oracle_f1"], found["kernel"]) == (1, 0)


def test_the_best_run_is_that_of_each_entity() -> None:
    runs = [as_text([0.5, 0.2]), as_text([0.1, 0.6])]
    assert runs[0] == "0.5000 0.2000"
    # 0.5 of the first run, 0.6 of the second
    assert best_of_runs(runs) == pytest.approx(0.55)
    # runs of other entities do not compare
    with pytest.raises(ValueError, match="shorter"):
        best_of_runs(["0.5 0.2", "0.1"])
