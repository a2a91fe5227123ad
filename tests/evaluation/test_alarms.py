"""Alarms against anomalies, against a walk over every pair of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.errors import InputError
from subadjacent.evaluation.alarms import (
    GAP,
    MARGIN,
    AlarmCounts,
    count_alarms,
    joined_runs,
    total,
)

Bounds = list[tuple[int, int]]

# rows 20 to 29 and 60 to 62 of 100 are anomalous
LABELS = [0] * 20 + [1] * 10 + [0] * 30 + [1] * 3 + [0] * 37


def counted_slowly(alarms: Bounds, labels: list[int], margin: int) -> AlarmCounts:
    """The definition read aloud: every alarm, every anomaly, every row."""
    anomalies: list[list[int]] = []
    for row, label in enumerate(labels):
        if label and row and labels[row - 1]:
            anomalies[-1].append(row)
        elif label:
            anomalies.append([row])
    widened = [range(rows[0] - margin, rows[-1] + margin + 1) for rows in anomalies]
    right = sum(
        any(first <= row <= last for rows in widened for row in rows) for first, last in alarms
    )
    found = waited = 0
    for rows, around in zip(anomalies, widened, strict=True):
        alarmed = [row for row in around if any(first <= row <= last for first, last in alarms)]
        if alarmed:
            found += 1
            waited += max(alarmed[0] - rows[0], 0)
    normal = [row for row, label in enumerate(labels) if not label]
    covered = sum(any(first <= row <= last for first, last in alarms) for row in normal)
    return AlarmCounts(
        len(labels), len(normal), covered, len(alarms), right, len(anomalies), found, waited
    )


def test_five_rows_around_an_anomaly_belong_to_it() -> None:
    touching = {(0, 15): 0, (34, 34): 14, (55, 55): 0, (67, 99): 7}
    for alarm in [*touching, (0, 14), (35, 35), (54, 54), (68, 99)]:
        counts = count_alarms([alarm], LABELS)
        right = int(alarm in touching)
        assert (counts.right, counts.found) == (right, right)
        assert counts.waited == touching.get(alarm, 0)


def test_repeats_count_once_and_are_right_if_one_of_them_is_by_hand() -> None:
    labels = np.zeros(100, dtype=int)
    labels[[20, 50]] = 1
    alarms = [(20, 20), (35, 36), (50, 50), (80, 80)]
    folded = count_alarms(alarms, labels, kinds=[1, 1, 3, 4])
    assert (folded.alarms, folded.right, folded.found) == (3, 2, 2)
    alone = count_alarms(alarms, labels)
    assert (alone.alarms, alone.right, alone.found) == (4, 2, 2)


def test_counts_of_entities_are_added_before_they_are_divided() -> None:
    one = AlarmCounts(100, 90, 9, alarms=1, right=1, anomalies=1, found=1, waited=6)
    other = AlarmCounts(300, 210, 21, alarms=9, right=3, anomalies=3, found=1, waited=2)
    both = total([one, other])
    assert both == AlarmCounts(400, 300, 30, 10, 4, 4, 2, 8)
    assert both.share_right == 0.4
    assert both.share_found == 0.5
    assert both.f1 == pytest.approx(2 / (2.5 + 2))
    assert both.delay == 4
    assert both.share_covered == 0.1
    assert total([]) == AlarmCounts()


def test_measures_by_hand() -> None:
    counts = AlarmCounts(2_880, 2_800, 140, alarms=10, right=4, anomalies=5, found=2, waited=7)
    # a row a minute: two days
    assert counts.measures(interval=60.0) == {
        "alarms": 10.0,
        "alarms_right": 4.0,
        "anomalies": 5.0,
        "anomalies_found": 2.0,
        "alarms_right_share": 0.4,
        "anomalies_found_share": 0.4,
        "event_f1": pytest.approx(0.4),
        "alarms_false": 6.0,
        "alarms_false_per_1000_rows": 6 / 2.88,
        "alarms_false_per_day": 3.0,
        "normal_rows_alarmed": 0.05,
        "alarm_delay": 3.5,
    }
    assert math.isnan(counts.measures()["alarms_false_per_day"])


def test_what_would_be_a_share_of_nothing_is_nan() -> None:
    quiet = count_alarms([], LABELS)
    assert (quiet.alarms, quiet.found) == (0, 0)
    assert math.isnan(quiet.share_right)
    assert math.isnan(quiet.delay)
    assert quiet.f1 == 0
    calm = count_alarms([(3, 4)], [0] * 10)
    assert math.isnan(calm.share_found)
    assert calm.f1 == 0
    assert math.isnan(count_alarms([], [0, 0]).f1)
    assert math.isnan(count_alarms([(0, 1)], [1, 1]).share_covered)
    assert all(math.isnan(AlarmCounts().measures(60.0)[name]) for name in (
        "alarms_false_per_1000_rows", "alarms_false_per_day", "event_f1"))  # fmt: skip


@st.composite
def alarmed(draw: st.DrawFn) -> tuple[Bounds, list[int]]:
    """Anomalies of all lengths, often close together, and alarms that may overlap."""
    runs = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 20)), min_size=1, max_size=8))
    labels = [label for label, length in runs for _ in range(length)]
    row = st.integers(0, len(labels) - 1)
    pairs = draw(st.lists(st.tuples(row, row), max_size=6))
    return [(min(pair), max(pair)) for pair in pairs], labels


@given(alarmed(), st.sampled_from([0, MARGIN]))
def test_counts_are_those_of_a_walk_over_all_pairs(
    drawn: tuple[Bounds, list[int]], margin: int
) -> None:
    assert count_alarms(*drawn, margin=margin) == counted_slowly(*drawn, margin)


def test_runs_with_few_rows_between_them_are_one_alarm() -> None:
    assert GAP == 10
    for apart, expected in ((10, [[0, 12]]), (11, [[0, 0], [12, 13]])):
        flags = [1] + [0] * apart + [1] * 2
        assert joined_runs(flags).tolist() == expected
    assert joined_runs([0, 0]).tolist() == []
    assert joined_runs([0, 0]).shape == (0, 2)
    assert joined_runs([1, 1, 1]).tolist() == [[0, 2]]
    assert joined_runs([1, 0, 1], gap=0).tolist() == [[0, 0], [2, 2]]


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 12))
def test_joined_runs_are_those_of_a_walk(flags: list[bool], gap: int) -> None:
    expected: list[list[int]] = []
    for row in np.flatnonzero(flags).tolist():
        if expected and row - expected[-1][1] - 1 <= gap:
            expected[-1][1] = row
        else:
            expected.append([row, row])
    assert joined_runs(flags, gap).tolist() == expected


@pytest.mark.parametrize(
    ("alarms", "rule"),
    [
        ([(0, 3)], "within 3 rows, the first row not after the last; got 0 to 3"),
        ([(0, 1), (-1, 2)], "got -1 to 2"),
        ([(2, 1)], "got 2 to 1"),
        ([(0.5, 1)], "got 0.5 to 1"),
        ([(0, math.inf)], "got 0 to inf"),
        ([(math.nan, 1)], "got nan to 1"),
        ([1, 2], r"pairs of a first and a last row; got \(2,\)"),
        ([(0, 1, 2)], r"pairs of a first and a last row; got \(1, 3\)"),
        ([("a", "b")], "pairs of row numbers; could not convert"),
    ],
)
def test_alarms_that_are_none_are_refused(alarms: Any, rule: str) -> None:
    with pytest.raises(InputError, match=f"^alarms must .*{rule}"):
        count_alarms(alarms, [0, 1, 0])


def test_labels_other_than_0_and_1_are_refused() -> None:
    with pytest.raises(InputError, match="labels must be 0 or 1; got 2 in row 1"):
        count_alarms([], [0, 2])
