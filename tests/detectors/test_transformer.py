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
    InputError,
    ModelFileError,
    Progress,
    SubAdjacentTransformerDetector,
    load,
    multivariate,
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


def test_rows_go_through_the_network_once(
    fitted: SubAdjacentTransformerDetector, plant: Plant
) -> None:
    run: list[int] = []
    hook = fitted.network_.register_forward_hook(
        lambda _network, inputs, _output: run.append(len(inputs[0]))
    )
    try:
        assessment = fitted.assess(plant.test)
        assessment.alarms()
        assert assessment.scores.shape == (1000,)
        assert assessment.by_channel.shape == (1000, 4)
    finally:
        hook.remove()
    # 1,000 rows are 50 windows of 20
    assert sum(run) == 50


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


def test_the_disturbed_channel_of_twenty_is_named_first() -> None:
    plant = multivariate(n=1_200, channels=20, seed=8)
    detector = quick(temperature=0.0, dynamic="none").fit(plant.train)
    spiked = plant.base.copy()
    spiked[500:506, 13] += 8 * plant.train[:, 13].std()
    worst = max(detector.alarms(spiked), key=lambda alarm: alarm.severity)
    assert worst.causes[0].channel == "channel_13"
    assert 490 <= worst.first <= worst.last <= 515


def test_attention_around_a_row_is_that_of_the_window_it_is_scored_by(
    fitted: SubAdjacentTransformerDetector, plant: Plant
) -> None:
    (series,) = fitted.assess(plant.test).series
    first, matrix = fitted.attention_around(series, 107)
    assert first == 100
    assert matrix.shape == (20, 20)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-4)


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


def test_fitting_can_be_watched(plant: Plant) -> None:
    seen: list[Progress] = []
    quick().fit(plant.train, watch=seen.append)
    assert {one.stage for one in seen} == {"training"}
    assert seen[-1].done == seen[-1].total


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


def test_a_time_limit_stops_training_early(plant: Plant) -> None:
    detector = quick(epochs=50, max_training_time=1e-6).fit(plant.train)
    assert len(detector.history_) == 1
    assert not detector.history_[0].complete


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 1}, "window must be a whole number of at least 2"),
        ({"size": "large"}, "size must be one of tiny, small, paper; got 'large'"),
        ({"precision": "float16"}, "precision must be one of auto, float32, bfloat16"),
        ({"device": "tpu"}, "device must be 'auto', 'cpu', 'cuda' or 'mps'"),
        ({"random_state": "x"}, "random_state must be None, a whole number"),
        ({"fill_limit": -1}, "fill_limit must be a whole number of at least 0"),
        ({"contamination": 2.0}, "contamination must be"),
    ],
    ids=str,
)
def test_a_bad_parameter_is_refused_by_fit(
    parameters: dict[str, Any], message: str, plant: Plant
) -> None:
    with pytest.raises(InputError, match=message):
        quick(**parameters).fit(plant.train)


@every_kind
def test_nothing_is_known_before_fitting(kind: Any, plant: Plant) -> None:
    detector = kind()
    with pytest.raises(NotFittedError):
        detector.decision_function(plant.test)
    for name in ("network_", "window_", "history_", "usual_error_"):
        assert not hasattr(detector, name)
