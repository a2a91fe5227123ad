"""`python -m reproduce` in an empty folder."""

from __future__ import annotations

import os
from pathlib import Path

import pooch
import pytest

from running import Run, runner

ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """Run `python -m reproduce …` in an empty folder, in this process."""
    return runner(tmp_path, "reproduce.__main__", "main")


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The environment of a process elsewhere that can import ``reproduce``."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads are tried again without a pause."""
    monkeypatch.setattr(pooch.core.time, "sleep", lambda _seconds: None)
