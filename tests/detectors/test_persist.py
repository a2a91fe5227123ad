"""The model folder: whole, safe, and clear about what is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import subadjacent
from conftest import SMALL
from subadjacent import (
    DataNotFound,
    InputError,
    ModelFileError,
    Quantile,
    SubAdjacentDetector,
    load,
)
from subadjacent.data.plant import Plant


@pytest.fixture
def folder(detector: SubAdjacentDetector, tmp_path: Path) -> Path:
    detector.save(tmp_path / "model")
    return tmp_path / "model"


def edit(file: Path, **changes: Any) -> None:
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | changes))


def test_a_folder_holds_four_files_and_no_pickle(folder: Path) -> None:
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md",
        "config.json",
        "detector.json",
        "model.safetensors",
    ]
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_the_folder_says_what_it_holds(folder: Path, detector: SubAdjacentDetector) -> None:
    facts = json.loads((folder / "detector.json").read_text())
    assert facts["schema"] == 1
    assert facts["versions"]["subadjacent"] == subadjacent.__version__
    assert facts["threshold"] == detector.threshold_
    assert facts["channels"] == ["channel_0", "channel_1", "channel_2", "channel_3"]
    card = (folder / "README.md").read_text()
    assert "channel_3" in card
    assert "subadjacent.load" in card


def test_everything_learned_comes_back(folder: Path, detector: SubAdjacentDetector) -> None:
    loaded = SubAdjacentDetector.load(folder, device="cpu")
    for name in ("threshold_", "typical_score_", "window_", "band_", "channels_", "history_"):
        assert getattr(loaded, name) == getattr(detector, name), name
    assert loaded.threshold_rule_ == detector.threshold_rule_
    np.testing.assert_array_equal(loaded.usual_error_, detector.usual_error_)


def test_any_folder_can_be_loaded_by_its_own_name(
    folder: Path, detector: SubAdjacentDetector, plant: Plant
) -> None:
    loaded = load(str(folder))
    assert isinstance(loaded, SubAdjacentDetector)
    np.testing.assert_array_equal(loaded.explain(plant.test), detector.explain(plant.test))


def test_entities_keep_their_scalers(plant: Plant, tmp_path: Path) -> None:
    parts = {"cold": plant.test, "hot": 1000 + 50 * plant.test}
    detector = SubAdjacentDetector(**SMALL).fit(
        {"cold": plant.train, "hot": 1000 + 50 * plant.train}
    )
    detector.save(tmp_path / "model")
    scores, again = (one.decision_function(parts) for one in (detector, load(tmp_path / "model")))
    for entity in parts:
        np.testing.assert_array_equal(scores[entity], again[entity])


def test_channel_names_that_differ_from_the_datas_are_refused(plant: Plant, tmp_path: Path) -> None:
    frame = pd.DataFrame(plant.train, columns=["flow", "heat", "load", "wear"])
    SubAdjacentDetector(**SMALL).fit(frame).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert list(loaded.feature_names_in_) == ["flow", "heat", "load", "wear"]
    with pytest.raises(InputError, match=r"feature names should match(.|\n)*unseen(.|\n)*- warmth"):
        loaded.decision_function(frame.rename(columns={"heat": "warmth"}))


def test_a_newer_folder_replaces_an_older_one(folder: Path, plant: Plant) -> None:
    other = SubAdjacentDetector(**SMALL | {"random_state": 7}).fit(plant.train)
    other.save(folder)
    np.testing.assert_array_equal(
        load(folder).decision_function(plant.test), other.decision_function(plant.test)
    )
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_a_folder_of_something_else_is_not_overwritten(
    detector: SubAdjacentDetector, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="path must be new or a model folder"):
        detector.save(tmp_path)
    with pytest.raises(InputError, match="path must be new or a model folder"):
        detector.save(tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_failed_save_leaves_the_old_folder_and_nothing_else(
    folder: Path, detector: SubAdjacentDetector, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    def full_disk(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        detector.save(folder)
    assert [file.name for file in folder.parent.iterdir()] == ["model"]
    assert len(load(folder).decision_function(plant.test)) == 1000


def test_a_failed_swap_puts_the_old_folder_back(
    folder: Path, detector: SubAdjacentDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fail_into_place(self: Path, target: Path) -> Path:
        if target == folder and not self.name.endswith(".old"):
            raise OSError("Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_into_place)
    with pytest.raises(OSError, match="busy"):
        detector.save(folder)
    assert [file.name for file in folder.parent.iterdir()] == ["model"]
    load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "detector.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(DataNotFound, match=f"{name} is missing"):
        load(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match="nothing is not a model folder"):
        load(tmp_path / "nothing")


def test_a_newer_schema_is_refused_with_the_way_out(folder: Path) -> None:
    edit(folder / "detector.json", schema=2)
    with pytest.raises(ModelFileError, match=r"has schema 2; .* reads up to 1: upgrade"):
        load(folder)


def test_truncated_weights_are_refused(folder: Path) -> None:
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-100])
    size = len(whole)
    with pytest.raises(ModelFileError, match=f"is truncated: {size - 100} of {size} bytes"):
        load(folder)


def test_weights_of_another_model_are_refused(folder: Path, plant: Plant, tmp_path: Path) -> None:
    other = SubAdjacentDetector(**SMALL | {"random_state": 7}).fit(plant.train)
    other.save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    with pytest.raises(ModelFileError, match=r"is not the file that detector.json was saved with"):
        load(folder)


def test_a_file_that_is_not_json_is_refused(folder: Path) -> None:
    (folder / "detector.json").write_text("{")
    with pytest.raises(ModelFileError, match="is not readable JSON"):
        load(folder)
    (folder / "detector.json").write_text("[]")
    with pytest.raises(ModelFileError, match="must hold a JSON object; got a list"):
        load(folder)


@pytest.mark.parametrize("missing", ["threshold", "channels", "learned", "files"])
def test_a_missing_fact_is_damage(folder: Path, missing: str) -> None:
    file = folder / "detector.json"
    facts = json.loads(file.read_text())
    del facts[missing]
    file.write_text(json.dumps(facts))
    with pytest.raises(ModelFileError, match=r"damaged|not the file"):
        load(folder)


def test_weights_that_do_not_fit_the_network_are_damage(folder: Path) -> None:
    file = folder / "detector.json"
    facts = json.loads(file.read_text())
    facts["learned"]["network"]["layers"] = 5
    file.write_text(json.dumps(facts))
    with pytest.raises(ModelFileError, match="damaged"):
        load(folder)


def test_weights_that_are_no_safetensors_are_damage(folder: Path) -> None:
    from subadjacent.detectors.persist import _identity

    (folder / "model.safetensors").write_bytes(b"\x80\x04pickled")
    names = ("config.json", "model.safetensors")
    edit(folder / "detector.json", files={name: _identity(folder / name) for name in names})
    with pytest.raises(ModelFileError, match="is damaged"):
        load(folder)


def test_a_detector_of_another_kind_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OtherDetector(SubAdjacentDetector):
        pass

    with pytest.raises(ModelFileError, match="holds a SubAdjacentDetector, not a OtherDetector"):
        OtherDetector.load(folder)
    monkeypatch.setattr("subadjacent.detectors.registry.DETECTORS", {})
    with pytest.raises(ModelFileError, match="holds a 'SubAdjacentDetector'; this version knows"):
        load(folder)


def test_parameters_of_every_kind_survive(plant: Plant, tmp_path: Path) -> None:
    class Foreign:
        def fit(self, scores: np.ndarray) -> None: ...

        def predict(self, scores: np.ndarray) -> np.ndarray:
            return (scores > np.median(scores)).astype(int)

    detector = SubAdjacentDetector(
        **SMALL
        | {
            "window": np.int64(20),
            "checkpoint": tmp_path / "state",
            "random_state": np.random.RandomState(0),
            "contamination": Quantile(0.9),
        }
    ).fit(plant.train)
    detector.save(tmp_path / "model")
    parameters = load(tmp_path / "model").get_params()
    assert parameters["window"] == 20
    assert parameters["checkpoint"] == str(tmp_path / "state")
    assert parameters["random_state"] is None
    assert parameters["contamination"] == Quantile(0.9)

    foreign = SubAdjacentDetector(**SMALL | {"contamination": Foreign()}).fit(plant.train)
    foreign.save(tmp_path / "foreign")
    loaded = load(tmp_path / "foreign")
    assert loaded.threshold_ == foreign.threshold_
    assert loaded.contamination.value == foreign.threshold_


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_model_trained_on_a_gpu_loads_on_a_cpu(plant: Plant, tmp_path: Path) -> None:
    detector = SubAdjacentDetector(**SMALL | {"device": "cuda"}).fit(plant.train)
    detector.save(tmp_path / "model")
    on_cpu = SubAdjacentDetector.load(tmp_path / "model", device="cpu")
    np.testing.assert_allclose(
        on_cpu.decision_function(plant.test), detector.decision_function(plant.test), rtol=1e-3
    )
