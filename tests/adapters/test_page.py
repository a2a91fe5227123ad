"""The page names the versions that the adapters are tested with."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("library", ["scikit-learn", "PyOD", "river", "Darts"])
def test_the_page_names_the_version_that_is_tested(library: str) -> None:
    assert f"| {library} {version(library)} |" in PAGE
