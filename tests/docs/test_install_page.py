"""The install page has the table of the last run, and names every extra."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text()
CORE_LIMIT = 300
"""Megabytes that the library may take, with all it needs."""


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("install_matrix")
    sys.modules.pop("install_matrix", None)


def test_the_table_is_that_of_the_committed_rows(matrix: ModuleType) -> None:
    made = matrix.table(matrix.read_rows(matrix.REPORT))
    assert matrix.with_table(PAGE, made) == PAGE


def test_every_row_works_and_the_library_alone_is_small(matrix: ModuleType) -> None:
    rows = matrix.read_rows(matrix.REPORT)
    assert set(rows) == set(matrix.cells(dict.fromkeys(matrix.VERSIONS, Path())))
    assert {row["result"] for row in rows.values()} == {"works"}
    sizes = [float(row["core_mb"]) for row in rows.values() if row["core_mb"]]
    assert sizes
    assert max(sizes) < CORE_LIMIT


def test_the_pythons_are_those_that_the_package_names(matrix: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one]
    assert tuple(named) == matrix.VERSIONS
    assert project["requires-python"] == f">={named[0]}"
    for extra in set(project["optional-dependencies"]) - {"dev"}:
        assert f"| `{extra}` |" in PAGE
