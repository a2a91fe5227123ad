"""The default where torch is not installed: fit, score, save, load, command and report.

The environment is real: a folder with a link to every installed package but torch and what needs
it, and an interpreter that sees this folder and the sources, and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import subadjacent

NEED_TORCH = ("torch", "triton", "functorch")

LIBRARY = """
import numpy as np
import subadjacent
from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.detectors.registry import REGISTRY, create

plant = multivariate(n=600, channels=3, seed=1)
light = [
    create(name)
    for name, entry in REGISTRY.items()
    if entry.module.startswith("rivals.") and not entry.needs
]
assert len(light) > 5
for detector in (SubAdjacentDetector(), SubAdjacentDetector(lookahead=0), *light):
    detector.fit(plant.train)
    detector.save("model")
    loaded = subadjacent.load("model")
    scores = detector.decision_function(plant.test)
    np.testing.assert_array_equal(loaded.decision_function(plant.test), scores)
    assert loaded.alarms(plant.test) == detector.alarms(plant.test)
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links to the installed packages that do not need torch."""
    folder = tmp_path_factory.mktemp("packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(NEED_TORCH) and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    return folder


def run(
    packages: Path, folder: Path, *arguments: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    sources = Path(subadjacent.__file__).parents[1]
    places = os.pathsep.join(map(str, (sources, packages)))
    done = subprocess.run(
        # -S: without the folder of installed packages
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": places, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def test_torch_is_not_there(packages: Path, tmp_path: Path) -> None:
    done = run(packages, tmp_path, "-c", "import torch", code=1)
    assert "No module named 'torch'" in done.stderr


def test_the_default_fits_scores_saves_and_loads(packages: Path, tmp_path: Path) -> None:
    run(packages, tmp_path, "-c", LIBRARY)


def test_a_network_and_its_name_say_what_to_install(packages: Path, tmp_path: Path) -> None:
    named = "from subadjacent import SubAdjacentTransformerDetector"
    done = run(packages, tmp_path, "-c", named, code=1)
    assert done.stderr.splitlines()[-1] == (
        "subadjacent.errors.MissingPackage: SubAdjacentTransformerDetector needs torch, "
        "which is not installed: pip install 'subadjacent[network]'"
    )


def test_the_command_detects_and_reports(packages: Path, tmp_path: Path) -> None:
    command = ("-m", "subadjacent.cli.start")
    run(packages, tmp_path, *command, "generate", "plant", "--rows", "1500", "-o", "plant.csv")
    run(packages, tmp_path, *command, "detect", "plant.csv", "--quiet")
    assert {"alarms.csv", "model", "report.html", "scores.csv"} <= {
        file.name for file in (tmp_path / "plant-anomalies").iterdir()
    }
    model = "plant-anomalies/model"
    run(packages, tmp_path, *command, "score", model, "plant.csv", "-o", "again.csv")
    assert (tmp_path / "again.csv").read_text().count("\n") == 1501
    paper = ("--detector", "sub-adjacent-transformer")
    done = run(packages, tmp_path, *command, "detect", "plant.csv", *paper, code=1)
    assert "pip install 'subadjacent[network]'" in done.stderr
