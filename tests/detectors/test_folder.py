"""The model folder: whole, safe, and clear about what is wrong with it."""

from __future__ import annotations

import copy
import json
import math
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import subadjacent
from subadjacent import (
    DataNotFound,
    InputError,
    ModelFileError,
    Quantile,
    RandomDetector,
    SubPCADetector,
    load,
)
from subadjacent.data.plant import Plant
from subadjacent.detectors.folder import OLDEST, SCHEMA, Saved, save_folder

SMALL = {"window": 5, "components": 3, "smoothing": 3}
# normal scores as a folder holds them
NORMAL: dict[str, Any] = {
    "typical": 1.0,
    "high": 2.0,
    "spread": 0.5,
    "rows": 100,
    "tail": {"base": 1.5, "shape": 0.0, "scale": 0.2, "rate": 0.01},
}


@pytest.fixture(scope="module")
def detector(plant: Plant) -> SubPCADetector:
    """Fitted; tests must not change it."""
    return SubPCADetector(**SMALL).fit(plant.train)


@pytest.fixture
def folder(detector: SubPCADetector, tmp_path: Path) -> Path:
    detector.save(tmp_path / "model")
    return tmp_path / "model"


def edit(file: Path, **changes: Any) -> None:
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | changes))


def change(
    folder: Path, alter: Callable[[dict[str, Any]], object], *, reseal: bool = False
) -> None:
    """Alter the facts; ``reseal`` hides it from the hashes of the facts."""
    file = folder / "detector.json"
    facts = json.loads(file.read_text())
    alter(facts)
    if reseal:
        from subadjacent.detectors.integrity import seal

        facts["sealed"] = seal({name: facts[name] for name in facts["sealed"] if name in facts})
    file.write_text(json.dumps(facts))


def test_a_folder_holds_four_files_and_no_pickle(folder: Path) -> None:
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md",
        "config.json",
        "detector.json",
        "model.safetensors",
    ]
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_the_folder_says_what_it_holds(folder: Path, detector: SubPCADetector) -> None:
    facts = json.loads((folder / "detector.json").read_text())
    assert facts["schema"] == 4
    assert facts["versions"]["subadjacent"] == subadjacent.__version__
    assert facts["threshold"] == detector.threshold_
    assert facts["channels"] == ["channel_0", "channel_1", "channel_2", "channel_3"]
    assert len(facts["normal_scores"]) == 1
    card = (folder / "README.md").read_text()
    assert f"a typical row scores {detector.normal_scores_.pooled.typical:.3g}" in card
    assert "channel_3" in card
    assert "subadjacent.load" in card


def test_everything_learned_comes_back(folder: Path, detector: SubPCADetector) -> None:
    loaded = SubPCADetector.load(folder, device="cpu")
    for name in ("threshold_", "normal_scores_", "channels_", "entities_"):
        assert getattr(loaded, name) == getattr(detector, name), name
    assert loaded.threshold_rule_ == detector.threshold_rule_
    before, after = (one.models_.pooled.state() for one in (detector, loaded))
    assert after.facts == before.facts
    assert after.arrays.keys() == before.arrays.keys()
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(after.arrays[name], array)


def test_a_newer_folder_replaces_an_older_one(folder: Path, plant: Plant) -> None:
    other = SubPCADetector(**SMALL | {"components": 4}).fit(plant.train)
    other.save(folder)
    np.testing.assert_array_equal(
        load(folder).decision_function(plant.test), other.decision_function(plant.test)
    )
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_nothing_but_a_model_is_overwritten(
    detector: SubPCADetector, folder: Path, tmp_path: Path
) -> None:
    work, beside = tmp_path / "work" / "thesis.txt", folder / "thesis.txt"
    alone = tmp_path / "alone" / "config.json"
    for file in (work, beside, alone):
        file.parent.mkdir(exist_ok=True)
        file.write_text("years of work")
    for path, named in (
        (work, "thesis.txt is a file"),
        (work.parent, "thesis.txt"),
        (folder, "thesis.txt"),
        (alone.parent, "no detector.json"),
    ):
        with pytest.raises(InputError, match=f"path must be new or a model folder; .*{named}"):
            detector.save(path)
    assert {file.read_text() for file in (work, beside, alone)} == {"years of work"}
    load(folder)


