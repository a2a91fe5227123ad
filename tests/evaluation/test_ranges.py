"""Range-based precision and recall: by hand, row by row, beside another package."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting import calls
from evaluation.awkward import Pair, scored
from evaluation.slow import reward_oracle
from subadjacent.errors import InputError
from subadjacent.evaluation.ranges import (
    Bias,
    Cardinality,
    range_f1,
    range_precision,
    range_recall,
)

PEERS = json.loads((Path(__file__).parent / "frozen" / "peers.json").read_text(encoding="utf-8"))
biases, cardinalities = st.sampled_from(get_args(Bias)), st.sampled_from(get_args(Cardinality))
# two of four anomalous rows in two pieces, the second alarm wholly false
PREDICTED, LABELS = [1, 1, 0, 1, 0, 0, 1, 1], [0, 1, 1, 1, 1, 0, 0, 0]


def close(found: Any, expected: Any) -> bool:
    return bool(found == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True))


def test_recall_by_hand() -> None:
    assert range_recall(PREDICTED, LABELS, cardinality="one") == 1 / 2
    assert range_recall(PREDICTED, LABELS, cardinality="reciprocal") == 1 / 4
    assert range_recall(PREDICTED, LABELS, alpha=1) == 1
    assert close(range_recall(PREDICTED, LABELS, alpha=0.2), 0.2 + 0.8 / 4)


@pytest.mark.parametrize(
    ("bias", "covered"),
    [("flat", 2 / 4), ("front", (4 + 2) / 10), ("back", (1 + 3) / 10), ("middle", (1 + 2) / 6)],
)
def test_places_by_hand(bias: Bias, covered: float) -> None:
    # the first and the third of four rows
    assert close(range_recall(PREDICTED, LABELS, cardinality="one", bias=bias), covered)


def test_precision_by_hand() -> None:
    # three predicted ranges: half right, right, wrong
    assert close(range_precision(PREDICTED, LABELS), (1 / 2 + 1 + 0) / 3)
    assert close(range_precision(PREDICTED, LABELS, bias="back"), (2 / 3 + 1 + 0) / 3)


def test_f1_by_hand() -> None:
    assert close(range_f1(PREDICTED, LABELS, cardinality="one"), 1 / 2)
    expected = 2 / (1 / (5 / 9) + 1 / 0.6)
    found = range_f1(PREDICTED, LABELS, cardinality="one", bias="front", precision_bias="back")
    assert close(found, expected)


@pytest.mark.parametrize("row", PEERS["ranges"], ids=lambda row: "-".join(map(str, row.values())))
def test_ranges_are_those_of_another_package(row: dict[str, Any]) -> None:
    case = PEERS["series"][row["case"]]
    labels = [label for label, length in case["labels"] for _ in range(length)]
    predicted = np.array(case["scores"]) > case["threshold"]
    form = {"cardinality": row["cardinality"], "bias": row["bias"]}
    assert close(range_precision(predicted, labels, **form), row["precision"])
    assert close(range_recall(predicted, labels, alpha=row["alpha"], **form), row["recall"])


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


@pytest.mark.parametrize(
    ("setting", "value", "rule"),
    [
        ("alpha", -0.1, "a number from 0 to 1"),
        ("alpha", math.nan, "a number from 0 to 1"),
        ("alpha", "0", "a number from 0 to 1"),
        ("alpha", True, "a number from 0 to 1"),
        ("bias", "early", "one of ('flat', 'front', 'middle', 'back')"),
        ("cardinality", "two", "one of ('one', 'reciprocal')"),
    ],
)
def test_settings_are_checked(setting: str, value: Any, rule: str) -> None:
    with pytest.raises(InputError) as caught:
        range_f1([1], [1], **{setting: value})
    assert str(caught.value) == f"{setting} must be {rule}; got {value!r}"


def test_no_loop_goes_over_ranges() -> None:
    few, many = (
        np.random.default_rng(0).integers(0, 2, size=(2, rows)) for rows in (2_000, 200_000)
    )
    assert calls(lambda: range_f1(*many, bias="middle")) <= calls(
        lambda: range_f1(*few, bias="middle")
    )
