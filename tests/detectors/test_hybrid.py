"""The default with a network, and what became of it in folders of earlier versions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import subadjacent
from subadjacent import ModelFileError, SubAdjacentDetector, SubAdjacentHybridDetector, multivariate
from subadjacent.detectors.folder import Saved, load_folder, save_folder, upgraded

PLANT = multivariate(n=600, channels=3, seed=4)
# what 0.2 saved beside the parameters of today
BEFORE = {"budget": None, "device": "auto", "random_state": 0}


def as_before(path: Path, network: str | None) -> None:
    """Write a folder again as 0.2 did."""
    saved = load_folder(path)
    parameters = {n: v for n, v in saved.parameters.items() if n not in ("size", "epochs")}
    parameters |= BEFORE | {"network": network, "lookahead": "full"}
    parameters.pop("max_training_time", None)
    written = ("schema", "versions", "files", "sealed")
    facts = {name: fact for name, fact in saved.facts.items() if name not in written}
    save_folder(path, Saved("SubAdjacentDetector", parameters, facts, saved.arrays))


def test_a_default_of_an_earlier_version_is_loaded(tmp_path: Path) -> None:
    detector = SubAdjacentDetector(far=20).fit(PLANT.train)
    detector.save(tmp_path / "model")
    as_before(tmp_path / "model", None)
    loaded = SubAdjacentDetector.load(tmp_path / "model")
    assert loaded.get_params() == detector.get_params()
    np.testing.assert_array_equal(
        loaded.decision_function(PLANT.test), detector.decision_function(PLANT.test)
    )


def test_a_default_with_a_network_is_a_class_of_its_own_now(tmp_path: Path) -> None:
    detector = SubAdjacentHybridDetector(size="tiny", epochs=1).fit(PLANT.train)
    detector.save(tmp_path / "model")
    as_before(tmp_path / "model", "tiny")
    loaded = subadjacent.load(tmp_path / "model")
    assert type(loaded) is SubAdjacentHybridDetector
    np.testing.assert_array_equal(
        loaded.decision_function(PLANT.test), detector.decision_function(PLANT.test)
    )
    with pytest.raises(ModelFileError, match="holds a SubAdjacentHybridDetector"):
        SubAdjacentDetector.load(tmp_path / "model")


def test_the_longest_training_has_another_name_by_hand() -> None:
    assert upgraded("USADDetector", {"budget": "1m", "size": "paper"}) == (
        "USADDetector",
        {"max_training_time": "1m", "size": "paper"},
    )
