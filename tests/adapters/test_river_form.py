"""river's own checks, and its rule that asking changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from river import checks, datasets
from sklearn.exceptions import NotFittedError

from subadjacent import InputError, PCADetector, StreamScorer
from subadjacent.adapters.river import RiverDetector
from subadjacent.data.plant import Plant


class Payments(datasets.base.SyntheticDataset):
    """Made-up rows in place of the credit card payments that river's checks would download.

    As there, rows have nothing to do with each other, and few of them are frauds. Checks ask for
    1,000 rows, one of them for ten times as many; they get 200, and 1,000.
    """

    def __init__(self) -> None:
        super().__init__(task=datasets.base.BINARY_CLF, n_features=5)

    def __iter__(self) -> Iterator[tuple[dict[str, float], int]]:
        return self.take(1_000)

    def take(self, k: int) -> Iterator[tuple[dict[str, float], int]]:
        rng = np.random.default_rng(2)
        for _ in range(min(k // 5, 1_000)):
            fraud = int(rng.random() < 0.02)
            row = rng.normal(size=5) + 4 * fraud
            yield dict(zip("abcde", row.tolist(), strict=True)), fraud


def named_checks(detector: RiverDetector) -> list[Any]:
    credit_card, datasets.CreditCard = datasets.CreditCard, Payments
    try:
        found = list(checks.yield_checks(detector))
    finally:
        datasets.CreditCard = credit_card
    return [pytest.param(check, id=f"{n}-{check.__name__}") for n, check in enumerate(found)]


@pytest.mark.parametrize("check", named_checks(RiverDetector()))
def test_the_form_keeps_the_contract_of_river(check: Callable[[Any], None]) -> None:
    check(RiverDetector().clone())


def with_a_spike(plant: Plant) -> list[dict[str, float]]:
    """Rows of which the one at 200 is far from all others."""
    rows = plant.base[:230].copy()
    rows[200] += 20 * plant.train.std(axis=0)
    return as_dicts(rows)


def as_dicts(rows: np.ndarray) -> list[dict[str, float]]:
    names = [f"channel_{number}" for number in range(rows.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in rows.tolist()]


@pytest.fixture(scope="module")
def fitted(plant: Plant) -> PCADetector:
    return PCADetector().fit(plant.train)


@pytest.mark.parametrize("with_detector", [False, True])
def test_scores_are_the_severities_of_our_stream(
    with_detector: bool, plant: Plant, fitted: PCADetector
) -> None:
    detector = fitted if with_detector else None
    rows = with_a_spike(plant)
    scorer = StreamScorer(detector)
    expected = [scorer.score_one(row)[0].severity for row in rows]
    adapter, scores = RiverDetector(detector), []
    for row in rows:
        scores.append(adapter.score_one(row))
        adapter.learn_one(row)
    assert scores == expected
    assert scores[200] > 1
    assert adapter.alarms == scorer.alarms != ()


def test_scoring_a_row_changes_no_later_score(plant: Plant) -> None:
    rows = as_dicts(plant.test[:150])
    plain, asked = RiverDetector(), RiverDetector()
    for number, row in enumerate(rows):
        plain_score = plain.score_one(row)
        # of other rows before and after, of the row itself twice, or never before it is learned
        if number % 3 == 1:
            asked.score_one(dict.fromkeys(row, 1e3))
        if number % 3 != 2:
            assert asked.score_one(row) == asked.score_one(row) == plain_score
        if number % 5 == 4:
            asked.score_one(dict.fromkeys(row, -1e3))
        plain.learn_one(row)
        asked.learn_one(row)
    assert asked.alarms == plain.alarms


def test_the_order_of_names_does_not_matter() -> None:
    adapter = RiverDetector()
    for minute in range(150):
        adapter.learn_one({"a": np.sin(minute / 5), "b": 3.0 + minute % 2})
    assert adapter.score_one({"b": 3.0, "a": 0.5}) == adapter.score_one({"a": 0.5, "b": 3.0})
    turned = RiverDetector()
    turned.learn_one({"b": 3.0, "a": 0.5})
    assert turned._learned.series[None].channels == ("a", "b")


def test_a_row_of_other_features_alone_is_one_of_missing_values(plant: Plant) -> None:
    missing, other = RiverDetector(), RiverDetector()
    for row in as_dicts(plant.train[:150]):
        missing.learn_one(row)
        other.learn_one(row)
    missing.learn_one(dict.fromkeys(row))
    other.learn_one({"another": 4.0})
    assert other.score_one(row) == missing.score_one(row)


def test_what_is_no_fitted_detector_is_refused() -> None:
    with pytest.raises(InputError, match="detector must be a fitted detector of subadjacent, or"):
        RiverDetector("pca")
    with pytest.raises(NotFittedError):
        RiverDetector(PCADetector())


def test_a_row_without_names_is_refused_with_the_way_out() -> None:
    for ask in (RiverDetector().score_one, RiverDetector().learn_one):
        with pytest.raises(InputError, match=r"must be one row, a dict .* got list: river\.stream"):
            ask([1.0, 2.0])  # type: ignore[arg-type]  # that is the test
