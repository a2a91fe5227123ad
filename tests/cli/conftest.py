"""The command in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from running import Run, process_runner, runner


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """Run `subadjacent …` in an empty folder, in this process."""
    return runner(tmp_path)


@pytest.fixture
def process(tmp_path: Path) -> Run:
    """Run `subadjacent …` in an empty folder, in a process of its own."""
    return process_runner(tmp_path)
