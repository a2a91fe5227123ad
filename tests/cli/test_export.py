"""`subadjacent export`, from a saved model to a file that scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from running import Run, runner
from subadjacent import (
    InputError,
    PCADetector,
    SubAdjacentDetector,
    SubAdjacentTransformerDetector,
    multivariate,
)
from subadjacent.cli.export import export

QUICK: dict[str, Any] = {"epochs": 1, "window": 20, "size": "tiny", "contamination": 0.05}
PLANT = multivariate(n=400, channels=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model folders; not to be changed."""
    folder = tmp_path_factory.mktemp("models")
    fleet = {"a": PLANT.train, "b": PLANT.train + 5}
    SubAdjacentTransformerDetector(**QUICK, stride=4).fit(fleet).save(folder / "fleet")
    SubAdjacentDetector().fit(PLANT.train).save(folder / "default")
    PCADetector().fit(PLANT.train).save(folder / "pca")
    return folder


@pytest.fixture
def command(folder: Path) -> Run:
    return runner(folder)


def opened(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(file, options)


def test_a_saved_model_becomes_a_file_that_scores_as_it_does(
    command: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "default.onnx"
    target.parent.mkdir()
    # like every other output, an older one is replaced
    target.write_text("old")
    done = command("export", "default", "-o", target)
    assert json.loads(done.stdout) == {"written": [str(target)]}
    assert done.stderr == f"wrote {target}\n"
    assert [file.name for file in target.parent.iterdir()] == ["default.onnx"]
    score, by_channel, alarm = opened(target).run(None, {"rows": PLANT.test})
    detector = SubAdjacentDetector.load(folder / "default")
    np.testing.assert_allclose(score, detector.decision_function(PLANT.test), atol=1e-3)
    np.testing.assert_allclose(by_channel, detector.explain(PLANT.test), rtol=1e-4, atol=1e-4)
    # a row by itself: no file knows what a series did lately, or what comes after
    assert (alarm == (score > detector.threshold_)).all()


def test_of_several_entities_one_is_named(command: Run, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.onnx"
    command("export", "fleet", "--onnx", "--entity", "b", "-o", target, "--quiet")
    rows = (PLANT.test + 5).astype(np.float32)
    score, alarm = opened(target).run(["score", "alarm"], {"rows": rows})
    detector = SubAdjacentTransformerDetector.load(folder / "fleet")
    expected = detector.decision_function({"b": rows})["b"]
    np.testing.assert_allclose(score, expected, rtol=1e-3, atol=1e-6)
    assert (alarm == (expected > detector.threshold_)).all()


def test_the_file_is_named_after_the_model(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subadjacent.detectors.onnx.to_onnx", lambda _, entity: entity.encode())
    export(folder / "fleet", entity="a", quiet=True)
    told = capsys.readouterr()
    assert json.loads(told.out) == {"written": ["fleet.onnx"]}
    assert told.err == ""
    assert [file.name for file in tmp_path.iterdir()] == ["fleet.onnx"]
    assert (tmp_path / "fleet.onnx").read_text() == "a"


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    command: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "model.onnx"
    target.write_text("old")
    done = command("export", "pca", "-o", target, code=1)
    assert done.stderr == (
        "error: pca: detector must be SubAdjacentDetector, or score by a network alone as "
        "SubAdjacentTransformerDetector does; got PCADetector\n"
    )
    with pytest.raises(InputError, match=r"entity must be named.* one of a, b"):
        export(folder / "fleet", output=target)
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_bad_usage_is_told_before_anything_is_read(command: Run) -> None:
    assert "must be a file" in command("export", "none", "-o", "-", code=2).stderr
