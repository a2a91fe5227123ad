"""Range-based precision and recall: row by row, beside another package."""

from __future__ import annotations

import math
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from evaluation.awkward import PEERS, Pair, close, of_peer, scored
from evaluation.slow import reward_oracle
from subadjacent.evaluation.ranges import (
    Bias,
    Cardinality,
    range_f1,
    range_precision,
    range_recall,
)

biases, cardinalities = st.sampled_from(get_args(Bias)), st.sampled_from(get_args(Cardinality))
# two of four anomalous rows in two pieces, the second alarm wholly false
PREDICTED, LABELS = [1, 1, 0, 1, 0, 0, 1, 1], [0, 1, 1, 1, 1, 0, 0, 0]


def test_f1_by_hand() -> None:
    assert close(range_f1(PREDICTED, LABELS, cardinality="one"), 1 / 2)
    expected = 2 / (1 / (5 / 9) + 1 / 0.6)
    found = range_f1(PREDICTED, LABELS, cardinality="one", bias="front", precision_bias="back")
    assert close(found, expected)


def test_ranges_are_those_of_another_package() -> None:
    for row in PEERS["ranges"]:
        _, predicted, labels = of_peer(row)
        form = {"cardinality": row["cardinality"], "bias": row["bias"]}
        assert close(range_precision(predicted, labels, **form), row["precision"]), row
        recall = range_recall(predicted, labels, alpha=row["alpha"], **form)
        assert close(recall, row["recall"]), row


@given(scored(), st.sampled_from([0, 0.0, 0.3, 1]), cardinalities, biases)
def test_rewards_are_those_of_a_walk_over_rows(
    pair: Pair, alpha: float, cardinality: Cardinality, bias: Bias
) -> None:
    predicted, labels = [int(score > 0) for score in pair[0]], pair[1]
    precision = range_precision(predicted, labels, cardinality=cardinality, bias=bias)
    recall = range_recall(predicted, labels, alpha=alpha, cardinality=cardinality, bias=bias)
    assert close(precision, reward_oracle(predicted, labels, 0, cardinality, bias))
    assert close(recall, reward_oracle(labels, predicted, alpha, cardinality, bias))


def test_what_is_undefined() -> None:
    assert math.isnan(range_precision([0, 0], [0, 1]))
    assert range_recall([0, 0], [0, 1]) == 0
    assert range_precision([0, 1], [0, 0]) == 0
    assert math.isnan(range_recall([0, 1], [0, 0]))
    assert range_f1([0, 0], [0, 1]) == range_f1([0, 1], [0, 0]) == range_f1([1, 0], [0, 1]) == 0
    assert math.isnan(range_f1([0, 0], [0, 0]))
    assert range_f1([1, 1], [1, 1]) == 1
