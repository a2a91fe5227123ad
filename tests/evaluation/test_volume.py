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
from evaluation.awkward import AWKWARD, Pair, scored
from evaluation.slow import volumes_oracle
from subadjacent.errors import InputError
from subadjacent.evaluation.volume import VusVariant, volumes, vus_pr

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


@pytest.mark.parametrize("row", PEERS["volumes"], ids=lambda row: str(list(row.values())[:3]))
def test_volumes_are_those_of_the_package_named(row: dict[str, Any]) -> None:
    case = PEERS["series"][row["case"]]
    labels = [label for label, length in case["labels"] for _ in range(length)]
    found = volumes(case["scores"], labels, row["window"], variant=row["variant"])
    assert close(found, (row["roc"], row["pr"]))


@variants
@pytest.mark.parametrize(("window", "thresholds"), [(0, 2), (1, 5), (9, 30)])
def test_volumes_are_those_of_loops(window: int, thresholds: int, variant: VusVariant) -> None:
    for scores, labels in AWKWARD:
        found = volumes(scores, labels, window, variant=variant, thresholds=thresholds)
        assert close(found, volumes_oracle(list(scores), list(labels), window, variant, thresholds))


@settings(max_examples=60, deadline=None)
@given(scored(), st.integers(0, 14), st.sampled_from(VARIANTS))
def test_volumes_are_those_of_loops_for_any_series(
    pair: Pair, window: int, variant: VusVariant
) -> None:
    found = volumes(*pair, window, variant=variant, thresholds=9)
    assert close(found, volumes_oracle(*pair, window, variant, 9))


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
