"""Detectors by name: listed, fitted, refused."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from running import Run
from subadjacent.detectors.registry import REGISTRY


@pytest.fixture
def plant(command: Run, tmp_path: Path) -> Path:
    command("generate", "plant", "--rows", "600", "-o", "plant.csv")
    return tmp_path / "plant.csv"


def test_the_list_has_a_line_for_each_in_the_order_of_the_table(command: Run) -> None:
    head, *lines = command("list").stdout.splitlines()
    assert head.split() == ["name", "needs", "does"]
    assert [line.split()[0] for line in lines] == list(REGISTRY)
    places = {
        line.index(entry.summary) for line, entry in zip(lines, REGISTRY.values(), strict=True)
    }
    assert places == {head.index("does")}
    assert max(map(len, lines)) <= 120


def test_the_list_as_json_and_as_csv_has_the_class_too(command: Run) -> None:
    rows = [json.loads(line) for line in command("list", "--format", "json").stdout.splitlines()]
    assert {row["name"]: row["class"] for row in rows} == {
        name: entry.class_name for name, entry in REGISTRY.items()
    }
    table = pl.read_csv(command("list", "--format", "csv").stdout.encode())
    assert table.columns == ["name", "needs", "does", "class"]
    assert table.height == len(REGISTRY)


def test_a_model_of_the_named_detector_is_written_and_scores(command: Run, plant: Path) -> None:
    for short in ("pca", "random"):
        command("fit", plant, "--detector", short, "-o", short)
        kind = json.loads(command("info", short).stdout)["kind"]
        assert REGISTRY[short].class_name == kind
        done = command("score", short, plant, "-o", "scores.parquet")
        # only what cannot be scored in parts is held in memory, and says so
        assert ("held in memory" in done.stderr) == (short == "random")
        assert len(pl.read_parquet(plant.with_name("scores.parquet"))) == 600


def test_detect_takes_a_name_and_that_detectors_settings(
    command: Run, plant: Path, tmp_path: Path
) -> None:
    (tmp_path / "pca.toml").write_text("variance = 0.8\n")
    command("detect", plant, "--detector", "pca", "--config", "pca.toml", "-o", "out")
    told = json.loads(command("info", "out/model").stdout)
    assert (told["kind"], told["parameters"]["variance"]) == ("PCADetector", 0.8)
    refused = command("detect", plant, "--config", "pca.toml", "-o", "again", code=1).stderr
    assert "pca.toml must name parameters of the detector (adapt_after, contamination" in refused
    assert not (tmp_path / "again").exists()


def test_another_librarys_detector_finds_alarms_but_is_not_saved(
    command: Run, plant: Path, tmp_path: Path
) -> None:
    (tmp_path / "forest.toml").write_text("detector__n_estimators = 5\n")
    done = command("detect", plant, "--detector", "iforest", "--config", "forest.toml", "-o", "out")
    assert "no model is written: another library's detector" in done.stderr
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "alarms.csv",
        "report.html",
        "scores.csv",
    ]
    refused = command("fit", plant, "--detector", "iforest", "-o", "model", code=1).stderr
    assert "detector must be one of ours to be saved" in refused
    assert not (tmp_path / "model").exists()


def test_settings_can_say_that_nothing_becomes_normal(
    command: Run, plant: Path, tmp_path: Path
) -> None:
    (tmp_path / "never.toml").write_text('adapt_after = "never"\n')
    command("fit", plant, "--detector", "pca", "--config", "never.toml", "-o", "model")
    assert json.loads(command("info", "model").stdout)["parameters"]["adapt_after"] is None


def test_an_option_that_a_detector_has_no_use_for_is_refused(command: Run) -> None:
    for option, value in (("--max-training-time", "1s"), ("--device", "cpu"), ("--seed", "1")):
        said = command("fit", "x.csv", "-o", "m", "--detector", "pca", option, value, code=2).stderr
        told = " ".join(said.replace("│", " ").split())
        assert f"Invalid value for '{option}': the detector pca has no use for it" in told
