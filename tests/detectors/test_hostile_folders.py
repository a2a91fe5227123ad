"""Model folders made to harm: hashes that fit, and contents that ask for too much or are none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from subadjacent import (
    InputError,
    MagnitudeDetector,
    ModelFileError,
    SubAdjacentDetector,
    SubAdjacentTransformerDetector,
    load,
)
from subadjacent.data.plant import Plant
from subadjacent.decision.evidence import Evidence, Reach
from subadjacent.detectors.folder import CONFIG, FACTS, WEIGHTS
from subadjacent.detectors.integrity import identity, seal
from subadjacent.networks.network import Network

Alter = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], object]


@pytest.fixture(scope="module")
def network(plant: Plant, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved network. Not to be changed."""
    folder = tmp_path_factory.mktemp("network") / "model"
    settings = {"window": 12, "size": "tiny", "epochs": 0, "stride": 12}
    SubAdjacentTransformerDetector(**settings).fit(plant.train[:200]).save(folder)
    return folder


@pytest.fixture(scope="module")
def plain(plant: Plant, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved control. Not to be changed."""
    folder = tmp_path_factory.mktemp("plain") / "model"
    MagnitudeDetector().fit(plant.train).save(folder)
    return folder


def altered(source: Path, target: Path, alter: Alter) -> Path:
    """A copy in which something was changed, with all hashes made again."""
    shutil.copytree(source, target)
    config, facts = (json.loads((source / name).read_text()) for name in (CONFIG, FACTS))
    arrays = load_file(source / WEIGHTS)
    alter(config, facts, arrays)
    save_file(arrays, target / WEIGHTS)
    (target / CONFIG).write_text(json.dumps(config))
    facts["files"] = {name: identity(target / name) for name in (CONFIG, WEIGHTS)}
    facts["sealed"] = seal({name: facts[name] for name in facts["sealed"] if name in facts})
    (target / FACTS).write_text(json.dumps(facts))
    return target


def learned(**changes: Any) -> Alter:
    return lambda _config, facts, _arrays: facts["learned"].update(changes)


def in_network(**changes: Any) -> Alter:
    return lambda _config, facts, _arrays: facts["learned"]["network"].update(changes)


NOT_ITS_OWN: dict[str, Alter] = {
    r"layers must be that of .* in \d+ arrays; got 1,000,000": in_network(layers=10**6),
    r"layers\.1\.\S+ must have shape \(.*\), got none": in_network(layers=2),
    r"width must be that of .* weights .* got 1,048,576": in_network(width=1 << 20),
    "feedforward must be that of .* got 1,000,000,000": in_network(feedforward=10**9),
    r"must have shape \(.*64.*\), got \(": in_network(width=64),
    "window must be a whole number of at most 100,000; got 1000000000": learned(window=10**9),
    r"raw_temperature must have shape none, got \(1,\)": in_network(attention="vanilla"),
}


def test_a_network_is_not_built_for_settings_that_are_not_its_own(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Network, "seeded", lambda *_: pytest.fail("it was built"))
    for number, (rule, alter) in enumerate(NOT_ITS_OWN.items()):
        folder = altered(network, tmp_path / str(number), alter)
        with pytest.raises(ModelFileError, match=rf"is damaged: .*{rule}"):
            load(folder)


def test_a_matrix_of_all_pairs_of_points_bounds_the_window(network: Path, tmp_path: Path) -> None:
    def alter(_: Any, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        facts["learned"].update(window=5_001)
        facts["learned"]["network"].update(attention="vanilla")
        for name in [name for name in arrays if name.endswith("raw_temperature")]:
            del arrays[name]

    with pytest.raises(ModelFileError, match="window must be a whole number of at most 5,000"):
        load(altered(network, tmp_path / "model", alter))


def test_no_matrix_of_a_long_window_is_formed_to_be_looked_at(network: Path, plant: Plant) -> None:
    model = load(network)._fitted()
    first, matrix = model.attention_around(plant.test[:30], 13)
    assert (first, matrix.shape) == (12, (12, 12))
    with pytest.raises(InputError, match="at most 5,000 points for attention to be looked at"):
        replace(model, window=5_001).attention_around(plant.test[:30], 13)


def test_arrays_of_anything_but_finite_numbers_are_refused(network: Path, tmp_path: Path) -> None:
    def spoil(value: float) -> Alter:
        def alter(_config: Any, _facts: Any, arrays: dict[str, Any]) -> None:
            arrays[next(one for one in arrays if one.endswith("reconstruct.bias"))][-1] = value

        return alter

    for value in (np.nan, np.inf, -np.inf):
        folder = altered(network, tmp_path / str(value), spoil(value))
        with pytest.raises(
            ModelFileError, match=r"reconstruct\.bias holds values that are not fin"
        ):
            load(folder)
    bools = altered(
        network, tmp_path / "bools", lambda _c, _f, arrays: arrays.update(center=np.ones(4, bool))
    )
    with pytest.raises(ModelFileError, match="center must hold numbers; got bool"):
        load(bools)


UNFIT: list[tuple[str, Any, str]] = [
    ("fill_limit", 10**9, "fill_limit must be a whole number of at most 1,000,000"),
    ("fill_limit", "x", "fill_limit must be a whole number of at least 0"),
    ("adapt_after", [1], "adapt_after must be a whole number of at least 1"),
    ("adapt_after", 10**30, "adapt_after must be a whole number of at least 1; got 1e"),
    ("smoothing", 10**9, "smoothing must be a whole number of at most 100,000"),
    ("contamination", "never", "contamination must be"),
]


def test_parameters_that_no_fit_would_take_are_refused(plain: Path, tmp_path: Path) -> None:
    for number, (name, value, rule) in enumerate(UNFIT):
        folder = altered(
            plain,
            tmp_path / str(number),
            lambda config, _f, _a, to={name: value}: config["parameters"].update(to),
        )
        with pytest.raises(ModelFileError, match=rf"is damaged: {rule}"):
            load(folder)


def test_a_list_of_names_among_the_parameters_comes_back(plant: Plant, tmp_path: Path) -> None:
    views = ("level", "rhythm")
    SubAdjacentDetector(views=views).fit(plant.train[:300]).save(tmp_path / "model")
    assert load(tmp_path / "model").views == list(views)


class NotANumber:
    """A model that has lost its numbers."""

    blur, reach, typical_values, learns = 0, Reach(0, 0), np.zeros(4), False

    def assess(self, rows: Any) -> Evidence:
        score = np.ones(len(rows))
        score[2:4] = np.nan, np.inf
        return Evidence(score, np.ones(rows.shape), None, {})


def test_scores_that_are_no_numbers_are_never_normal_rows(plant: Plant) -> None:
    detector = MagnitudeDetector().fit({"a": plant.train, "b": plant.train})
    broken: Any = NotANumber()
    detector.models_ = replace(
        detector.models_, pooled=broken, by_entity={"a": broken, "b": broken}
    )
    rule = (
        r"X must have finite scores; got nan for row 2 of a, and 2 such rows in all: its values "
        r"are too large for the model, or the model is damaged"
    )
    for assess in (detector.decision_function, detector.predict, detector.alarms):
        with pytest.raises(InputError, match=rule):
            assess({"a": plant.test[:9]})
