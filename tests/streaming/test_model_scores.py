"""Rows that wait for the end of a gap are filled as a batch fills them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from subadjacent.streaming.model_scores import ModelScores

from subadjacent import PCADetector, SubAdjacentDetector

NAN = np.nan


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


@pytest.mark.parametrize("kind", [PCADetector, SubAdjacentDetector])
def test_without_a_causal_twin_a_row_is_scored_as_the_last_of_its_segment(kind: Any) -> None:
    rng = np.random.default_rng(0)
    detector = kind().fit(rng.normal(size=(600, 2)))
    rows = rng.normal(size=(12, 2))
    scores = ModelScores(detector.models_.of(None), None, 10)
    found = scores.at_once(rows, np.zeros(rows.shape, bool), start=False)
    expected = [detector.decision_function(rows[: row + 1])[-1] for row in range(len(rows))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_stands_in_for_a_channel_that_is_missing_for_long_is_what_is_typical() -> None:
    rng = np.random.default_rng(0)
    model = PCADetector().fit(5 + rng.normal(size=(600, 2))).models_.of(None)
    rows = 5 + rng.normal(size=(12, 2))
    missing = np.zeros(rows.shape, bool)
    missing[4:8, 1] = True
    carried, typical = rows.copy(), rows.copy()
    carried[4:8, 1], typical[4:8, 1] = 99.0, model.typical_values[1]
    found = ModelScores(model, None, 2).at_once(carried, missing)
    np.testing.assert_allclose(found[4:8], model.assess(typical[4:8]).score, rtol=1e-6)
    np.testing.assert_allclose(found[8:], model.assess(rows[8:]).score, rtol=1e-6)


def test_a_stop_within_a_long_gap_changes_no_score() -> None:
    rng = np.random.default_rng(0)
    model = SubAdjacentDetector(lookahead=0).fit(rng.normal(size=(600, 2))).models_.of(None)
    rows, missing = rng.normal(size=(12, 2)), np.zeros((12, 2), bool)
    missing[4:8, 1] = True
    expected = ModelScores(model, None, 2).at_once(rows, missing)
    first, second = ModelScores(model, None, 2), ModelScores(model, None, 2)
    found = [first.at_once(rows[:6], missing[:6])]
    second.restore(first.state())
    found.append(second.at_once(rows[6:], missing[6:]))
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9)
