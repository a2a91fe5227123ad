"""The site that ``make docs`` builds; it is built here only where it is missing or behind."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import pytest

from running import call

ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "website", "src", "results", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")


def newest(paths: list[Path]) -> float:
    return max(
        file.stat().st_mtime
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    )


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    built = ROOT / "site"
    (ROOT / "build").mkdir(exist_ok=True)
    # tests run in two processes: the second one waits, and then finds it there
    with (ROOT / "build" / "website.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        last = built / "searchindex.js"
        if not last.is_file() or last.stat().st_mtime < newest([ROOT / one for one in SOURCES]):
            call([sys.executable, "-m", "website"], ROOT)
    return built
