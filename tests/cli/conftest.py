"""The command in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from running import Run, runner


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """Run `subadjacent …` in an empty folder, in this process."""
    return runner(tmp_path)
