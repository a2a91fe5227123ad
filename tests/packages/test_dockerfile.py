"""The Dockerfile's steps, carried out without Docker; and with it, where it is there."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from building import ROOT, link_packages, show_packages


@pytest.fixture
def folder() -> Iterator[Path]:
    """That other users can look into, which pytest's own cannot be."""
    with tempfile.TemporaryDirectory(prefix="subadjacent-image-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_instructions_are_read_with_their_continued_lines(dockerfile_steps: ModuleType) -> None:
    text = "# a remark\nFROM a AS b\n\nRUN one \\\n    two\n# another\nuser 7:7\n"
    found = [tuple(step) for step in dockerfile_steps.steps(text)]
    assert found == [("FROM", "a AS b"), ("RUN", "one two"), ("USER", "7:7")]


def test_what_the_ignore_file_does_not_allow_is_not_copied(dockerfile_steps: ModuleType) -> None:
    assert dockerfile_steps.allowed("src") == ROOT / "src"
    with pytest.raises(ValueError, match=r"^tests must be allowed by Dockerfile\.dockerignore"):
        dockerfile_steps.allowed("tests")


def test_the_image_has_no_root_keeps_its_data_and_takes_in_nothing_unnamed(
    dockerfile_steps: ModuleType,
) -> None:
    text = dockerfile_steps.DOCKERFILE.read_text()
    said = {step.name: step.words for step in dockerfile_steps.steps(text)}
    assert said["USER"] == "10001:10001"
    assert said["VOLUME"] == "/data"
    assert "--constraint constraints.txt" in text
    ignored = dockerfile_steps.DOCKERFILE.with_name("Dockerfile.dockerignore").read_text()
    rules = [line for line in ignored.splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user, as a build does")
def test_the_steps_give_a_service_that_is_healthy_and_asks_for_tokens(
    dockerfile_steps: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what an index would bring is there already; "0" is pip's way to write yes here
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    packages = link_packages(folder / "packages")
    trial = dockerfile_steps.Trial(folder, Path(sys._base_executable))  # type: ignore[attr-defined]
    trial.after_venv = lambda venv: show_packages(venv, packages)
    trial.carry_out(list(dockerfile_steps.steps(dockerfile_steps.DOCKERFILE.read_text())))
    assert sorted(path.name for path in trial.root.iterdir()) == ["data", "opt"]
    assert trial.user is None or (trial.root / "data").stat().st_uid == trial.user

    with pytest.raises(
        RuntimeError, match=r"ended with 1 .*subadjacent is not there; --token-file"
    ):
        trial.start()
    trial.put_tokens()
    process, port = trial.start()
    try:
        assert trial.becomes_healthy(process, port)
        address = f"http://127.0.0.1:{port}"
        with urlopen(f"{address}/") as page:
            assert b"<html" in page.read()
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{address}/api/series")
        token = dockerfile_steps.TOKENS.split()[1]
        with urlopen(
            Request(f"{address}/api/series", headers={"Authorization": f"Bearer {token}"})
        ) as answer:
            assert answer.status == 200
    finally:
        code = dockerfile_steps.end(process)
    assert code in (0, 143)
    assert not trial.is_healthy(port)


def test_docker_builds_the_image(dockerfile_steps: ModuleType) -> None:
    try:
        asked = subprocess.run(["docker", "info"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("docker is not installed")
    if asked.returncode:
        pytest.skip(f"docker does not run: {asked.stderr.strip().splitlines()[-1]}")
    words = ("docker", "build", "--quiet", "--file", dockerfile_steps.DOCKERFILE, ROOT)
    assert subprocess.check_output(words, text=True).startswith("sha256:")
