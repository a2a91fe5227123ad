"""The online models beside a detector: what a detector with ``lookahead=0`` has itself."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from detectors.waves import waves
from subadjacent import SubAdjacentDetector, SubPCADetector
from subadjacent.data.entities import PerEntity
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import ModelFileError
from subadjacent.methods.method import Model
from subadjacent.methods.online.model import OnlineModel
from subadjacent.streaming.scorer import StreamScorer

ENTITIES = {"a": waves(900), "b": 3 * waves(700, seed=1) + 5}
NAMES = ("a", "b", "never seen")


@cache
def fitted(lookahead: int | str) -> SubAdjacentDetector:
    return SubAdjacentDetector(lookahead=lookahead).fit(ENTITIES)


def beside(detector: BaseDetector) -> PerEntity[Model]:
    assert detector.online_ is not None
    return detector.online_


@pytest.mark.parametrize("lookahead", ["full", 7])
def test_they_are_the_learner_alone_whatever_the_detector(lookahead: int | str) -> None:
    found, wanted = beside(fitted(lookahead)), beside(SubPCADetector().fit(ENTITIES))
    rows = waves(300, seed=2)
    for name in NAMES:
        own, other = found.of(name).assess(rows), wanted.of(name).assess(rows)
        np.testing.assert_array_equal(own.score, other.score)
        np.testing.assert_array_equal(own.log_period, other.log_period)
        assert found.of(name).reach.after == 0


def test_rows_that_come_one_by_one_get_both_scores() -> None:
    """The first at once, the second when its look-ahead has come."""
    detector, rows = fitted(7), waves(60, seed=3)
    both = {"a": rows, "b": rows}
    at_once = beside(detector).of("a").stream()
    provisional = [at_once.push(row[None]).score.item() for row in rows]
    alone = beside(detector).of("a").assess(rows).score
    np.testing.assert_allclose(provisional, alone, rtol=1e-9)
    later = detector.models_.of("a").stream()
    final = [score for row in rows for score in later.push(row[None]).score]
    assert 0 < len(final) < len(rows)
    final.extend(later.finish().score)
    np.testing.assert_array_equal(final, detector.decision_function(both)["a"])


def test_one_that_looks_back_only_has_none_and_others_have_a_learner() -> None:
    assert fitted(0).online_ is None
    found = beside(SubPCADetector().fit(waves(200))).pooled
    assert isinstance(found, OnlineModel)
    assert found.learned is not None
    assert found.lasting is None


def test_a_fitted_detector_has_a_stream() -> None:
    assert isinstance(fitted(0).stream(), StreamScorer)
    with pytest.raises(NotFittedError):
        SubPCADetector().stream()


def test_a_fit_is_watched_from_none_to_all_rows() -> None:
    seen: list[int] = []
    SubAdjacentDetector().fit(waves(600), watch=lambda progress: seen.append(progress.done))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 600)


# ---- saved and loaded


def test_they_are_saved_with_the_detector(tmp_path: Path) -> None:
    detector, rows = fitted("full"), waves(300, seed=2)
    detector.save(tmp_path / "model")
    loaded = SubAdjacentDetector.load(tmp_path / "model")
    found, wanted = beside(loaded), beside(detector)
    for name in NAMES:
        score = found.of(name).assess(rows).score
        np.testing.assert_array_equal(score, wanted.of(name).assess(rows).score)
    # and once more, from what was loaded
    loaded.save(tmp_path / "again")
    first, second = (tmp_path / name / "model.safetensors" for name in ("model", "again"))
    assert first.read_bytes() == second.read_bytes()


def test_models_that_are_damaged_are_refused(tmp_path: Path) -> None:
    from subadjacent.detectors.integrity import seal

    folder = tmp_path / "model"
    fitted("full").save(folder)
    facts = json.loads((folder / "detector.json").read_text())
    facts["online"] = {"models": []}
    facts["sealed"] |= seal({"online": facts["online"]})
    (folder / "detector.json").write_text(json.dumps(facts))
    with pytest.raises(ModelFileError, match="models must be a list of 3"):
        SubAdjacentDetector.load(folder)


def test_a_model_that_looked_back_only_before_it_was_online_is_refused(tmp_path: Path) -> None:
    from subadjacent.detectors.integrity import identity, seal

    folder = tmp_path / "model"
    fitted(7).save(folder)
    config = json.loads((folder / "config.json").read_text())
    config["parameters"]["lookahead"] = 0
    (folder / "config.json").write_text(json.dumps(config))
    facts = json.loads((folder / "detector.json").read_text())
    facts["files"]["config.json"] = identity(folder / "config.json")
    facts["sealed"] |= seal({"files": facts["files"]}) if "files" in facts["sealed"] else {}
    (folder / "detector.json").write_text(json.dumps(facts))
    with pytest.raises(ModelFileError, match="lookahead=0 was another method before version 0"):
        SubAdjacentDetector.load(folder)
