"""Conformal thresholds in a detector: p-values, alarms, saving, and what may be changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import subadjacent
from subadjacent import AdaptiveConformal, Conformal, SubAdjacentDetector
from subadjacent.data.entities import PerEntity
from subadjacent.decision.conformal import cluster_size, conformal_p_values
from subadjacent.decision.decision import Decision, RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.extremes import Tail
from subadjacent.decision.normal import NormalScores
from subadjacent.decision.trace_threshold import TraceThreshold
from subadjacent.errors import ModelFileError
from workflow.level import LevelDetector

NORMAL = PerEntity(NormalScores(0.0, 2.0, 1.0, 100, Tail(2.0, 0.0, 0.5, 0.01)), {})
EACH = [
    Conformal(),
    Conformal(0.05, block=20),
    AdaptiveConformal(0.02),
    AdaptiveConformal(0.1, 0.05, 40),
]

each = pytest.mark.parametrize("contamination", EACH, ids=str)


def rows(seed: int, n: int = 400) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2))


def decision(rule: Any, adapt_after: int | None = None) -> Decision:
    return Decision(TraceThreshold(rule.threshold_, rule, NORMAL), None, adapt_after)


def decided(by: Decision, scores: np.ndarray, **how: Any) -> RowDecisions:
    return by.decide(Evidence.of_scores(scores), **how)


@pytest.mark.parametrize("cluster", [None, 1, 2.5])
def test_p_values_are_those_among_held_out_scores(cluster: float | None) -> None:
    detector = LevelDetector(contamination=Conformal(0.05, cluster=cluster)).fit(rows(0))
    found = detector.assess(rows(1))
    (held_out,) = detector.held_out_scores_
    # up to 1 % higher where there are more than a hundred as high
    expected = conformal_p_values(held_out, found.scores, cluster or cluster_size(held_out))
    np.testing.assert_allclose(found.p_values, expected, rtol=0.011)
    # the hundred highest are told exactly, but for rounding
    rare = expected < 0.2
    np.testing.assert_allclose(found.p_values[rare], expected[rare], rtol=1e-12)
    np.testing.assert_array_equal(found.anomalous, found.p_values <= 0.05)
    assert len(held_out) == detector.held_out_rows_ == 400


def test_p_values_come_in_the_shape_of_the_input() -> None:
    detector = LevelDetector(contamination=Conformal(0.05)).fit({"a": rows(0), "b": rows(1)})
    found = detector.assess({"a": rows(2, 50), "b": rows(3, 60)}).p_values
    assert {name: len(values) for name, values in found.items()} == {"a": 50, "b": 60}


def test_without_a_conformal_threshold_there_are_no_p_values() -> None:
    detector = LevelDetector(contamination=Conformal(0.05)).fit(rows(0))
    assert LevelDetector(contamination=0.05).fit(rows(0)).assess(rows(1)).p_values is None
    detector.threshold_ = 3.0
    assert detector.assess(rows(1)).p_values is None


def test_rows_between_alarms_are_added_to_blocks_but_not_to_a_share_of_rows() -> None:
    scores = np.zeros(60)
    scores[[20, 25]] = 99.0
    normal = np.linspace(0, 1, 200)
    for rule, expected in (
        (Conformal(0.05, cluster=1), [20, 25]),
        (AdaptiveConformal(0.05), [20, 25]),
        (Conformal(0.2, block=20, cluster=1), list(range(20, 26))),
    ):
        found = decided(decision(rule.fit(normal)), scores)
        assert np.flatnonzero(found.anomalous).tolist() == expected


def test_an_adaptive_level_is_followed_row_by_row_in_the_decision() -> None:
    rng = np.random.default_rng(0)
    rule = AdaptiveConformal(0.05).fit(rng.normal(size=300))
    scores = rng.normal(size=500) * np.linspace(1, 3, 500)
    found = decided(decision(rule), scores)
    np.testing.assert_array_equal(found.rows.threshold, rule.follow(scores).levels)
    np.testing.assert_array_equal(found.anomalous, rule.predict(scores))
    np.testing.assert_array_equal(found.p_values, rule.follow(scores).p_values)
    np.testing.assert_array_equal(found.severity > 1, found.anomalous)
    assert len(np.unique(found.rows.threshold)) > 10


def test_rows_without_values_are_left_out_of_what_is_followed() -> None:
    rng = np.random.default_rng(0)
    rule = AdaptiveConformal(0.05).fit(rng.normal(size=300))
    scores, silent = rng.normal(size=200), np.zeros(200, dtype=bool)
    silent[50:80] = True
    scores[silent] = 1e6
    found = decided(decision(rule), scores, silent=silent)
    np.testing.assert_array_equal(
        found.rows.threshold[~silent], rule.follow(scores[~silent]).levels
    )
    assert found.anomalous[silent].all()
    # all of them silent, and none at all
    assert decided(decision(rule), scores[:5], silent=np.ones(5, dtype=bool)).p_values is None
    assert decided(decision(rule), scores[:0]).anomalous.tolist() == []
    assert decided(decision(Conformal(0.1).fit(scores)), scores[:0]).anomalous.tolist() == []


@pytest.mark.parametrize("adapt_after", [None, 20])
def test_what_the_series_did_lately_only_ever_raises_p_values(adapt_after: int | None) -> None:
    rng = np.random.default_rng(0)
    rule = Conformal(0.05).fit(rng.normal(size=500))
    scores = rng.normal(size=500) + np.repeat([0, 4], 250)
    plain = decided(decision(rule), scores).p_values
    found = decided(decision(rule, adapt_after), scores).p_values
    assert plain is not None
    assert found is not None
    assert (found >= plain).all()
    assert (found > plain).any() == (adapt_after is not None)


def test_alarms_of_the_default_keep_their_share_where_rows_are_normal() -> None:
    shares = []
    for seed in range(4):
        values = rows(seed, 4000)
        fitted = SubAdjacentDetector(contamination=Conformal(0.02)).fit(values[:2000])
        shares.append(np.mean(fitted.predict(values[2000:])))
    # scores are means over 20 rows: so few fits stray, but not far
    assert np.mean(shares) < 0.04


@each
def test_a_saved_detector_comes_back_with_its_p_values(contamination: Any, tmp_path: Path) -> None:
    detector = SubAdjacentDetector(contamination=contamination, views=("level",)).fit(rows(0))
    detector.save(tmp_path / "model")
    loaded = subadjacent.load(tmp_path / "model")
    assert loaded.contamination == detector.contamination
    assert vars(loaded.threshold_rule_) == vars(detector.threshold_rule_)
    before, after = detector.assess(rows(1)), loaded.assess(rows(1))
    np.testing.assert_array_equal(after.p_values, before.p_values)
    np.testing.assert_array_equal(after.anomalous, before.anomalous)
    np.testing.assert_array_equal(after.thresholds, before.thresholds)


def forge(folder: Path, change: Any) -> None:
    """Change the threshold's facts and seal them anew, as someone who knows how would."""
    from subadjacent.detectors.integrity import seal

    file = folder / "detector.json"
    facts = json.loads(file.read_text())
    change(facts["threshold_rule"])
    facts["sealed"]["threshold_rule"] = seal({"rule": facts["threshold_rule"]})["rule"]
    file.write_text(json.dumps(facts))


