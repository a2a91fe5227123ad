"""How the authors' code scales each dataset: not always by training rows alone.

Fitting a scaler on test rows tells the model what it will be asked. It is done here because the
published numbers were made so, and nowhere else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.benchmarks import Benchmark

Rows = NDArray[Any]


class Rule(NamedTuple):
    """Which rows each part is scaled by, whether entity by entity, and how test rows are."""

    train_by: str
    test_by: str
    per_entity: bool = False
    robust: bool = False


RULES = {
    "swat": Rule("train", "train"),
    "wadi": Rule("train", "train"),
    "psm": Rule("train", "train"),
    "msl": Rule("train", "test", robust=True),
    "smap": Rule("test", "test", per_entity=True),
    "smd": Rule("train", "test", per_entity=True),
    "nips-ts": Rule("train", "test"),
}


def scale_benchmark(benchmark: Benchmark) -> tuple[Rows, Rows]:
    """All training rows and all test rows in float32, scaled as the authors' code does."""
    rule = RULES[benchmark.name]
    train = [one.values for one in benchmark.train]
    test = [one.rows.values for one in benchmark.test]
    if not rule.per_entity:
        train, test = [np.concatenate(train)], [np.concatenate(test)]
    scaled = [_scale(rule, *pair) for pair in zip(train, test, strict=True)]
    learned, asked = (np.concatenate(parts) for parts in zip(*scaled, strict=True))
    return learned, asked


def _scale(rule: Rule, train: Rows, test: Rows) -> tuple[Rows, Rows]:
    # imported where it is used: it draws from the global random state when it is imported
    from sklearn.preprocessing import RobustScaler, StandardScaler

    parts = {"train": train.astype(np.float64), "test": test.astype(np.float64)}
    by_train = StandardScaler().fit(parts[rule.train_by])
    test_scaler = RobustScaler() if rule.robust else StandardScaler()
    by_test = test_scaler.fit(parts[rule.test_by])
    return (
        by_train.transform(parts["train"]).astype(np.float32),
        by_test.transform(parts["test"]).astype(np.float32),
    )