def test_hidden_files_in_a_model_folder_are_kept(folder: Path, detector: SubPCADetector) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main")
    detector.save(folder)
    assert (folder / ".git" / "HEAD").read_text() == "ref: refs/heads/main"
    assert [file.name for file in folder.parent.iterdir()] == ["model"]
    load(folder)


def test_saving_to_a_link_replaces_the_folder_behind_it(
    folder: Path, plant: Plant, tmp_path: Path
) -> None:
    link = tmp_path / "latest"
    link.symlink_to(folder)
    SubPCADetector(**SMALL | {"smoothing": 5}).fit(plant.train).save(link)
    assert link.is_symlink()
    assert load(folder).smoothing == 5
    assert sorted(file.name for file in tmp_path.iterdir()) == ["latest", "model"]


def test_the_current_folder_is_refused(
    folder: Path, detector: SubPCADetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for here in (".", "", folder):
        with pytest.raises(InputError, match="path must not be the current folder"):
            detector.save(here)
    load(".")


def test_a_failed_save_leaves_the_old_folder_and_nothing_else(
    folder: Path, detector: SubPCADetector, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    def full_disk(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        detector.save(folder)
    assert [file.name for file in folder.parent.iterdir()] == ["model"]
    assert len(load(folder).decision_function(plant.test)) == 1000


def test_what_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    for path, said in (
        (tmp_path / "nothing", "nothing is not a model folder"),
        (tmp_path / "model.py", "model.py is a file, not a model folder"),
    ):
        with pytest.raises(DataNotFound, match=said):
            load(path)
    for name in ("config.json", "model.safetensors", "detector.json"):
        hidden = (folder / name).rename(tmp_path / "away")
        with pytest.raises(DataNotFound, match=f"{name} is missing"):
            load(folder)
        hidden.rename(folder / name)


def refused(folder: Path, said: str) -> str:
    """What loading is refused with, by the function for any class and by the class."""
    for loads in (load, SubPCADetector.load):
        with pytest.raises(ModelFileError, match=said) as caught:
            loads(folder)
    return str(caught.value)


def test_a_schema_that_is_none_is_damage_and_not_newer(folder: Path) -> None:
    for schema in (-1, 0, True, "1", 1.0, None, [1]):
        edit(folder / "detector.json", schema=schema)
        assert "upgrade" not in refused(folder, "schema must be a whole number")
    change(folder, lambda facts: facts.pop("schema"))
    assert "upgrade" not in refused(folder, r"detector\.json has no schema")


def test_another_schema_is_refused_with_the_way_out(folder: Path) -> None:
    for schema, said in (
        (SCHEMA + 1, rf"has schema {SCHEMA + 1}; .* reads schema {OLDEST} to {SCHEMA}: upgrade"),
        (1, r"has schema 1, of an earlier .*: fit the detector anew"),
    ):
        edit(folder / "detector.json", schema=schema)
        refused(folder, said)


def test_files_that_are_not_those_saved_are_refused(
    folder: Path, plant: Plant, tmp_path: Path
) -> None:
    weights, config = folder / "model.safetensors", folder / "config.json"
    whole, settings = weights.read_bytes(), config.read_text()
    size = len(whole)
    weights.write_bytes(whole[:-100])
    refused(folder, f"is truncated, or of another model: {size - 100} of {size} bytes")
    other = "is not the file that detector.json was saved with"
    SubPCADetector(**SMALL | {"components": 4}).fit(plant.train).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    refused(folder, other)
    weights.write_bytes(whole)
    config.write_text(settings.replace('"window": 5', '"window": 6'))
    refused(folder, other)


def test_a_file_that_is_not_json_is_refused(folder: Path) -> None:
    for text, said in (
        ("{", "is not readable JSON"),
        ("[" * 200_000, "is not readable JSON"),
        ("[]", "must hold a JSON object; got a list"),
    ):
        (folder / "detector.json").write_text(text)
        refused(folder, said)


def test_a_missing_fact_is_damage(folder: Path) -> None:
    whole = (folder / "detector.json").read_text()
    for name in ("threshold", "channels", "learned", "files"):
        change(folder, lambda facts, name=name: facts.pop(name))
        refused(folder, name)
        (folder / "detector.json").write_text(whole)


# a fact → values of the wrong form, and what is said of them
WRONG_FORMS: dict[str, tuple[list[Any], str]] = {
    "files": (
        [
            [],
            "all",
            {},
            {"config.json": 3, "model.safetensors": None},
            {"config.json": {"sha256": "00"}, "model.safetensors": {"sha256": "00"}},
            {"config.json": {"bytes": "9", "sha256": "00"}},
            {"config.json": {"bytes": 9**9, "sha256": 5}},
        ],
        r"files must hold bytes and sha256 of config\.json",
    ),
    "threshold": ([math.nan, math.inf, -math.inf, "3", None, True, 10**400], "threshold"),
    "sealed": ([None, "00", []], "sealed must be a JSON object"),
}


def test_facts_of_the_wrong_form_are_damage(folder: Path) -> None:
    whole = (folder / "detector.json").read_text()
    for name, (values, said) in WRONG_FORMS.items():
        for value in values:
            edit(folder / "detector.json", **{name: value})
            refused(folder, said)
        (folder / "detector.json").write_text(whole)


def test_the_threshold_may_be_edited_by_hand(folder: Path) -> None:
    edit(folder / "detector.json", threshold=7)
    assert load(folder).threshold_ == 7.0


SENSELESS: list[tuple[str, Any, str]] = [
    ("channels", ["channel_0", "channel_1", "channel_2"], r"of shape \(1, 197, 3\)"),
    ("channels", ["channel_0", "channel_0", "channel_1", "channel_2"], "channels"),
    ("channels", ["a", "b", "c", 4], "channels"),
    ("channels", "abcd", "channels"),
    ("named_channels", "no", "named_channels"),
    ("entities", None, "entities"),
    ("entities", ["pump-7"], "normal_scores must be a list of 2"),
    ("entities_by_position", 1, "entities_by_position"),
    ("normal_scores", [], "normal_scores must be a list of 1; got \\[\\]"),
    ("normal_scores", [{}, {}], "normal_scores must be a list of 1"),
    ("normal_scores", {"typical": 1.0}, "normal_scores must be a list of 1"),
    ("normal_scores", [NORMAL | {"typical": math.nan}], "typical must be a finite number"),
    ("normal_scores", [NORMAL | {"high": "3"}], "high must be a finite number"),
    ("normal_scores", [NORMAL | {"spread": -1.0}], "spread must be a finite number of at"),
    ("normal_scores", [NORMAL | {"rows": 0}], "rows must be a whole number of at least 1"),
    ("normal_scores", [NORMAL | {"tail": {"base": 1.0}}], "tail|Tail"),
    ("normal_scores", [{"typical": 1.0}], "'high' is missing"),
    ("threshold_rule", {"kind": "magic"}, "threshold"),
]
# part of what was learned → what it is changed to
WRONG: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("models", lambda learned: learned.pop("models")),
    ("models", lambda learned: learned.update(models={})),
    ("models", lambda learned: learned["models"].append({})),
    ("window", lambda learned: learned["models"][0].update(window=0)),
    ("mean", lambda learned: learned["models"][0].update(window=6)),
    ("smoothing", lambda learned: learned["models"][0].update(smoothing="3")),
    ("clip", lambda learned: learned["models"][0].update(clip=0)),
    ("usual_error", lambda learned: learned["models"][0].update(usual_error=math.nan)),
    ("usual_error", lambda learned: learned["models"][0].pop("usual_error")),
]
# fact → a change of it by hand
ALTERED: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("channels", lambda facts: facts["channels"].reverse()),
    ("entities", lambda facts: facts["entities"].append("pump-7")),
    ("normal_scores", lambda facts: facts["normal_scores"][0].update(typical=0.0)),
    ("normal_scores", lambda facts: facts.pop("normal_scores")),
    ("threshold_rule", lambda facts: facts.update(threshold_rule={})),
    ("learned", lambda facts: facts["learned"]["models"][0].update(clip=3.0)),
    ("extra", lambda facts: facts.update(extra=1)),
]


def test_facts_that_make_no_sense_are_named_though_their_hashes_fit(folder: Path) -> None:
    whole = (folder / "detector.json").read_text()
    for name, value, said in SENSELESS:
        change(folder, lambda facts, to={name: value}: facts.update(to), reseal=True)
        refused(folder, said)
        (folder / "detector.json").write_text(whole)
    for name, alter in WRONG:
        change(folder, lambda facts, alter=alter: alter(facts["learned"]), reseal=True)
        refused(folder, rf"is damaged: (.|\n)*{name}")
        (folder / "detector.json").write_text(whole)


def test_any_edit_but_that_of_the_threshold_is_seen(folder: Path) -> None:
    whole = (folder / "detector.json").read_text()
    for part, alter in ALTERED:
        change(folder, alter)
        refused(folder, rf"{part} is not what was saved.*only threshold may")
        (folder / "detector.json").write_text(whole)


def test_weights_that_are_no_safetensors_are_damage(folder: Path) -> None:
    from subadjacent.detectors.integrity import identity

    (folder / "model.safetensors").write_bytes(b"\x80\x04pickled")
    names = ("config.json", "model.safetensors")
    edit(folder / "detector.json", files={name: identity(folder / name) for name in names})
    with pytest.raises(ModelFileError, match="is damaged"):
        load(folder)


def test_a_detector_of_another_kind_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OtherDetector(SubPCADetector):
        pass

    with pytest.raises(ModelFileError, match="holds a SubPCADetector, not a OtherDetector"):
        OtherDetector.load(folder)
    monkeypatch.setattr("subadjacent.detectors.registry.REGISTRY", {})
    with pytest.raises(ModelFileError, match="holds a 'SubPCADetector'; this version knows"):
        load(folder)


def test_parameters_of_every_kind_survive(plant: Plant, tmp_path: Path) -> None:
    class Foreign:
        """Of another library, with a form of its own."""

        def fit(self, scores: np.ndarray) -> None:
            self.threshold_ = float(scores.max())

        def predict(self, scores: np.ndarray) -> np.ndarray:
            return (scores > self.threshold_).astype(int)

        def to_dict(self) -> dict[str, Any]:
            return {"flavor": "foreign"}

    detector = SubPCADetector(
        **SMALL | {"window": np.int64(20), "contamination": Quantile(0.9)}
    ).fit(plant.train)
    detector.save(tmp_path / "model")
    parameters = load(tmp_path / "model").get_params()
    assert parameters["window"] == 20
    assert parameters["contamination"] == Quantile(0.9)

    chance = RandomDetector(random_state=np.random.RandomState(0)).fit(plant.train)
    chance.save(tmp_path / "chance")
    assert load(tmp_path / "chance").get_params()["random_state"] is None
    np.testing.assert_array_equal(
        load(tmp_path / "chance").decision_function(plant.test),
        chance.decision_function(plant.test),
    )

    foreign = SubPCADetector(**SMALL | {"contamination": Foreign()}).fit(plant.train)
    foreign.save(tmp_path / "foreign")
    loaded = load(tmp_path / "foreign")
    assert loaded.threshold_ == foreign.threshold_
    assert loaded.contamination.value == foreign.threshold_


def test_a_threshold_set_by_the_user_can_be_saved(detector: SubPCADetector, tmp_path: Path) -> None:
    changed = copy.copy(detector)
    changed.threshold_ = np.float32(3)
    changed.save(tmp_path / "model")
    assert load(tmp_path / "model").threshold_ == 3.0


def test_a_threshold_that_is_no_number_is_not_saved(
    detector: SubPCADetector, tmp_path: Path
) -> None:
    changed = copy.copy(detector)
    for threshold in (math.nan, math.inf, "3", None):
        changed.threshold_ = threshold
        with pytest.raises(InputError, match="threshold_ must be a finite number"):
            changed.save(tmp_path / "deep" / "model")
    assert not any(tmp_path.iterdir())


def test_parameters_that_json_has_no_word_for_are_written_as_it_can(tmp_path: Path) -> None:
    facts = {"channels": ["a"], "entities": [], "threshold": 1.0, "normal_scores": [NORMAL]}
    parameters = {"budget": timedelta(minutes=2), "limit": np.timedelta64(2, "m"), "at": tmp_path}
    save_folder(tmp_path / "model", Saved("Some", parameters, facts, {}))
    written = json.loads((tmp_path / "model" / "config.json").read_text())["parameters"]
    assert written == {"budget": 120.0, "limit": 120.0, "at": str(tmp_path)}