FORGED: list[tuple[Any, Callable[[dict[str, Any]], object], str]] = [
    (Conformal(0.05), lambda rule: rule["levels_"].reverse(), "levels_ must be in order"),
    (Conformal(0.05), lambda rule: rule.update(levels_=["a"]), "levels_ must be a finite number"),
    (Conformal(0.05), lambda rule: rule.pop("counts_"), "counts_ must be a list"),
    (Conformal(0.05), lambda rule: rule["settings"].update(alpha=7), "alpha must be a finite"),
    (Conformal(0.05), lambda rule: rule["settings"].update(alpha=0.2), "threshold_ must be the"),
    (AdaptiveConformal(0.05), lambda rule: rule.update(recent_=[1.0]), "recent_ must be at most"),
    (
        AdaptiveConformal(0.05),
        lambda rule: rule["settings"].update(memory=10**12),
        "memory must be a whole number of at most 1,000,000",
    ),
]


def test_tampered_values_are_refused(tmp_path: Path) -> None:
    for contamination, change, message in FORGED:
        detector = SubAdjacentDetector(contamination=contamination, views=("level",))
        detector.fit(rows(0)).save(tmp_path / "model")
        forge(tmp_path / "model", lambda _: None)
        assert subadjacent.load(tmp_path / "model").threshold_rule_.alpha == 0.05
        forge(tmp_path / "model", change)
        with pytest.raises(ModelFileError, match=message):
            subadjacent.load(tmp_path / "model")


@pytest.mark.parametrize(("lookahead", "held_out"), [(30, 400), (0, 200)])
def test_too_few_rows_are_warned_of_once(
    lookahead: int, held_out: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Also by a detector with online models beside it, whose threshold is another."""
    fitted = SubAdjacentDetector(contamination=Conformal(0.001), lookahead=lookahead).fit(rows(0))
    assert fitted.threshold_ == sys.float_info.max
    (message,) = [one.getMessage() for one in caplog.records if "chance" in one.getMessage()]
    assert message.startswith("a chance of 0.1% needs at least ")
    assert f"and there are {held_out}: no row can be an alarm; fit on more rows" in message
