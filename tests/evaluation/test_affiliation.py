"""Affiliation: at points of time, beside another package."""

from __future__ import annotations

import math

from hypothesis import given

from evaluation.awkward import PEERS, Pair, close, of_peer, scored
from evaluation.slow import affiliation_oracle
from subadjacent.evaluation.affiliation import affiliation


def test_affiliation_is_that_of_another_package() -> None:
    for row in PEERS["affiliation"]:
        _, predicted, labels = of_peer(row)
        found = affiliation(predicted, labels)
        assert close(found[:2], (row["precision"], row["recall"])), row


@given(scored())
def test_affiliation_is_that_of_points_of_time(pair: Pair) -> None:
    predicted, labels = [int(score > 0) for score in pair[0]], pair[1]
    assert close(affiliation(predicted, labels)[:2], affiliation_oracle(predicted, labels))


def test_what_is_undefined() -> None:
    for predicted in ([0, 0], [0, 1]):
        assert all(math.isnan(value) for value in affiliation(predicted, [0, 0]))
    found = affiliation([0, 0], [0, 1])
    assert math.isnan(found.precision)
    assert found.recall == found.f1 == 0
    assert affiliation([1, 1], [1, 1]) == (1, 1, 1)
