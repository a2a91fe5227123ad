"""What is known of normal scores: by hand, of entities with few rows, saved and loaded."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import EXCURSION_GAP, MIN_ROWS, NormalScores, normal_scores
from subadjacent.errors import InputError


def test_normal_scores_by_hand() -> None:
    found = NormalScores.of(np.arange(101.0))
    # 99 and 100 are above the quantile of 0.98, 98, and are one excursion, which rises by 2
    assert (found.typical, found.high, found.rows) == (50.0, 99.0, 101)
    assert found.spread == pytest.approx(np.sqrt((101**2 - 1) / 12))
    assert found.tail == Tail(98.0, shape=0.0, scale=2.0, rate=1 / 101)


def test_rows_far_enough_apart_are_excursions_of_their_own() -> None:
    for apart, rate in ((EXCURSION_GAP - 1, 1 / 500), (EXCURSION_GAP, 2 / 500)):
        scores = np.zeros(500)
        scores[[100, 100 + apart]] = 1.0
        assert NormalScores.of(scores).tail.rate == rate


def test_entities_with_enough_rows_are_known_by_themselves_by_hand() -> None:
    few, enough, many = np.full(MIN_ROWS - 1, 3.0), np.full(MIN_ROWS, 5.0), np.full(401, 7.0)
    found = normal_scores(["few", "enough", "many"], [few, enough, many])
    assert found.of("enough") == NormalScores.of(enough)
    assert found.of("many") == NormalScores.of(many)
    # most rows score 7; a series has 100 of them, if it is like the one in the middle
    spread = float(np.std(np.concatenate([few, enough, many])))
    assert found.pooled == NormalScores(7.0, 7.0, spread, 100, Tail(7.0, 0, 0, 0))
    assert found.of("few") == found.of("never seen") == found.of(None) == found.pooled


def test_strangers_count_as_at_least_as_long_as_tells_something() -> None:
    assert normal_scores(["a"], [np.arange(9.0)]).pooled.rows == MIN_ROWS
    assert normal_scores(["a", "b"], [np.arange(300.0), np.arange(500.0)]).pooled.rows == 400


def test_a_series_without_a_name_is_what_all_rows_say() -> None:
    scores = np.random.default_rng(0).exponential(size=1000)
    found = normal_scores([None], [scores])
    assert found.by_entity == {}
    assert found.of(None) == NormalScores.of(scores)


@pytest.mark.parametrize(
    "scores",
    [[1.0], [1.0, 2.0], [4.0] * 300, np.random.default_rng(0).standard_t(3, size=4000)],
    ids=len,
)
def test_what_is_saved_comes_back(scores: Any) -> None:
    before = NormalScores.of(np.asarray(scores))
    assert NormalScores.from_dict(json.loads(json.dumps(before.to_dict()))) == before


NORMAL = NormalScores(1.0, 2.0, 0.5, 100, Tail(1.5, 0.0, 0.2, 0.01))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("typical", np.nan, "typical must be a finite number; got nan"),
        ("high", "3", "high must be a finite number; got '3'"),
        ("spread", -1.0, "spread must be a finite number of at least 0; got -1.0"),
        ("rows", 0, "rows must be a whole number of at least 1; got 0"),
        ("rows", 1.5, "rows must be a whole number of at least 1; got 1.5"),
    ],
)
def test_what_no_scores_are_like_is_refused(field: str, value: Any, message: str) -> None:
    for build in (
        lambda: replace(NORMAL, **{field: value}),
        lambda: NormalScores.from_dict(asdict(NORMAL) | {field: value}),
    ):
        with pytest.raises(InputError) as caught:
            build()
        assert str(caught.value) == message
