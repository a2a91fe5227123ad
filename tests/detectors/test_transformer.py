"""What a user sees of the paper's detector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from subadjacent import (
    AnomalyTransformerDetector,
    ModelFileError,
    Progress,
    SubAdjacentTransformerDetector,
    load,
)
from subadjacent.core.band import Band
from subadjacent.data.plant import Plant
from subadjacent.networks.subadjacent import SubAdjacentTransformer

SMALL: dict[str, Any] = {"size": "tiny", "window": 20, "epochs": 2, "stride": 4}
KINDS = [SubAdjacentTransformerDetector, AnomalyTransformerDetector]
every_kind = pytest.mark.parametrize("kind", KINDS)


def quick(**parameters: Any) -> SubAdjacentTransformerDetector:
    return SubAdjacentTransformerDetector(**SMALL | parameters)


@pytest.fixture(scope="module")
def fitted(plant: Plant) -> SubAdjacentTransformerDetector:
    """Tests must not change it."""
    return quick().fit(plant.train)


def test_the_defaults_are_the_papers() -> None:
    parameters = SubAdjacentTransformerDetector().get_params()
    assert " ".join(parameters) == (
        "adapt_after attention attention_weight batch_size block checkpoint clip "
        "contamination decay device dynamic epochs far fill_limit learning_rate "
        "max_training_time memory near patience precision random_state scoring_stride size "
        "smoothing stride temperature validation_fraction window"
    )
    assert (parameters["size"], parameters["stride"], parameters["smoothing"]) == ("paper", 1, 1)
    assert (parameters["temperature"], parameters["dynamic"]) == (50.0, "trailing")


def test_long_data_gets_the_papers_window_and_band(plant: Plant) -> None:
    detector = SubAdjacentTransformerDetector(size="tiny", epochs=0).fit(plant.train)
    assert detector.window_ == 100
    assert detector.band_ == Band(20, 30)
    assert isinstance(detector.network_, SubAdjacentTransformer)
    short = SubAdjacentTransformerDetector(size="tiny", epochs=0).fit(plant.train[:300])
    assert short.window_ == 75
    assert short.band_ == Band(15, 22)


def test_an_assessment_shows_what_led_to_the_scores(
    fitted: SubAdjacentTransformerDetector, plant: Plant
) -> None:
    assessment = fitted.assess(plant.test)
    (traces,) = assessment.traces
    assert set(traces) == {"error", "contribution", "score"}
    assert ((traces["contribution"] > 0) & (traces["contribution"] < 2)).all()
    expected = assessment.expected
    assert expected.shape == plant.test.shape
    # in the data's own units
    correlation = np.corrcoef(expected[:, 0], plant.test[:, 0])[0, 1]
    assert correlation > 0.5


def test_a_gap_in_the_clock_is_never_bridged_by_a_window(plant: Plant) -> None:
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(1000), unit="min")
    later = times[:500].append(times[500:] + pd.Timedelta("3h"))
    detector = quick(dynamic="none").fit(pd.DataFrame(plant.train, index=later))
    whole = detector.decision_function(pd.DataFrame(plant.test, index=later))
    parts = [
        detector.decision_function(pd.DataFrame(plant.test[rows], index=later[rows]))
        for rows in (slice(0, 500), slice(500, 1000))
    ]
    np.testing.assert_allclose(whole, np.concatenate(parts), rtol=1e-4)


def test_the_training_comes_back_with_a_saved_network(
    fitted: SubAdjacentTransformerDetector, tmp_path: Path
) -> None:
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model", device="cpu")
    assert again.history_ == fitted.history_
    np.testing.assert_array_equal(again.usual_error_, fitted.usual_error_)


def test_a_fit_that_was_interrupted_goes_on_from_its_checkpoint(
    plant: Plant, tmp_path: Path
) -> None:
    state = tmp_path / "state"

    def stop(progress: Progress) -> None:
        if progress.note.startswith("epoch 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(checkpoint=state).fit(plant.train, watch=stop)
    seen: list[Progress] = []
    resumed = quick(checkpoint=state).fit(plant.train, watch=seen.append)
    assert seen[0].note.startswith("epoch 2")
    np.testing.assert_array_equal(
        resumed.decision_scores_, quick().fit(plant.train).decision_scores_
    )
    with pytest.raises(ModelFileError, match="made with other settings"):
        quick(checkpoint=state, attention_weight=3.0).fit(plant.train)


def test_fitting_depends_on_the_seed_and_not_on_torchs_own_generator(plant: Plant) -> None:
    scores = []
    for drawn in (0, 3):
        state = torch.get_rng_state()
        torch.rand(drawn)
        scores.append(quick(random_state=5).fit(plant.train).decision_scores_)
        torch.set_rng_state(state)
    np.testing.assert_array_equal(*scores)
    other = quick(random_state=6).fit(plant.train).decision_scores_
    assert not np.allclose(scores[0], other)


@every_kind
def test_nothing_is_known_before_fitting(kind: Any, plant: Plant) -> None:
    detector = kind()
    with pytest.raises(NotFittedError):
        detector.decision_function(plant.test)
    for name in ("network_", "window_", "history_", "usual_error_"):
        assert not hasattr(detector, name)
