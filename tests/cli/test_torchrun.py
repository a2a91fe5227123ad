"""`torchrun -m subadjacent fit`: one model folder, one line, as from one process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import subadjacent
from running import Run
from together import OF_KEYS, run

DETECTOR = "sub-adjacent-transformer"
SETTINGS = """
size = "tiny"
window = 20
stride = 8
epochs = 2
batch_size = 7
checkpoint = "state"
"""


@pytest.fixture
def rows(tmp_path: Path) -> None:
    plant = subadjacent.multivariate(n=400, channels=3)
    np.savetxt(tmp_path / "rows.csv", plant.train, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "settings.toml").write_text(SETTINGS)


@pytest.mark.usefixtures("rows")
def test_two_processes_write_the_model_that_one_writes(tmp_path: Path, command: Run) -> None:
    arguments = ("fit", "rows.csv", "--detector", DETECTOR, "--config", "settings.toml")
    out, said = run(2, "-m", "subadjacent", *arguments, "-o", "many", cwd=tmp_path)
    (line,) = out.splitlines()
    told = json.loads(line)
    assert told["model"] == "many"
    assert said.count("wrote many") == 1
    (tmp_path / "state").unlink()

    alone = json.loads(command(*arguments, "-o", "one").stdout)
    assert told.keys() == alone.keys()
    assert told["threshold"] == pytest.approx(alone["threshold"], rel=1e-4)
    many, one = (
        subadjacent.load(tmp_path / name).network_.state_dict() for name in ("many", "one")
    )
    for name, value in one.items():
        if not name.endswith(OF_KEYS):
            torch.testing.assert_close(many[name], value, rtol=1e-4, atol=1e-5, msg=name)
