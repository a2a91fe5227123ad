"""Volumes: by hand, in loops over buffers and thresholds, beside the packages named."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counting import calls
from evaluation.awkward import REFUSED_SCORES, Pair, awkward, scored
from evaluation.slow import volumes_oracle
from subadjacent.errors import InputError
from subadjacent.evaluation.metrics import auroc, average_precision
from subadjacent.evaluation.volume import VusVariant, volumes, vus_pr, vus_roc

PEERS = json.loads((Path(__file__).parent / "frozen" / "peers.json").read_text(encoding="utf-8"))
VARIANTS: tuple[VusVariant, ...] = ("tsb-ad", "original")
variants = pytest.mark.parametrize("variant", VARIANTS)
# rows 2 and 3 are an event; the scores fall as 9 (row 1), 8 (row 2), 3 (row 4), 2, 1, 0
SCORES, LABELS = [1.0, 9.0, 8.0, 2.0, 3.0, 0.0], [0, 0, 1, 1, 0, 0]


def close(found: Any, expected: Any) -> bool:
    return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True))


def test_tsb_ad_by_hand() -> None:
    # buffers 0 and 1 leave the labels alone; hits 0 1 1 2 2 2 at alarms 1 2 3 4 5 6
    plain = 1 / 2 * 1 / 2 + 1 / 2 * 2 / 4
    # buffer 2 gives rows 1 and 4 a share c; row 1 comes first, row 4 third
    c = math.sqrt(1 / 2)
    credit = [c, c + 1, 2 * c + 1, 2 * c + 2, 2 * c + 2, 2 * c + 2]
    positives = [2 + c / 2, 2 + c / 2, 2 + c, 2 + c, 2 + c, 2 + c]
    recalls = [min(1, h / p) for h, p in zip(credit, positives, strict=True)]
    soft = sum((recalls[i] - (recalls[i - 1] if i else 0)) * credit[i] / (i + 1) for i in range(6))
    assert close(vus_pr(SCORES, LABELS, 2, thresholds=6), (plain + plain + soft) / 3)


def test_original_by_hand() -> None:
    # precision 1 at recall 0, then 0, 1/2, 1/3, 2/4: halves of recall between (0, 1/2), (1/3, 2/4)
    plain = 1 / 2 * (0 + 1 / 2) / 2 + 1 / 2 * (1 / 3 + 2 / 4) / 2
    # buffer 2 gives row 1 a share, and row 4 none; positives are 2 and half of it at all times
    c = math.sqrt(1 / 2)
    credit = [c, c + 1, c + 1, c + 2]
    recalls = [0, *(min(1, h / (2 + c / 2)) for h in credit)]
    heights = [1, c / 1, (c + 1) / 2, (c + 1) / 3, (c + 2) / 4]
    soft = sum(
        (recalls[i] - recalls[i - 1]) * (heights[i] + heights[i - 1]) / 2 for i in range(1, 5)
    )
    found = vus_pr(SCORES, LABELS, 2, variant="original", thresholds=6)
    assert close(found, (plain + plain + soft) / 3)


@variants
def test_without_a_buffer_and_with_one_event_the_roc_is_the_usual_one(variant: VusVariant) -> None:
    # the whole event is found with its first hit: recall is the usual recall
    assert vus_roc(SCORES, LABELS, 0, variant=variant, thresholds=6) == pytest.approx(
        auroc(SCORES, LABELS)
    )


def test_without_a_buffer_and_with_one_event_tsb_ad_is_average_precision() -> None:
    assert vus_pr(SCORES, LABELS, 0, thresholds=6) == pytest.approx(
        average_precision(SCORES, LABELS)
    )


@variants
def test_an_alarm_beside_an_event_counts_only_with_a_buffer(variant: VusVariant) -> None:
    scores, labels = np.zeros(50), np.zeros(50, int)
    labels[20:25], scores[17:20] = 1, 1
    values = [vus_pr(scores, labels, window, variant=variant) for window in (0, 2, 6, 20)]
    assert values == sorted(values)
    assert values[-1] > values[0] + 0.2


@pytest.mark.parametrize("row", PEERS["volumes"], ids=lambda row: str(list(row.values())[:3]))
def test_volumes_are_those_of_the_package_named(row: dict[str, Any]) -> None:
    case = PEERS["series"][row["case"]]
    labels = [label for label, length in case["labels"] for _ in range(length)]
    found = volumes(case["scores"], labels, row["window"], variant=row["variant"])
    assert close(found, (row["roc"], row["pr"]))


def test_the_two_variants_differ() -> None:
    case = PEERS["series"]["many short events"]
    labels = [label for label, length in case["labels"] for _ in range(length)]
    first, second = (volumes(case["scores"], labels, 33, variant=v) for v in VARIANTS)
    assert abs(first.roc - second.roc) > 0.01
    assert abs(first.pr - second.pr) > 0.01


@variants
@pytest.mark.parametrize(("window", "thresholds"), [(0, 2), (1, 5), (4, 7), (9, 30)])
@awkward
def test_volumes_are_those_of_loops(
    scores: Any, labels: Any, window: int, thresholds: int, variant: VusVariant
) -> None:
    found = volumes(scores, labels, window, variant=variant, thresholds=thresholds)
    slow = volumes_oracle(list(scores), list(labels), window, variant, thresholds)
    assert close(found, slow)


@settings(max_examples=60, deadline=None)
@given(scored(), st.integers(0, 14), st.sampled_from(VARIANTS))
def test_volumes_are_those_of_loops_for_any_series(
    pair: Pair, window: int, variant: VusVariant
) -> None:
    found = volumes(*pair, window, variant=variant, thresholds=9)
    assert close(found, volumes_oracle(*pair, window, variant, 9))


@given(scored(both=True), st.integers(0, 30), st.sampled_from(VARIANTS))
def test_volumes_lie_between_0_and_1_and_depend_on_order_alone(
    pair: Pair, window: int, variant: VusVariant
) -> None:
    found = volumes(*pair, window, variant=variant)
    assert all(-1e-12 <= value <= 1 + 1e-12 for value in found)
    order = np.unique(pair[0], return_inverse=True)[1]
    assert volumes(np.exp(order / 9.0), pair[1], window, variant=variant) == found


@variants
def test_a_perfect_score_has_volumes_near_1_without_a_buffer(variant: VusVariant) -> None:
    labels = np.repeat([0, 1, 0], [100, 30, 70])
    assert volumes(labels.astype(float), labels, 0, variant=variant) == pytest.approx((1, 1))


@variants
def test_without_anomalies_both_are_undefined(variant: VusVariant) -> None:
    assert all(math.isnan(value) for value in volumes([1.0, 2.0], [0, 0], variant=variant))


@variants
def test_with_only_anomalies_the_roc_is_undefined_and_precision_is_1(variant: VusVariant) -> None:
    found = volumes([1.0, 2.0, 3.0], [1, 1, 1], variant=variant)
    assert math.isnan(found.roc)
    assert found.pr == pytest.approx(1)


def test_inputs_are_not_changed() -> None:
    scores, labels = np.array(SCORES), np.array(LABELS)
    scores.flags.writeable = labels.flags.writeable = False
    volumes(scores, labels)
    assert scores.tolist() == SCORES
    assert labels.tolist() == LABELS


@pytest.mark.parametrize(("scores", "message"), REFUSED_SCORES)
def test_scores_that_are_no_scores_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        volumes(scores, [0, 1, 0])


@pytest.mark.parametrize(
    ("setting", "value", "rule"),
    [
        ("window", -1, "a whole number of rows, 0 or more"),
        ("window", 2.5, "a whole number of rows, 0 or more"),
        ("window", True, "a whole number of rows, 0 or more"),
        ("thresholds", 1, "a whole number, 2 or more"),
        ("thresholds", None, "a whole number, 2 or more"),
        ("variant", "aeon", "one of ('tsb-ad', 'original')"),
    ],
)
def test_settings_are_checked(setting: str, value: Any, rule: str) -> None:
    with pytest.raises(InputError) as caught:
        volumes([1.0, 2.0], [0, 1], **{setting: value})
    assert str(caught.value) == f"{setting} must be {rule}; got {value!r}"


@variants
def test_no_loop_goes_over_rows(variant: VusVariant) -> None:
    def work(rows: int) -> int:
        labels = (np.arange(rows) % 1_000 < 60).astype(int)
        scores = np.random.default_rng(0).normal(size=rows) + labels
        return calls(lambda: volumes(scores, labels, 100, variant=variant))

    assert work(100_000) < 2 * work(5_000)
