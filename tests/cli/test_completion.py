"""Completion, in the shells themselves."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from running import GENEROUS
from subadjacent.cli.detector import complete_detector
from subadjacent.detectors.registry import REGISTRY

LINE = "subadjacent fit rows.csv --detector sub-"
OFFERED = ["sub-adjacent-transformer", "sub-pca"]
HEAVY = {"numpy", "scipy", "sklearn", "torch", "polars"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With the command on its path, as this interpreter runs it."""
    command = tmp_path / "subadjacent"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m subadjacent "$@"\n')
    command.chmod(0o755)
    return tmp_path


def environment(home: Path, **more: str) -> dict[str, str]:
    return os.environ | {"HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}"} | more


def script(home: Path, shell: str) -> Path:
    """What sets completion up in a shell."""
    told = subprocess.run(
        [home / "subadjacent"],
        env=environment(home, _SUBADJACENT_COMPLETE=f"source_{shell}"),
        capture_output=True,
        text=True,
        check=True,
        timeout=GENEROUS,
    )
    file = home / f"completion.{shell}"
    file.write_text(told.stdout)
    return file


def ask(home: Path, shell: str, *words: str) -> list[str]:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    told = subprocess.run(
        [shell, *words],
        env=environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
        timeout=GENEROUS,
    )
    return told.stdout.splitlines()


def test_names_are_offered_in_the_order_of_the_table() -> None:
    assert complete_detector("") == [(name, entry.summary) for name, entry in REGISTRY.items()]
    assert [name for name, _ in complete_detector("sub-")] == OFFERED
    assert [name for name, _ in complete_detector("pca")] == ["pca"]
    assert complete_detector("nothing") == []


def test_bash_offers_the_names_of_detectors(home: Path) -> None:
    words = LINE.split()
    lines = (
        f"source {script(home, 'bash')}",
        f"COMP_WORDS=({LINE}); COMP_CWORD={len(words) - 1}",
        "_subadjacent_completion subadjacent",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )
    assert ask(home, "bash", "--norc", "-c", "\n".join(lines)) == OFFERED


@pytest.mark.sweep
def test_fish_offers_the_names_of_detectors_and_what_they_do(home: Path) -> None:
    lines = f"source {script(home, 'fish')}; complete --do-complete '{LINE}'"
    offered = dict(line.split("\t") for line in ask(home, "fish", "-c", lines))
    assert offered == dict(complete_detector("sub-"))


@pytest.mark.sweep
def test_zsh_completes_a_name_as_it_is_typed(home: Path) -> None:
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    # a real terminal: zsh completes nowhere else
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], environment(home, TERM="dumb", PS1="ready> "))
    try:
        read_until(terminal, "ready> ")
        setup = f"autoload -U compinit; compinit -u -D; source {script(home, 'zsh')}; echo do''ne\n"
        os.write(terminal, setup.encode())
        read_until(terminal, "done")
        # the only name that goes on so: it is completed on the line
        os.write(terminal, b"subadjacent fit rows.csv --detector sub-p\t")
        read_until(terminal, "sub-pca")
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def read_until(terminal: int, wanted: str) -> None:
    said = ""
    while wanted not in said:
        ready, _, _ = select.select([terminal], [], [], GENEROUS)
        assert ready, f"nothing more came after {said!r}"
        said += os.read(terminal, 4096).decode(errors="replace")


def test_completion_imports_nothing_heavy(home: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "subadjacent"],
        env=environment(
            home, _SUBADJACENT_COMPLETE="complete_bash", COMP_WORDS=LINE, COMP_CWORD="4"
        ),
        capture_output=True,
        text=True,
        check=True,
        timeout=GENEROUS,
    )
    assert told.stdout.split() == OFFERED
    imported = {line.split("|")[-1].strip().partition(".")[0] for line in told.stderr.splitlines()}
    assert "typer" in imported
    assert not HEAVY & imported
