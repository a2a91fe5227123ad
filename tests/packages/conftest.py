"""Scripts of the folder benchmarks that the tests of packages carry out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def dockerfile_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import dockerfile_steps

    yield dockerfile_steps
    sys.modules.pop("dockerfile_steps", None)
