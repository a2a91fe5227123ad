"""What a stream takes from a fitted detector."""

from __future__ import annotations

import copy

import numpy as np
from subadjacent.streaming.fitted_model import FittedModel

from live_plant import CHANNELS, plant
from subadjacent.detectors.base import BaseDetector
from subadjacent.streaming.series import SeriesStream

Detectors = dict[str, BaseDetector]


def test_training_rows_come_with_their_scores_from_the_past_alone(detectors: Detectors) -> None:
    model = FittedModel(detectors["default"], CHANNELS, None)
    ((rows, scores),) = model.training()
    np.testing.assert_allclose(rows, plant(1500, seed=2), rtol=1e-5, atol=1e-5)
    causal = detectors["causal"].models_.of(None)
    np.testing.assert_allclose(scores, causal.assess(rows).score, rtol=1e-5, atol=1e-7)


def test_with_a_detector_the_first_row_is_judged_by_what_training_showed(
    detectors: Detectors,
) -> None:
    (alone,) = SeriesStream(CHANNELS).push(plant(1))
    warm = SeriesStream(CHANNELS, detectors["pca"]).push(plant(1))[0]
    assert alone.warm_up < 0.1
    assert warm.warm_up == 1
    # fitted on one series without a name, whatever it is to judge is that series
    named = SeriesStream(CHANNELS, detectors["pca"], "pump").push(plant(1))[0]
    assert (named.warm_up, named.severity) == (1, warm.severity)
    # where a detector kept no training rows, a stream begins as without one
    bare = copy.copy(detectors["pca"])
    bare.online_ = None
    assert SeriesStream(CHANNELS, bare).push(plant(1))[0].warm_up < 0.1


def test_only_a_model_that_looks_ahead_says_things_twice(detectors: Detectors) -> None:
    assert FittedModel(detectors["default"], CHANNELS, None).looks_ahead
    assert not FittedModel(detectors["causal"], CHANNELS, None).looks_ahead
