"""Wheel and sdist of this repository, and empty environments to install them in."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from running import GENEROUS

ROOT = Path(__file__).parents[1]

OURS = ("subadjacent", "_editable", "__editable__", "pip")
"""Of what is installed where the tests run: not to be seen by an environment of a test."""


def build(source: Path, target: Path, *kinds: str) -> list[Path]:
    """Build archives without a network, by the backend that pip would call."""
    words = [word for kind in kinds for word in ("--target", kind)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *words, "--directory", target],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=GENEROUS,
    )
    return sorted(target.iterdir())


def link_packages(folder: Path) -> Path:
    """A folder that has everything installed here but us: what an index would have brought."""
    folder.mkdir()
    places = [Path(place) for place in sys.path if Path(place).name == "site-packages"]
    for entry in (entry for place in places for entry in place.iterdir()):
        link = folder / entry.name
        if not entry.name.startswith(OURS) and entry.suffix != ".pth" and not link.is_symlink():
            link.symlink_to(entry)
    return folder


def show_packages(environment: Path, packages: Path) -> None:
    """Let an environment import what is in a folder."""
    (found,) = environment.glob("lib/python*/site-packages")
    (found / "elsewhere.pth").write_text(f"{packages}\n")


def install(wheel: Path, environment: Path) -> None:
    """A new environment with one wheel in it, and nothing else."""
    venv.create(environment, symlinks=True)
    words = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel)
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    subprocess.run([*pip, *words], check=True, capture_output=True, timeout=GENEROUS)


def run(
    environment: Path,
    *words: object,
    program: str = "subadjacent",
    packages: Path | None = None,
    code: int = 0,
    cwd: Path,
) -> str:
    """What the installed command said, in a folder; it sees nothing of the repository."""
    seen = {} if packages is None else {"PYTHONPATH": str(packages)}
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | seen
    done = subprocess.run(
        [environment / "bin" / program, *map(str, words)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout
