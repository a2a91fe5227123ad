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


def test_a_table_takes_the_place_of_the_one_before(matrix: ModuleType) -> None:
    page = "a\n<!-- matrix -->\nold\n<!-- /matrix -->\nb\n"
    assert matrix.with_table(page, "new\n") == page.replace("old", "new")


def test_a_row_is_a_line_and_a_cell_without_one_is_named(
    matrix: ModuleType, tmp_path: Path
) -> None:
    cell = matrix.Cell("3.11", "lowest", "wheel")
    row = dict.fromkeys(matrix.COLUMNS, "x") | cell._asdict() | {"result": "fails: no wheel"}
    matrix.write_rows({cell: row}, tmp_path / "rows.csv")
    assert matrix.read_rows(tmp_path / "rows.csv") == {cell: row}
    *_, line, _, missing = matrix.table({cell: row}).splitlines()
    assert line.startswith("| x | lowest | wheel | x | fails: no wheel | x |")
    assert missing.startswith("Not tried so far, or not to be had: 3.11 newest wheel; 3.12 lowest")


def test_a_row_of_an_sdist_names_no_package_that_was_not_installed(matrix: ModuleType) -> None:
    cell = matrix.Cell("3.11", "lowest", "sdist")
    row = dict.fromkeys(matrix.COLUMNS, "1") | cell._asdict()
    *_, line, _, _ = matrix.table({cell: row}).splitlines()
    assert line == "| 1 | lowest | sdist | 1 | 1 | 1 | 1 | 1 | 1 |  |  |  |"
    # one that works is not listed
    assert "sdist |" not in matrix.table({cell: row | {"result": "works"}})


def test_an_environment_is_measured_and_pins_are_read(matrix: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib" / "deep" / "file").write_bytes(bytes(3_600_000))
    assert matrix.megabytes(tmp_path / "bin" / "python") == "4"
    (tmp_path / "pins").write_text("# a remark\nnumpy==1.26.0 ; python_version < '4'\nscipy==2\n")
    assert matrix.pinned(tmp_path / "pins") == {"numpy": "1.26.0", "scipy": "2"}


def test_the_version_of_a_package_is_asked_of_the_environment(matrix: ModuleType) -> None:
    assert matrix.installed(Path(sys.executable), "pytest") == pytest.__version__


def test_a_step_that_fails_gives_its_last_line(matrix: ModuleType) -> None:
    code = "import sys; sys.exit('first\\nlast')"
    with pytest.raises(matrix.StepError, match=r"^last$"):
        matrix.call(sys.executable, "-c", code)
    here = Path(sys.executable)
    version = ".".join(map(str, sys.version_info[:2]))
    assert matrix.interpreters([here])[version] == here
