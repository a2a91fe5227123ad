"""Wheel and sdist hold what they should, and an installed wheel runs."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

import subadjacent
from building import ROOT, build, install, link_packages, run

VERSION = subadjacent.__version__
SOURCES = ROOT / "src" / "subadjacent"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist."""
    wheel, sdist = build(ROOT, tmp_path_factory.mktemp("dist"), "wheel", "sdist")
    return wheel, sdist


@pytest.fixture(scope="module")
def environment(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel alone in it."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    install(archives[0], folder)
    return folder


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_the_wheel_has_every_file_of_the_package_and_no_other(
    archives: tuple[Path, Path],
) -> None:
    named = {Path(name) for name in contents(archives[0])}
    ours = {
        file for file in SOURCES.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    }
    inside = {name for name in named if name.parts[0] == "subadjacent"}
    assert inside == {file.relative_to(SOURCES.parent) for file in ours}
    assert {name.parts[0] for name in named - inside} == {f"subadjacent-{VERSION}.dist-info"}


def test_the_sdist_makes_the_same_wheel_and_can_be_tested(
    archives: tuple[Path, Path], tmp_path: Path
) -> None:
    wheel, sdist = archives
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    source = tmp_path / f"subadjacent-{VERSION}"
    (again,) = build(source, tmp_path / "dist", "wheel")
    assert contents(again) == contents(wheel)
    there = {file.name for file in source.iterdir()}
    assert {"tests", "docs", "deploy", "constraints.txt", "Makefile", "CONTRIBUTING.md"} <= there


def test_the_command_without_its_extra_says_what_to_install(
    environment: Path, tmp_path: Path
) -> None:
    said = run(environment, "--version", code=1, cwd=tmp_path)
    assert said == "error: this needs typer: pip install 'subadjacent[cli]'\n"
    whole = run(environment, "--debug", "--version", code=1, cwd=tmp_path)
    assert whole.rstrip().endswith("ModuleNotFoundError: No module named 'typer'")


def test_an_installed_wheel_finds_anomalies_and_writes_the_report(
    environment: Path, tmp_path: Path
) -> None:
    packages = link_packages(tmp_path / "packages")

    def tell(*words: object, program: str = "subadjacent") -> str:
        return run(environment, *words, program=program, packages=packages, cwd=tmp_path)

    place = tell("-c", "import subadjacent; print(subadjacent.__file__)", program="python")
    assert Path(place).is_relative_to(environment)
    assert tell("--version") == f"subadjacent {VERSION}\n"
    tell("generate", "plant", "--rows", 600, "-o", "plant.csv")
    assert tell("detect", "plant.csv", "-o", "found")
    assert "<html" in (tmp_path / "found" / "report.html").read_text()
