"""Final scores as rows come: those of a batch."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from live_plant import CHANNELS, broken, gappy, plant
from subadjacent import SubAdjacentDetector
from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.method import State
from subadjacent.streaming.final_scores import FinalScores
from subadjacent.streaming.series import SeriesStream

Detectors = dict[str, BaseDetector]


def final_scores(detector: BaseDetector) -> FinalScores:
    return FinalScores(detector.models_.of(None), detector.fill_limit)


@pytest.mark.parametrize("kind", ["default", "pca"])
@pytest.mark.parametrize("size", [7, 400])
def test_scores_are_those_of_a_batch_across_stops(
    kind: str, size: int, detectors: Detectors
) -> None:
    detector, scores = detectors[kind], final_scores(detectors[kind])
    parts, rows = [], broken()[:700]
    for begin in range(0, len(rows), size):
        parts.append(scores.push(rows[begin : begin + size], []).score)
        state = scores.state()
        arrays = {name: array.copy() for name, array in state.arrays.items()}
        scores = final_scores(detector)
        scores.restore(State(arrays, json.loads(json.dumps(state.facts))))
    parts.append(scores.finish().score)
    expected = detector.decision_function(pd.DataFrame(rows, columns=list(CHANNELS))).to_numpy()
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-5, atol=1e-7)


def test_no_score_reaches_across_a_long_gap(detectors: Detectors) -> None:
    frame, scores = gappy(), final_scores(detectors["default"])
    found = [scores.push(frame.to_numpy(), [150]).score, scores.finish().score]
    expected = detectors["default"].decision_function(frame).to_numpy()
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-5, atol=1e-7)


def test_the_row_after_the_end_begins_a_new_segment(detectors: Detectors) -> None:
    scores, rows = final_scores(detectors["default"]), plant(120, seed=3)
    rows[50:60, 1] += 5
    scores.push(rows[:60], [])
    scores.finish()
    found = [scores.push(rows[60:], []).score, scores.finish().score]
    frame = pd.DataFrame(rows[60:], columns=list(CHANNELS))
    expected = detectors["default"].decision_function(frame).to_numpy()
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-5, atol=1e-7)


def test_a_row_is_final_once_as_many_rows_have_come_as_were_requested() -> None:
    lookahead = 5
    frame = pd.DataFrame(plant(800, seed=2), columns=list(CHANNELS))
    stream = SeriesStream(CHANNELS, SubAdjacentDetector(lookahead=lookahead).fit(frame))
    for number, row in enumerate(broken()[:300]):
        final = [one.row for one in stream.push(row) if one.final]
        if number >= 100:
            assert final == [number - lookahead]
