"""Detectors that need no network of ours: what their parameters do, what they say of channels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from subadjacent import (
    BaseDetector,
    KNNDetector,
    LinearForecastDetector,
    MatrixProfileDetector,
    load,
)
from subadjacent.data.plant import Plant
from subadjacent.detectors.registry import REGISTRY

CLASSICS = (
    KNNDetector,
    LinearForecastDetector,
    MatrixProfileDetector,
)
every_classic = pytest.mark.parametrize("kind", CLASSICS)


def rows(n: int = 300, channels: int = 6, seed: int = 0) -> np.ndarray:
    """Three hidden walks, mixed into the channels."""
    rng = np.random.default_rng(seed)
    hidden = np.sin(np.cumsum(rng.uniform(0, 0.4, size=(n, 3)), axis=0))
    return hidden @ rng.normal(size=(3, channels)) + 0.1 * rng.normal(size=(n, channels))


def standardised(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    scaled = np.clip((test - train.mean(axis=0)) / train.std(axis=0), -10, 10)
    return scaled.astype(np.float32).astype(float)


# ---- against scikit-learn, from raw rows to scores


def test_distances_are_those_of_scikit_learn() -> None:
    train, test = rows(), rows(seed=1)
    index = NearestNeighbors(n_neighbors=10).fit(standardised(train, train))
    distances, _ = index.kneighbors(standardised(train, test))
    found = KNNDetector().fit(train).decision_function(test)
    np.testing.assert_allclose(found, distances[:, -1], rtol=1e-4)


# ---- parameters


OTHER_VALUES: dict[type[BaseDetector], dict[str, Any]] = {
    KNNDetector: {"neighbours": 3, "window": 5, "references": 50},
    MatrixProfileDetector: {"window": 7, "references": 200},
    LinearForecastDetector: {"window": 3, "penalty": 100.0},
}


@every_classic
def test_every_parameter_changes_scores(kind: type[BaseDetector]) -> None:
    plain = kind().fit(rows()).decision_function(rows(seed=1))
    for name, value in (OTHER_VALUES[kind] | {"smoothing": 5, "clip": 0.5}).items():
        other = kind(**{name: value}).fit(rows()).decision_function(rows(seed=1))
        assert not np.allclose(plain, other), name


# ---- what all of them keep to


@every_classic
def test_the_disturbed_channel_is_named_first(kind: type[BaseDetector], plant: Plant) -> None:
    disturbed = plant.base.copy()
    disturbed[500:520, 2] += 8 * plant.train[:, 2].std()
    detector = kind().fit(plant.train)
    unusual = detector.explain(disturbed)
    # a forecast looks a few rows back, a shape as far as a window to either side
    where = slice(500, 503) if kind is LinearForecastDetector else slice(500, 520)
    assert (unusual[where].argmax(axis=1) == 2).mean() >= 0.9


@every_classic
def test_entities_keep_what_was_learned_of_them_when_saved(
    kind: type[BaseDetector], tmp_path: Path
) -> None:
    """One of them is shorter: what is kept of them differs in shape."""
    train = {"a/b": rows(seed=1), "": rows(200, seed=2)}
    test = {"a/b": rows(seed=3), "": rows(seed=3), "new": rows(seed=3)}
    detector = kind().fit(train)
    detector.save(tmp_path / "model")
    found = detector.decision_function(test)
    again = load(tmp_path / "model").decision_function(test)
    for entity in test:
        np.testing.assert_array_equal(found[entity], again[entity])
    assert not np.array_equal(found["a/b"], found[""])


@every_classic
def test_a_long_series_leaves_a_model_of_bounded_size(kind: type[BaseDetector]) -> None:
    limits = {"references": 100, "window": 5}
    known = kind().get_params()
    small = {name: value for name, value in limits.items() if name in known}
    short, long = (
        kind(**small).fit(np.random.default_rng(0).normal(size=(n, 2))).models_.pooled.state()
        for n in (400, 4000)
    )
    for name, array in long.arrays.items():
        assert array.size <= short.arrays[name].size


def test_a_rival_without_a_network_does_not_import_torch() -> None:
    names = ", ".join(
        entry.class_name
        for entry in REGISTRY.values()
        if entry.module.startswith("rivals.") and not entry.needs
    )
    code = f"""
import sys
from subadjacent import {names}
import numpy as np
for kind in ({names}):
    kind().fit(np.random.default_rng(0).normal(size=(60, 2))).predict(np.zeros((30, 2)))
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
