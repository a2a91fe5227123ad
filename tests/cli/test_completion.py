"""Completion, in a shell itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from running import call

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


def test_bash_offers_the_names_of_detectors(home: Path) -> None:
    """Other shells have scripts of typer as well, which call the same function."""
    sourced = environment(home, _SUBADJACENT_COMPLETE="source_bash")
    script = call([home / "subadjacent"], home, env=sourced)
    (home / "completion.bash").write_text(script.stdout)
    lines = (
        "source completion.bash",
        f"COMP_WORDS=({LINE}); COMP_CWORD={len(LINE.split()) - 1}",
        "_subadjacent_completion subadjacent",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )
    told = call(["bash", "--norc", "-c", "\n".join(lines)], home, env=environment(home))
    assert told.stdout.splitlines() == OFFERED


def test_neither_completion_nor_help_imports_anything_heavy(home: Path) -> None:
    completing = {"_SUBADJACENT_COMPLETE": "complete_bash", "COMP_WORDS": LINE, "COMP_CWORD": "4"}
    for arguments, more, shown in (((), completing, OFFERED), (("--help",), {}, ["detect"])):
        command = [sys.executable, "-X", "importtime", "-m", "subadjacent", *arguments]
        told = call(command, home, env=environment(home, **more))
        assert set(shown) <= set(told.stdout.split())
        lines = told.stderr.splitlines()
        imported = {line.split("|")[-1].strip().partition(".")[0] for line in lines}
        assert "typer" in imported
        assert not HEAVY & imported
