"""`torchrun -m subadjacent fit`: one model folder, one line, as from one process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import subadjacent
from running import Run
from together import run

SETTINGS = {"size": "tiny", "window": 20, "stride": 8, "epochs": 2, "batch_size": 7}


@pytest.fixture
def rows(tmp_path: Path) -> np.ndarray:
    plant = subadjacent.multivariate(n=400, channels=3)
    np.savetxt(tmp_path / "rows.csv", plant.train, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "settings.json").write_text(
        json.dumps(SETTINGS | {"checkpoint": str(tmp_path / "state")})
    )
    return plant.test


def test_two_processes_write_the_model_that_one_writes(
    tmp_path: Path, rows: np.ndarray, command: Run
) -> None:
    arguments = ("fit", "rows.csv", "--detector", "transformer", "--config", "settings.json")
    out, said = run(2, "-m", "subadjacent", *arguments, "-o", "many", cwd=tmp_path)
    (line,) = out.splitlines()
    told = json.loads(line)
    assert told["model"] == "many"
    assert said.count("wrote many") == 1
    (tmp_path / "state").unlink()

    alone = json.loads(command(*arguments, "-o", "one").stdout)
    assert told.keys() == alone.keys()
    assert told["threshold"] == pytest.approx(alone["threshold"], rel=1e-4)
    scores = [subadjacent.load(tmp_path / name).decision_function(rows) for name in ("many", "one")]
    np.testing.assert_allclose(*scores, rtol=1e-3)


@pytest.mark.usefixtures("rows")
def test_bad_input_ends_all_processes_with_a_sentence_and_no_folder(tmp_path: Path) -> None:
    arguments = ("fit", "rows.csv", "--detector", "dagmm", "-o", "many")
    out, said = run(2, "-m", "subadjacent", *arguments, cwd=tmp_path, fails=True)
    assert out == ""
    assert "error: network must be one that 2 processes can train" in said
    assert not (tmp_path / "many").exists()
