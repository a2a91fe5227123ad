"""Affiliation: by hand, at points of time, beside another package."""

from __future__ import annotations

import math

from hypothesis import given

from evaluation.awkward import PEERS, Pair, close, of_peer, scored
from evaluation.slow import affiliation_oracle
from subadjacent.evaluation.affiliation import affiliation


def test_one_alarm_beside_one_event_by_hand() -> None:
    # the event is the first of four rows, the alarm the second: time 1 to 2, 0 to 1 away. At
    # distance d, 3 - d of the 4 rows are at least as far
    found = affiliation([0, 1, 0, 0], [1, 0, 0, 0])
    assert close(found.precision, (3 - 1 / 2) / 4)
    # from a time y of the event the alarm is 1 - y away; nearer are 1 - y ahead of y and, behind
    # it, the smaller of y and 1 - y: in the mean 1/2 and 1/4
    assert close(found.recall, 1 - (1 / 2 + 1 / 4) / 4)
    assert close(found.f1, 2 / (1 / found.precision + 1 / found.recall))


def test_zones_meet_half_way_between_events() -> None:
    # zones are 0 to 3 and 3 to 6; the first has no alarm: no precision there, and no recall
    found = affiliation([0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1])
    assert found.precision == 1
    assert found.recall == 1 / 2


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
