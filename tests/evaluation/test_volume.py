"""Volumes: in loops over buffers and thresholds, beside the packages named."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import awkward
from evaluation.awkward import AWKWARD, PEERS, Pair, of_peer, scored
from evaluation.slow import volumes_oracle
from subadjacent.evaluation.volume import VusVariant, volumes

VARIANTS: tuple[VusVariant, ...] = ("tsb-ad", "original")
close = partial(awkward.close, rel=1e-9)


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
