"""The best threshold for events, against trying every one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.awkward import every_threshold
from subadjacent.errors import InputError
from subadjacent.evaluation.alarm_oracle import (
    MAX_NORMAL_SHARE,
    BestEventF1,
    best_event_f1,
    measures_with_oracle,
)
from subadjacent.evaluation.alarms import AlarmCounts, count_alarms, joined_runs, total

Series = tuple[list[list[float]], list[list[int]]]


def counts_at(threshold: float, scores: list[list[float]], labels: list[list[int]]) -> AlarmCounts:
    return total(
        count_alarms(joined_runs([score > threshold for score in one]), known)
        for one, known in zip(scores, labels, strict=True)
    )


def best_slowly(scores: list[list[float]], labels: list[list[int]], most: float) -> float:
    """Every threshold in turn; those that alarm too many normal rows do not count."""
    if not any(map(any, labels)):
        return math.nan
    rows = [
        pair
        for one, known in zip(scores, labels, strict=True)
        for pair in zip(one, known, strict=True)
    ]
    normal = [score for score, label in rows if not label]
    best = 0.0
    for threshold in every_threshold([score for score, _ in rows]):
        if sum(score > threshold for score in normal) <= most * len(normal):
            best = max(best, counts_at(threshold, scores, labels).f1)
    return best


def example() -> Series:
    """An anomaly that stands out, one that does not, and a burst of two rows for nothing."""
    scores, labels = np.zeros(200), np.zeros(200, dtype=int)
    labels[50:55] = labels[150:160] = 1
    scores[52], scores[155], scores[[100, 105]] = 9.0, 3.0, 5.0
    return [scores.tolist()], [labels.tolist()]


def test_an_alarm_that_covers_everything_is_no_oracle() -> None:
    scores, labels = example()
    assert best_event_f1(scores, labels, most=1.0) == BestEventF1(
        1.0, math.nextafter(0.0, -math.inf)
    )
    # a score without any information, as good as no alarm
    flat = [[1.0] * 200]
    assert best_event_f1(flat, labels) == BestEventF1(0.0, 1.0)


def test_a_share_that_was_computed_from_a_count_allows_that_count() -> None:
    # 1 / 49 * 49 is a little less than 1 in floating point
    labels = [[0] * 30 + [1] * 3 + [0] * 19]
    scores = [[5.0] + [0.0] * 30 + [4.0] + [0.0] * 20]
    assert best_event_f1(scores, labels, most=1 / 49).f1 == pytest.approx(2 / 3)


def test_the_highest_of_equally_good_thresholds_is_taken() -> None:
    scores, labels = example()
    scores[0][53] = 8.0
    scores[0][155] = 0.0
    assert best_event_f1(scores, labels).threshold == 8.0


@st.composite
def several(draw: st.DrawFn) -> Series:
    """One to three series with scores that are often tied and alarms that often join."""
    scores, labels = [], []
    for _ in range(draw(st.integers(1, 3))):
        runs = draw(
            st.lists(st.tuples(st.integers(0, 1), st.integers(1, 25)), min_size=1, max_size=5)
        )
        known = [label for label, length in runs for _ in range(length)]
        # few rows that stand out, so that alarms are apart
        score = st.sampled_from([0.0] * 12 + [0.5, 1.0, 2.0, 3.0])
        scores.append(draw(st.lists(score, min_size=len(known), max_size=len(known))))
        labels.append(known)
    return scores, labels


@given(several(), st.sampled_from([0.0, 0.05, 0.2, 1.0]))
def test_it_is_the_best_of_all_thresholds(series: Series, most: float) -> None:
    best = best_event_f1(*series, most=most)
    assert best.f1 == pytest.approx(best_slowly(*series, most), nan_ok=True)
    if not math.isnan(best.f1):
        assert counts_at(best.threshold, *series).f1 == pytest.approx(best.f1)


def test_measures_have_the_oracle_beside_them() -> None:
    scores, labels = example()
    counts = counts_at(5.0, scores, labels)
    found = measures_with_oracle(counts, scores, labels, 60.0)
    assert found == counts.measures(60.0) | {"oracle_event_f1": pytest.approx(0.8)}


def test_the_oracle_may_alarm_as_many_normal_rows_as_the_detector_does() -> None:
    # noise in every fourth row: an alarm that never ends
    labels = [[0] * 100 + [1] * 5 + [0] * 100]
    scores = [[1.0 if row % 4 == 0 else 0.0 for row in range(205)]]
    assert best_event_f1(scores, labels).f1 == 0
    own = counts_at(0.5, scores, labels)
    assert own.share_covered > 0.9 > MAX_NORMAL_SHARE
    assert own.f1 == 1
    assert measures_with_oracle(own, scores, labels)["oracle_event_f1"] == 1


def test_without_normal_rows_there_is_an_oracle_too() -> None:
    own = count_alarms([], [1, 1])
    assert measures_with_oracle(own, [[1.0, 2.0]], [[1, 1]])["oracle_event_f1"] == 1


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([[1.0]], []), ([[1.0]], [[0], [1]])])
def test_series_without_their_labels_are_refused(
    scores: list[list[float]], labels: list[list[int]]
) -> None:
    with pytest.raises(InputError, match="of the same series, at least one; got"):
        best_event_f1(scores, labels)
