"""What a detector that looks ahead says at once is what one that looks back only says."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import subadjacent
from detectors.waves import waves
from subadjacent import SubAdjacentDetector, SubPCADetector
from subadjacent.detectors.causal import PREFIX, CausalTwin
from subadjacent.errors import ModelFileError

ENTITIES = {"a": waves(900), "b": 3 * waves(700, seed=1) + 5}
NAMES = ("a", "b", "never seen")


@cache
def fitted(lookahead: int | str) -> SubAdjacentDetector:
    return SubAdjacentDetector(lookahead=lookahead).fit(ENTITIES)


def twin(detector: SubAdjacentDetector) -> CausalTwin:
    assert detector.causal_ is not None
    return detector.causal_


@pytest.mark.parametrize("lookahead", ["full", 7])
def test_the_twin_is_the_detector_that_looks_back_only(lookahead: int | str) -> None:
    found, wanted, rows = twin(fitted(lookahead)), fitted(0), waves(300, seed=2)
    for name in NAMES:
        score = found.models.of(name).assess(rows).score
        np.testing.assert_array_equal(score, wanted.models_.of(name).assess(rows).score)
        assert found.models.of(name).reach.after == 0
    assert found.threshold == wanted.threshold_
    assert list(found.normal_scores) == list(wanted.normal_scores_)
    judged = found.decision(adapt_after=300).decide(score, "b")
    expected = wanted.judge(score, "b")
    np.testing.assert_array_equal(judged.anomalous, expected.anomalous)
    np.testing.assert_array_equal(judged.normalized, expected.normalized)


def test_rows_that_come_one_by_one_get_both_scores() -> None:
    """The first at once, the second when its look-ahead has come."""
    detector, rows = fitted(7), waves(60, seed=3)
    both = {"a": rows, "b": rows}
    at_once = twin(detector).models.of("a").stream()
    provisional = [at_once.push(row[None]).score.item() for row in rows]
    np.testing.assert_array_equal(provisional, fitted(0).decision_function(both)["a"])
    later = detector.models_.of("a").stream()
    final = [score for row in rows for score in later.push(row[None]).score]
    assert 0 < len(final) < len(rows)
    final.extend(later.finish().score)
    np.testing.assert_array_equal(final, detector.decision_function(both)["a"])


def test_one_that_looks_back_only_is_its_own_and_others_have_none() -> None:
    assert fitted(0).causal_ is None
    assert SubPCADetector().fit(waves(200)).causal_ is None


def test_what_both_have_in_common_is_learned_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    counts: dict[str, int] = {}

    def counted(name: str) -> None:
        plain = getattr(subadjacent.methods.views.fit, name)

        def call(*arguments: object) -> object:
            counts[name] = counts.get(name, 0) + 1
            return plain(*arguments)

        monkeypatch.setattr(f"subadjacent.methods.views.fit.{name}", call)

    for name in ("fit_states", "fit_lengths", "dominant_period"):
        counted(name)
    with caplog.at_level(logging.WARNING):
        # so few rows that the fit warns
        SubAdjacentDetector().fit(waves(130))
    assert counts == {"fit_states": 1, "fit_lengths": 1, "dominant_period": 1}
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == len(set(said)) > 0
    models = fitted("full").models_.of("a"), twin(fitted("full")).models.of("a")
    shapes = [model.entity.shapes for model in models]  # type: ignore[attr-defined]
    assert shapes[0].lengths[0].references is shapes[1].lengths[0].references


def test_a_fit_is_watched_from_none_to_all_rows() -> None:
    seen: list[int] = []
    SubAdjacentDetector().fit(waves(600), watch=lambda progress: seen.append(progress.done))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 600)


def test_a_threshold_of_ones_own_is_fitted_to_both() -> None:
    detector = SubAdjacentDetector(contamination=0.03).fit(ENTITIES)
    causal = SubAdjacentDetector(contamination=0.03, lookahead=0).fit(ENTITIES)
    assert twin(detector).threshold == causal.threshold_ != detector.threshold_


# ---- saved and loaded


def test_the_twin_is_saved_with_the_detector(tmp_path: Path) -> None:
    detector, rows = fitted("full"), waves(300, seed=2)
    detector.save(tmp_path / "model")
    loaded = SubAdjacentDetector.load(tmp_path / "model")
    found, wanted = twin(loaded), twin(detector)
    for name in NAMES:
        score = found.models.of(name).assess(rows).score
        np.testing.assert_array_equal(score, wanted.models.of(name).assess(rows).score)
    assert found.threshold == wanted.threshold
    assert list(found.normal_scores) == list(wanted.normal_scores)
    # and once more, from what was loaded
    loaded.save(tmp_path / "again")
    first, second = (tmp_path / name / "model.safetensors" for name in ("model", "again"))
    assert first.read_bytes() == second.read_bytes()


def test_references_are_not_kept_twice(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    fitted("full").save(tmp_path / "model")
    own = [n for n in load_file(tmp_path / "model/model.safetensors") if n.startswith(PREFIX)]
    assert own
    assert not [name for name in own if "references" in name]


def test_a_folder_of_an_earlier_version_gives_final_scores_only(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    from subadjacent.detectors.integrity import identity

    folder = tmp_path / "model"
    detector = fitted("full")
    detector.save(folder)
    facts = json.loads((folder / "detector.json").read_text())
    arrays = load_file(folder / "model.safetensors")
    kept = {n: a for n, a in arrays.items() if not n.startswith((PREFIX, "recent."))}
    assert len(kept) < len(arrays)
    save_file(kept, folder / "model.safetensors")
    for name in ("causal", "recent"):
        del facts[name], facts["sealed"][name]
    facts["schema"] = 2
    facts["files"]["model.safetensors"] = identity(folder / "model.safetensors")
    (folder / "detector.json").write_text(json.dumps(facts))
    loaded, rows = SubAdjacentDetector.load(folder), waves(100, seed=4)
    assert loaded.causal_ is None
    assert loaded.recent_ == {}
    both = {"a": rows, "b": rows}
    np.testing.assert_array_equal(
        loaded.decision_function(both)["a"], detector.decision_function(both)["a"]
    )
    # it may be saved again
    loaded.save(folder)
    assert SubAdjacentDetector.load(folder).causal_ is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("threshold", "high", "threshold must be"),
        ("normal_scores", [], "normal_scores must be a list of 3"),
        ("shared", ["nothing"], "'nothing' is missing"),
        ("learned", {"models": []}, "models must be a list of 3"),
    ],
)
def test_a_twin_that_is_damaged_is_refused(
    tmp_path: Path, name: str, value: object, said: str
) -> None:
    from subadjacent.detectors.integrity import seal

    folder = tmp_path / "model"
    fitted("full").save(folder)
    facts = json.loads((folder / "detector.json").read_text())
    facts["causal"][name] = value
    facts["sealed"] |= seal({"causal": facts["causal"]})
    (folder / "detector.json").write_text(json.dumps(facts))
    with pytest.raises(ModelFileError, match=said):
        SubAdjacentDetector.load(folder)
