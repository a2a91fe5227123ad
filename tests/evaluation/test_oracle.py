"""The threshold picked on labels is the best there is, and named for what it is."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from evaluation.awkward import Pair, every_threshold, scored
from subadjacent.evaluation.metrics import f1
from subadjacent.evaluation.oracle import oracle_threshold


def test_the_oracle_by_hand() -> None:
    assert oracle_threshold([1.0, 8, 3, 9], [0, 1, 0, 1]) == 3.0


def test_without_anomalies_the_oracle_raises_no_alarm() -> None:
    assert oracle_threshold([1.0, 8, 3], [0, 0, 0]) == 8.0


@given(scored(both=True))
def test_no_threshold_is_better_than_the_oracle(pair: Pair) -> None:
    scores, labels = np.array(pair[0]), pair[1]
    best = f1(scores > oracle_threshold(scores, labels), labels)
    assert best == max(f1(scores > threshold, labels) for threshold in every_threshold(scores))
