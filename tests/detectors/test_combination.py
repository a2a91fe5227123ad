"""The network and the plain views, added up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score
from subadjacent.detectors.combination import BAND, WEIGHT, Combination, NetworkResiduals
from subadjacent.detectors.members import TOTAL_WEIGHT, VIEWS
from subadjacent.scoring.standardised import averaged, learn_usual

from subadjacent import BandRidgeDetector, InputError, SubAdjacentDetector, load
from subadjacent.data.series import TrainSeries
from subadjacent.detectors.piecewise import PiecewiseScorer

QUICK: dict[str, Any] = {"recipe": "combined", "window": 20, "epochs": 1, "stride": 4}


def waves(rows: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    time = np.arange(rows)[:, None]
    return np.sin(time / [5.0, 8.0, 13.0]) + 0.05 * rng.normal(size=(rows, 3))


def bursts(rows: int) -> NDArray[np.float64]:
    """Still but for some rows now and then: on most, plain views have next to nothing to say."""
    rng = np.random.default_rng(5)
    values = 0.01 * rng.normal(size=(rows, 3))
    for first in range(100, rows, 400):
        values[first : first + 40] *= 100
    return values


@pytest.fixture(scope="module")
def fitted() -> SubAdjacentDetector:
    return SubAdjacentDetector(**QUICK).fit(waves(1500))


def test_a_network_counts_for_half_a_view_or_less() -> None:
    rows, rng = waves(400), np.random.default_rng(1)
    series = TrainSeries(rows)
    residuals = [rng.normal(size=rows.shape)]
    combination, _ = Combination.fit([series], NetworkResiduals([residuals], [300]))
    usual, (held_out,) = learn_usual([residuals[0][300:]], causal=False)
    plain = combination.views.surprise(series)[0]
    # as far as it is no louder than the views, on rows held out, in hundredths as they are
    loud = 100 * np.median(held_out.mean(axis=1))
    factor = min(1.0, 2 * combination.views.pooled.loudness.common / loud)
    network = factor * usual.surprise(residuals[0], causal=False)
    wanted = (TOTAL_WEIGHT * plain + WEIGHT * network) / (TOTAL_WEIGHT + WEIGHT)
    np.testing.assert_allclose(combination.surprise(series, residuals)[0], wanted)


def test_what_is_usual_for_the_network_comes_from_rows_it_did_not_learn_from() -> None:
    rows = waves(400)
    learned, held_back = np.full((300, 3), 1e-3), np.ones((100, 3))
    residuals = [np.concatenate([learned, held_back])]
    network = NetworkResiduals([residuals], [300])
    voice = Combination.fit([TrainSeries(rows)], network)[0].pooled
    assert voice is not None
    # single rows: averages near the ends are held back
    np.testing.assert_allclose(voice.usual.squares[0], 1.0)
    # a square as large as the usual one, on every scale, is one
    assert voice.typical == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_network_that_knows_nothing_hardly_matters(size: float) -> None:
    """Residuals without any relation to the rows, of whatever size, are usual and stay so."""
    rng = np.random.default_rng(0)
    train, test = waves(2000), waves(1000, seed=1)
    broken = np.zeros(1000, dtype=bool)
    for at in (200, 450, 700):
        broken[at : at + 30] = True
        test[at : at + 30, 1] = test[at, 1]
    blind = NetworkResiduals([[size * rng.normal(size=(2000, 3))]], [1600])
    series = TrainSeries(test)

    def ranking(network: NetworkResiduals | None) -> float:
        learned = Combination.fit([TrainSeries(train)], network)[0]
        residuals = None if network is None else [size * rng.normal(size=(1000, 3))]
        scores = averaged(learned.surprise(series, residuals)[0], 20, causal=False)
        return float(average_precision_score(broken, scores))

    assert ranking(None) > 0.8
    assert ranking(blind) > ranking(None) - 0.05


def test_a_network_that_is_loud_on_held_out_rows_is_turned_down() -> None:
    """Noise all along is as loud as can be; one that is silent but for a few rows is not."""
    rng, series = np.random.default_rng(3), TrainSeries(bursts(2000))
    calm = 0.01 * rng.normal(size=(2000, 3))
    calm[::97] = 1.0
    said = {}
    for name, residuals in (("noise", rng.normal(size=(2000, 3))), ("calm", calm)):
        learned, _ = Combination.fit([series], NetworkResiduals([[residuals]], [1000]))
        voice = learned.pooled
        assert voice is not None
        whole = voice.usual.surprise(residuals, causal=False)
        said[name] = learned.network_surprise(series, [residuals])[0].mean() / whole.mean()
    assert said["noise"] < 0.7
    assert said["calm"] == 1.0


def test_how_loud_a_network_is_must_fit_and_may_be_unknown() -> None:
    series, residuals = TrainSeries(bursts(600)), np.random.default_rng(4).normal(size=(600, 3))
    learned, _ = Combination.fit([series], NetworkResiduals([[residuals]], [300]))
    tensors, facts = learned.state()

    def restored(**others: Any) -> Combination:
        kept = {name: one for name, one in (tensors | others).items() if one is not None}
        return Combination.restore(kept, facts, ["a", "b", "c"], [])

    again, older = restored(), restored(loudness=None)
    found = learned.network_surprise(series, [residuals])[0]
    np.testing.assert_array_equal(again.network_surprise(series, [residuals])[0], found)
    # a folder that does not say has it as loud as it comes
    assert (older.network_surprise(series, [residuals])[0] > found).all()
    for bad in (tensors["loudness"].repeat(2), tensors["loudness"] * float("nan")):
        with pytest.raises(InputError, match="loudness must be finite and have shape"):
            restored(loudness=bad)


def test_the_decision_is_the_averaged_surprise(fitted: SubAdjacentDetector) -> None:
    rows = waves(300, seed=2)
    trace = fitted.trace(rows)[0]
    np.testing.assert_allclose(trace.decision, fitted.decision_function(rows))
    scaled = fitted.scalers_.of(None)
    residuals = scaled.apply(rows) - (trace.expected - scaled.center) / scaled.deviation
    surprise = fitted.combination_.surprise(trace.series, [residuals])[0]
    wanted = averaged(surprise, 20, causal=False) / fitted.levels_.pooled
    np.testing.assert_allclose(trace.decision, wanted, rtol=1e-3, atol=1e-3)


def test_a_broken_rhythm_is_found_and_explained(fitted: SubAdjacentDetector) -> None:
    rows = waves(600, seed=3)
    rows[300:330, 1] = rows[315, 1]
    assert 295 <= fitted.decision_function(rows).argmax() < 335
    worst = max(fitted.alarms(rows), key=lambda alarm: alarm.severity)
    assert worst.causes[0].channel == "channel_1"


def test_what_is_saved_scores_the_same(tmp_path: Path) -> None:
    detector = SubAdjacentDetector(**QUICK).fit({"a": waves(400), "b": waves(500, seed=1)})
    detector.save(tmp_path / "model")
    again = load(tmp_path / "model", device="cpu")
    rows = waves(120, seed=4)
    for entity in ("a", "b", "new"):
        np.testing.assert_array_equal(
            detector.decision_function({entity: rows})[entity],
            again.decision_function({entity: rows})[entity],
        )


def test_a_folder_whose_keys_were_laid_out_anew_scores_the_same(tmp_path: Path) -> None:
    detector = SubAdjacentDetector(**QUICK).fit({"z": waves(400), "a": 3 * waves(400, seed=1)})
    detector.save(tmp_path / "model")
    facts = tmp_path / "model" / "detector.json"
    facts.write_text(json.dumps(json.loads(facts.read_text()), sort_keys=True))
    again = load(tmp_path / "model", device="cpu")
    rows = {"z": waves(120, seed=4)}
    np.testing.assert_array_equal(
        detector.decision_function(rows)["z"], again.decision_function(rows)["z"]
    )


@pytest.mark.parametrize("part", [7, 90, 1000])
def test_parts_give_the_scores_of_the_whole(part: int) -> None:
    rows = pl.DataFrame(waves(500, seed=5), schema=["a", "b", "c"])
    detector = SubAdjacentDetector(**QUICK).fit(pl.DataFrame(waves(600), schema=rows.columns))
    scorer = PiecewiseScorer(detector)
    parts = [scorer.push(rows[at : at + part]) for at in range(0, len(rows), part)]
    scores = np.concatenate([*parts, scorer.finish()])
    np.testing.assert_allclose(scores, detector.decision_function(rows), rtol=1e-3, atol=1e-6)


def test_few_held_back_rows_and_short_entities_are_enough() -> None:
    detector = SubAdjacentDetector(**QUICK).fit({"long": waves(300), "short": waves(25, seed=6)})
    scores = detector.decision_function({"short": waves(30, seed=7)})["short"]
    assert np.isfinite(scores).all()


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(
        InputError, match="recipe must be one of combined, fast, network, paper; got"
    ):
        SubAdjacentDetector(recipe="best").fit(waves(100))


def test_the_band_of_the_views_is_not_the_network_s(fitted: SubAdjacentDetector) -> None:
    ridge = fitted.combination_.views.pooled.views[VIEWS.index("ridge")].ridge
    assert ridge is not None
    assert ridge.models[0].band == BAND
    assert fitted.band_ != BAND


def test_the_fast_recipe_is_the_ridge_detector_by_another_name(tmp_path: Path) -> None:
    rows = waves(300, seed=8)
    rows[200:220, 2] += 3
    fast = SubAdjacentDetector(recipe="fast").fit(waves(1500))
    ridge = BandRidgeDetector().fit(waves(1500))
    np.testing.assert_array_equal(fast.decision_function(rows), ridge.decision_function(rows))
    assert fast.threshold_ == ridge.threshold_
    assert fast.alarms(rows) == ridge.alarms(rows)
    assert not hasattr(fast, "network_")
    fast.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(rows), fast.decision_function(rows))


def test_fitting_anew_with_another_recipe_leaves_nothing_of_the_old_one() -> None:
    detector = SubAdjacentDetector(**QUICK).fit(waves(600))
    detector.set_params(recipe="fast").fit(waves(600))
    assert not hasattr(detector, "network_")
    detector.set_params(recipe="network").fit(waves(600))
    assert not hasattr(detector, "levels_")
    wanted = SubAdjacentDetector(**QUICK | {"recipe": "network"}).fit(waves(600))
    rows = waves(100, seed=10)
    np.testing.assert_array_equal(detector.decision_function(rows), wanted.decision_function(rows))


def test_the_fast_recipe_asks_for_as_many_rows_as_the_others() -> None:
    with pytest.raises(InputError, match="at least 8 rows; the longest series has 7"):
        SubAdjacentDetector(recipe="fast").fit(waves(7))
    assert np.isfinite(SubAdjacentDetector(recipe="fast").fit(waves(8)).threshold_)


def test_there_is_no_looking_into_a_network_that_is_not_there() -> None:
    fast = SubAdjacentDetector(recipe="fast").fit(waves(500))
    with pytest.raises(InputError, match="must have a network to look into"):
        fast.trace(waves(100))


def test_the_paper_s_recipe_is_the_network_with_the_paper_s_values() -> None:
    quick: dict[str, Any] = {"window": 20, "epochs": 1, "size": "small"}
    rows = waves(300, seed=9)
    paper = SubAdjacentDetector(recipe="paper", **quick).fit(waves(400))
    spelt_out = SubAdjacentDetector(
        recipe="network", stride=1, temperature=50, smoothing=1, dynamic="trailing", **quick
    ).fit(waves(400))
    np.testing.assert_array_equal(paper.decision_function(rows), spelt_out.decision_function(rows))
    again = SubAdjacentDetector(recipe="paper", **quick).fit(waves(400))
    np.testing.assert_array_equal(paper.decision_function(rows), again.decision_function(rows))
    assert paper.setting("size") == "small"
    assert SubAdjacentDetector(recipe="paper").setting("size") == "paper"
    assert SubAdjacentDetector().setting("size") == "small"
