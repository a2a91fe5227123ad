"""Commands take whatever detector a model folder holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from running import runner
from subadjacent import (
    BaseDetector,
    MagnitudeDetector,
    RandomDetector,
    SubAdjacentDetector,
    SubPCADetector,
)

DETECTORS: dict[str, BaseDetector] = {
    "default": SubAdjacentDetector(),
    "sub_pca": SubPCADetector(window=20, smoothing=4),
    "magnitude": MagnitudeDetector(smoothing=5),
    "random": RandomDetector(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plant in a file, and a model folder of each detector. Not to be changed."""
    folder = tmp_path_factory.mktemp("any")
    runner(folder)("generate", "plant", "--rows", "1200", "--label", "-o", "plant.csv")
    frame = rows_of(folder)[:600]
    for name, detector in DETECTORS.items():
        detector.fit(frame).save(folder / name)
    return folder


def rows_of(folder: Path) -> pl.DataFrame:
    frame = pl.read_csv(folder / "plant.csv", try_parse_dates=True)
    return frame.rename({"time": "timestamp"}).drop("label")


@pytest.mark.parametrize("name", DETECTORS)
def test_score_gives_what_the_library_gives(folder: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "scores.parquet"
    done = runner(folder)("score", name, "plant.csv", "--label", "label", "-o", out)
    expected = DETECTORS[name].decision_function(rows_of(folder)).to_numpy()
    table = pl.read_parquet(out)
    np.testing.assert_allclose(table["score"].to_numpy(), expected, rtol=1e-3, atol=1e-9)
    predicted = DETECTORS[name].predict(rows_of(folder)).to_numpy()
    assert (table["anomalous"].to_numpy() == predicted).mean() > 0.999
    # only what cannot be scored in parts is held in memory, and says so
    assert ("held in memory" in done.stderr) == (name == "random")


@pytest.mark.parametrize("name", DETECTORS)
def test_info_tells_what_is_there_and_nothing_else(folder: Path, name: str) -> None:
    told = json.loads(runner(folder)("info", name).stdout)
    assert told["kind"] == type(DETECTORS[name]).__name__
    assert len(told["channels"]) == 6
    assert told["threshold"] == DETECTORS[name].threshold_
    assert told["parameters"] == DETECTORS[name].get_params()
    assert told["weights"] > 0
