"""The Anomaly Transformer as a detector, and both networks without training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from subadjacent import (
    AnomalyTransformerDetector,
    InputError,
    ModelFileError,
    SubAdjacentTransformerDetector,
    load,
)
from subadjacent.data.plant import Plant
from subadjacent.detectors.method import choose_seed
from subadjacent.scoring.paper import weighted

SMALL: dict[str, Any] = {"window": 20, "epochs": 2, "stride": 4}
both_networks = pytest.mark.parametrize(
    "kind", [AnomalyTransformerDetector, SubAdjacentTransformerDetector]
)


def quick(**parameters: Any) -> AnomalyTransformerDetector:
    return AnomalyTransformerDetector(**SMALL | parameters)


def test_the_score_is_the_error_weighed_by_the_discrepancy_over_the_window(plant: Plant) -> None:
    detector = quick(temperature=0.5).fit(plant.train)
    rows = plant.test[:20]
    assessment = detector.assess(rows)
    error, discrepancy, score = (
        torch.from_numpy(assessment.traces[0][name]) for name in ("error", "contribution", "score")
    )
    torch.testing.assert_close(score, weighted(error, discrepancy, temperature=0.5))
    np.testing.assert_allclose(assessment.scores, score, rtol=1e-6)
    assert discrepancy.min() > 0


@pytest.mark.parametrize(
    "parameters",
    [
        {"attention": "linear"},
        {"dynamic": "trailing"},
        {"dynamic": "released", "block": 30},
        {"scoring_stride": 5, "smoothing": 3},
        {"precision": "bfloat16"},
    ],
    ids=str,
)
def test_every_option_gives_finite_scores_that_survive_saving(
    plant: Plant, tmp_path: Path, parameters: dict[str, Any]
) -> None:
    detector = quick(**parameters).fit(plant.train)
    scores = detector.decision_function(plant.test)
    assert scores.shape == (1000,)
    assert np.isfinite(scores).all()
    detector.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, AnomalyTransformerDetector)
    np.testing.assert_array_equal(again.decision_function(plant.test), scores)


@pytest.mark.parametrize("attention", ["softmax", "flash", None, []])
def test_an_unknown_attention_is_refused(plant: Plant, attention: Any) -> None:
    with pytest.raises(InputError, match="attention must be one of vanilla, linear; got"):
        quick(attention=attention).fit(plant.train)


def test_a_run_goes_on_from_its_checkpoint_and_not_from_another_networks(
    plant: Plant, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    first = quick(checkpoint=state).fit(plant.train)
    again = quick(checkpoint=state).fit(plant.train)
    np.testing.assert_array_equal(first.decision_scores_, again.decision_scores_)
    with pytest.raises(ModelFileError, match="made with other settings"):
        SubAdjacentTransformerDetector(
            **SMALL, size="small", attention_weight=3.0, checkpoint=state
        ).fit(plant.train)


# ---- without training


@both_networks
def test_without_epochs_the_network_keeps_its_initial_weights(
    kind: Any, plant: Plant, tmp_path: Path
) -> None:
    detector = kind(
        window=20, epochs=0, size="small", random_state=7, checkpoint=tmp_path / "state"
    ).fit(plant.train)
    # nothing to go on with
    assert list(tmp_path.iterdir()) == []
    assert detector.history_ == ()
    initial = type(detector.network_).seeded(detector.network_.config, choose_seed(7))
    for name, weight in initial.state_dict().items():
        assert torch.equal(detector.network_.state_dict()[name], weight)
    assert not detector.network_.training
    scores = detector.decision_function(plant.test)
    assert np.isfinite(scores).all()
    assert np.isfinite(detector.threshold_)
    detector.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(plant.test), scores)
