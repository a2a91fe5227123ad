"""The ridge detector: strict, quick, and the same row by row as at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from subadjacent import BandRidgeDetector, InputError, ModelFileError, load


def waves(rows: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(time / [5.0, 8.0, 13.0]) + 0.05 * rng.normal(size=(rows, 3))


@pytest.fixture(scope="module")
def fitted() -> BandRidgeDetector:
    return BandRidgeDetector().fit(waves(3000))


def test_a_stretch_out_of_step_scores_highest_though_in_range(fitted: BandRidgeDetector) -> None:
    series = waves(1000, seed=1)
    series[500:530, 1] = series[515, 1]
    scores = fitted.decision_function(series)
    assert 500 <= scores.argmax() < 530
    alarm = fitted.alarms(series)[0]
    assert alarm.causes[0].channel == "channel_1"


def test_a_level_that_moved_for_good_does_not_hide_what_follows(fitted: BandRidgeDetector) -> None:
    series = waves(2000, seed=2)
    series[700:] += 60.0
    series[1500:1520, 0] += 3.0
    scores = fitted.decision_function(series)
    after = scores[1200:]
    assert 1500 - 10 <= 1200 + after.argmax() < 1520 + 10


def test_the_ends_of_a_series_are_judged_from_the_side_that_is_there(
    fitted: BandRidgeDetector,
) -> None:
    series = waves(1000, seed=11)
    scores = fitted.decision_function(series)
    ends, middle = np.concatenate([scores[:30], scores[-30:]]), scores[100:900]
    assert np.median(ends) < 3 * np.median(middle)
    series[-12:-4, 0] = 0.9
    assert fitted.decision_function(series).argmax() > 970


def test_scores_of_normal_rows_stay_below_the_threshold(fitted: BandRidgeDetector) -> None:
    assert fitted.predict(waves(5000, seed=3)).mean() < 0.01


def test_causal_scores_do_not_depend_on_rows_to_come() -> None:
    detector = BandRidgeDetector(causal=True).fit(waves(1500))
    series = waves(600, seed=4)
    whole = detector.decision_function(series)
    for stop in (1, 5, 40, 333):
        np.testing.assert_allclose(
            detector.decision_function(series[:stop]), whole[:stop], rtol=1e-4, atol=1e-7
        )


def test_causal_alarms_do_not_go_away_when_more_rows_come() -> None:
    detector = BandRidgeDetector(causal=True).fit(waves(1500))
    series = waves(600, seed=4)
    series[300:306, 0] += 4
    series[340:380, 1] += 9
    early = detector.alarms(series[:330])
    assert early
    assert {alarm.first for alarm in early} <= {alarm.first for alarm in detector.alarms(series)}


def test_training_scores_are_of_rows_not_learned_from() -> None:
    noise = np.random.default_rng(5).normal(size=(150, 6))
    detector = BandRidgeDetector().fit(noise)
    # more features than rows: rows that were learned from would be explained away
    unseen = detector.decision_function(np.random.default_rng(6).normal(size=(150, 6)))
    assert np.median(detector.decision_scores_) == pytest.approx(np.median(unseen), rel=0.5)


# with 50 rows, ridges that look one way learn from 20 of each stretch, and not quite enough
@pytest.mark.parametrize(
    ("stretch", "most"), [(25, 0.02), (35, 0.02), (50, 0.1), (70, 0.02), (120, 0.02)]
)
def test_gaps_in_the_training_rows_do_not_make_normal_rows_alarms(
    stretch: int, most: float
) -> None:
    """Stretches too short for some model, or for all of them, leave those silent."""
    rows = waves(2400)
    # every so many rows, a pause of a day
    times = np.arange(len(rows)) * 60 + np.arange(len(rows)) // stretch * 86_400
    frame = pd.DataFrame(rows, index=pd.to_datetime(times, unit="s"))
    detector = BandRidgeDetector(contamination=0.01).fit(frame)
    assert detector.predict(waves(2000, seed=12)).mean() < most


def test_values_expected_at_the_ends_are_those_of_the_models(fitted: BandRidgeDetector) -> None:
    series = waves(400, seed=13)
    series[-1, 0] += 5.0
    alarm = max(fitted.alarms(series), key=lambda one: one.last)
    cause = next(one for one in alarm.causes if one.channel == "channel_0")
    assert cause.seen == pytest.approx(series[-1, 0])
    assert abs(cause.expected - waves(400, seed=13)[-1, 0]) < 0.5


def test_entities_have_models_of_their_own_and_a_stranger_gets_the_common_one() -> None:
    fast, slow = waves(1200), np.sin(np.arange(1200)[:, None] / [40.0, 50.0, 60.0])
    detector = BandRidgeDetector().fit({"fast": fast, "slow": slow})
    assert set(detector.views_.by_entity) == {"fast", "slow"}
    normal = detector.decision_function({"fast": waves(400, seed=7)})["fast"]
    swapped = detector.decision_function({"slow": waves(400, seed=7)})["slow"]
    assert np.median(swapped) > 2 * np.median(normal)
    stranger = detector.decision_function({"new": waves(400, seed=8)})["new"]
    assert np.isfinite(stranger).all()


def test_what_is_saved_scores_the_same(fitted: BandRidgeDetector, tmp_path: Path) -> None:
    series = waves(300, seed=9)
    for name, detector in (
        ("one", fitted),
        ("two", BandRidgeDetector(causal=True).fit({"a": waves(500), "b": waves(600, seed=1)})),
    ):
        detector.save(tmp_path / name)
        again = load(tmp_path / name)
        asked: Any = series if name == "one" else {"b": series, "c": series}
        wanted, found = detector.decision_function(asked), again.decision_function(asked)
        for key in [None] if name == "one" else ["b", "c"]:
            left, right = (wanted, found) if key is None else (wanted[key], found[key])
            np.testing.assert_array_equal(left, right)


def test_arrays_that_do_not_fit_are_refused(fitted: BandRidgeDetector, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    settings = (tmp_path / "model" / "config.json").read_text()
    (tmp_path / "model" / "config.json").write_text(settings.replace('"far": 30', '"far": 20'))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


def test_explanations_are_squares_in_units_of_the_usual(fitted: BandRidgeDetector) -> None:
    series = waves(600, seed=10)
    series[300:320, 2] += 4.0
    explained = np.asarray(fitted.explain(series))
    assert explained.shape == series.shape
    assert explained[310].argmax() == 2
    assert explained[310, 2] > 10
    assert np.median(explained) < 3


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"near": 0}, "near must be"),
        ({"near": 9, "far": 4}, "near <= far"),
        ({"smoothing": 0}, "smoothing must be"),
        ({"causal": "yes"}, "causal must be True or False; got 'yes'"),
        ({"fill_limit": -1}, "fill_limit must be"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        BandRidgeDetector(**parameters).fit(waves(200))
