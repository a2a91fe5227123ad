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
    SubAdjacentDetector().fit(PLANT.train).save(folder / "linear")
    return folder


@pytest.fixture
def command(folder: Path) -> Run:
    return runner(folder)


def test_a_saved_model_becomes_a_file_that_scores_as_it_does(
    command: Run, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "b.onnx"
    target.parent.mkdir()
    # like every other output, an older one is replaced
    target.write_text("old")
    done = command("export", "fleet", "--onnx", "--entity", "b", "-o", target)
    assert json.loads(done.stdout) == {"written": [str(target)]}
    assert done.stderr == f"wrote {target}\n"
    assert [file.name for file in target.parent.iterdir()] == ["b.onnx"]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(target, options)
    rows = (PLANT.test + 5).astype(np.float32)
    score, alarm = session.run(["score", "alarm"], {"rows": rows})
    detector = SubAdjacentTransformerDetector.load(folder / "fleet")
    expected = detector.decision_function({"b": rows})["b"]
    np.testing.assert_allclose(score, expected, rtol=1e-3, atol=1e-6)
    # a row by itself: no file knows what a series did lately, or what comes after
    assert (alarm == (expected > detector.threshold_)).all()


def test_the_file_is_named_after_the_model(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subadjacent.detectors.onnx.to_onnx", lambda _, entity: entity.encode())
    export(folder / "fleet", onnx=True, entity="a", quiet=True)
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
    done = command("export", "linear", "--onnx", "-o", target, code=1)
    assert done.stderr == (
        "error: linear: detector must score by a network alone, as "
        "SubAdjacentTransformerDetector does; got SubAdjacentDetector\n"
    )
    with pytest.raises(InputError, match=r"entity must be named.* one of a, b"):
        export(folder / "fleet", onnx=True, output=target)
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_bad_usage_is_told_before_anything_is_read(command: Run) -> None:
    assert "ONNX is the one format" in " ".join(command("export", "none", code=2).stderr.split())
    assert "must be a file" in command("export", "none", "--onnx", "-o", "-", code=2).stderr
