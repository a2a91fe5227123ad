"""Benchmark scripts, imported as they are when they are run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator

import pytest

from benchmark_scripts import FOLDER, SCRIPTS, Load


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Imports a script; its folder comes first."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in SCRIPTS if name in sys.modules}
    yield importlib.import_module
    for name in SCRIPTS:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def run(
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
    # of the file, not of Python's streams: processes that a script starts print too
    capfd: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """Runs a script, and gives what it printed."""

    def run(name: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        load(name).main()
        return capfd.readouterr().out

    return run
