"""Volumes: by hand, in loops over buffers and thresholds, beside the packages named."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import awkward
from evaluation.awkward import AWKWARD, PEERS, Pair, of_peer, scored
from evaluation.slow import volumes_oracle
from subadjacent.evaluation.volume import VusVariant, volumes

VARIANTS: tuple[VusVariant, ...] = ("tsb-ad", "original")
# rows 2 and 3 are an event; the scores fall as 9 (row 1), 8 (row 2), 3 (row 4), 2, 1, 0
SCORES, LABELS = [1.0, 9.0, 8.0, 2.0, 3.0, 0.0], [0, 0, 1, 1, 0, 0]


close = partial(awkward.close, rel=1e-9)


def test_tsb_ad_by_hand() -> None:
    # buffers 0 and 1 leave the labels alone; hits 0 1 1 2 2 2 at alarms 1 2 3 4 5 6
    plain = 1 / 2 * 1 / 2 + 1 / 2 * 2 / 4
    # buffer 2 gives rows 1 and 4 a share c; row 1 comes first, row 4 third
    c = math.sqrt(1 / 2)
    credit = [c, c + 1, 2 * c + 1, 2 * c + 2, 2 * c + 2, 2 * c + 2]
    positives = [2 + c / 2, 2 + c / 2, 2 + c, 2 + c, 2 + c, 2 + c]
    recalls = [min(1, h / p) for h, p in zip(credit, positives, strict=True)]
    soft = sum((recalls[i] - (recalls[i - 1] if i else 0)) * credit[i] / (i + 1) for i in range(6))
    assert close(volumes(SCORES, LABELS, 2, thresholds=6).pr, (plain + plain + soft) / 3)


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
    found = volumes(SCORES, LABELS, 2, variant="original", thresholds=6).pr
    assert close(found, (plain + plain + soft) / 3)


def test_volumes_are_those_of_the_package_named() -> None:
    for row in PEERS["volumes"]:
        scores, _, labels = of_peer(row)
        found = volumes(scores, labels, row["window"], variant=row["variant"])
        assert close(found, (row["roc"], row["pr"])), row


@pytest.mark.parametrize("variant", VARIANTS)
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
