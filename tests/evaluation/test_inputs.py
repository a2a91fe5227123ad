"""What is refused, in the same words everywhere, and what is left alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from counting import calls
from evaluation.awkward import REFUSED_FLAGS, REFUSED_SCORES
from subadjacent.errors import InputError
from subadjacent.evaluation.adjust import adjust_scores, point_adjust, point_adjust_k
from subadjacent.evaluation.affiliation import affiliation
from subadjacent.evaluation.metrics import (
    auroc,
    average_precision,
    best_f1,
    best_pa_k_area,
    best_point_adjusted_f1,
    f1,
    pa_k_area,
    precision,
    recall,
)
from subadjacent.evaluation.ranges import range_f1, range_precision, range_recall
from subadjacent.evaluation.segments import segments
from subadjacent.evaluation.summary import summarise, with_controls
from subadjacent.evaluation.volume import volumes

Measure = Callable[..., Any]


def adjust_half(predicted: Any, labels: Any) -> Any:
    return point_adjust_k(predicted, labels, 50)


def summarise_no_alarm(scores: Any, labels: Any) -> Any:
    return summarise(scores, labels, np.zeros(len(scores)))


def controls_no_alarm(scores: Any, labels: Any) -> Any:
    return with_controls(scores, labels, np.zeros(len(scores)), np.random.default_rng(0))


OF_PREDICTED: list[Measure] = [
    *(precision, recall, f1, point_adjust, adjust_half),
    *(affiliation, range_precision, range_recall, range_f1, pa_k_area),
]
OF_SCORES: list[Measure] = [
    *(auroc, average_precision, best_f1, best_point_adjusted_f1, adjust_scores),
    *(summarise_no_alarm, controls_no_alarm, volumes, best_pa_k_area),
]


def refuse(measure: Measure, first: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        measure(first, labels)


@pytest.mark.parametrize("measure", OF_PREDICTED)
def test_predictions_and_labels_that_are_no_flags_are_refused(measure: Measure) -> None:
    for value, message in REFUSED_FLAGS:
        refuse(measure, value, [0, 1, 0], f"predicted {message}")
        of_labels = message.replace("and labels ", "")
        refuse(measure, [0, 1, 0], value, f"(predicted and )?labels {of_labels}")


@pytest.mark.parametrize("measure", OF_SCORES)
def test_scores_that_are_no_numbers_and_their_labels_are_refused(measure: Measure) -> None:
    for value, message in REFUSED_SCORES:
        refuse(measure, value, [0, 1, 0], message)
    for value, message in REFUSED_FLAGS:
        of_labels = message.replace("and labels ", "")
        refuse(measure, [0.1, 0.3, 0.2], value, f"(scores and )?labels {of_labels}")


def test_segments_of_what_is_no_label_are_refused() -> None:
    for value, message in REFUSED_FLAGS:
        if "one value for each row" not in message:
            with pytest.raises(InputError, match=f"^labels {message}"):
                segments(value)


def test_alarmed_rows_that_are_no_flags_are_refused() -> None:
    for alarmed in (math.nan, None, "high", [0.5, 1], [True]):
        with pytest.raises(InputError, match=r"^predicted"):
            summarise([0.1, 0.2], [0, 1], alarmed)


SHARE = "a finite number of at least 0 and of at most 1"
PERCENTAGE = "a finite number of at least 0 and of at most 100"
# a measure, its setting, values that it refuses, and the rule
REFUSED_SETTINGS: list[tuple[Measure, str, list[Any], str]] = [
    (point_adjust_k, "k", [-1, 100.5, math.nan, "20", None, True], PERCENTAGE),
    (adjust_scores, "k", [-1, 100.5, math.nan, "20", None, True], PERCENTAGE),
    (range_f1, "alpha", [-0.1, math.nan, "0", True], SHARE),
    (range_f1, "bias", ["early"], "one of ('flat', 'front', 'middle', 'back')"),
    (range_f1, "cardinality", ["two"], "one of ('one', 'reciprocal')"),
    (volumes, "window", [-1, 2.5, True], "a whole number of at least 0"),
    (volumes, "thresholds", [1, None], "a whole number of at least 2"),
    (volumes, "variant", ["aeon"], "one of ('tsb-ad', 'original')"),
]


def test_settings_out_of_their_range_are_refused_with_the_rule() -> None:
    for measure, setting, values, rule in REFUSED_SETTINGS:
        for value in values:
            with pytest.raises(InputError) as caught:
                measure([1, 0], [0, 1], **{setting: value})
            assert str(caught.value) == f"{setting} must be {rule}; got {value!r}"


def original_volumes(scores: Any, labels: Any) -> Any:
    return volumes(scores, labels, variant="original")


def middle_ranges(predicted: Any, labels: Any) -> Any:
    return range_f1(predicted, labels, bias="middle")


@pytest.mark.parametrize(
    "measure",
    [best_f1, best_point_adjusted_f1, best_pa_k_area, average_precision, auroc, volumes,
     original_volumes, affiliation, middle_ranges],
)  # fmt: skip
def test_no_loop_goes_over_rows_events_or_thresholds(measure: Measure) -> None:
    def work(rows: int) -> int:
        # adjusting goes through the events, one by one
        period = rows // 25 if measure is best_point_adjusted_f1 else 200
        labels = (np.arange(rows) % period < 40).astype(int)
        first = np.random.default_rng(0).normal(size=rows) + labels
        first = first if measure in (*OF_SCORES, original_volumes) else (first > 1).astype(int)
        return calls(lambda: measure(first, labels))

    assert work(50_000) < 2 * work(5_000)


@pytest.mark.parametrize("measure", OF_PREDICTED + OF_SCORES)
def test_inputs_are_never_changed(measure: Measure) -> None:
    first, labels = np.array([0.0, 1, 0, 1, 0]), np.array([0, 1, 1, 1, 0])
    first.flags.writeable = labels.flags.writeable = False
    measure(first, labels)
    assert first.tolist() == [0, 1, 0, 1, 0]
    assert labels.tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("measure", OF_PREDICTED + OF_SCORES)
def test_the_type_of_zeros_and_ones_does_not_matter(measure: Measure) -> None:
    first, labels = [0, 1, 0, 1, 0], [0, 1, 1, 0, 1]
    expected = measure(first, labels)
    for dtype in (bool, np.uint8, np.int64, np.float32, object):
        result = measure(np.array(first, dtype=dtype), np.array(labels, dtype=dtype))
        np.testing.assert_equal(result, expected)
