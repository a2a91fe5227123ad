"""What the page says of libraries that cannot be installed beside ours is true."""

from __future__ import annotations

import doctest
import re
from importlib.metadata import requires, version
from pathlib import Path

import pytest

pytest.importorskip("sktime", reason="in an environment of its own: make test-adapters")

from packaging.requirements import Requirement

import subadjacent.adapters.sktime

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
BESIDE_OURS = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
)


@pytest.mark.parametrize("library", ["aeon", "sktime"])
def test_the_block_of_a_library_runs(library: str) -> None:
    (code,) = re.findall(
        rf"^## {library}$.*?^```python no-run[^\n]*\n(.*?)^```$", PAGE, re.M | re.S
    )
    exec(compile(code, str(ROOT / "docs" / "adapters.md"), "exec", dont_inherit=True), {})


@pytest.mark.parametrize("library", ["aeon", "sktime"])
def test_a_library_still_refuses_what_the_other_tests_run_with(library: str) -> None:
    """If not, it can move to the other environment, and this one go."""
    found = (Requirement(one) for one in requires(library) or () if "extra ==" not in one)
    (pandas,) = (one for one in found if one.name == "pandas")
    assert not pandas.specifier.contains(BESIDE_OURS["pandas"])


@pytest.mark.parametrize("library", ["aeon", "sktime"])
def test_the_page_names_the_version_that_is_tested(library: str) -> None:
    assert f"| {library} {version(library)} |" in PAGE


def test_the_example_of_sktimes_adapter_is_true() -> None:
    found = doctest.testmod(subadjacent.adapters.sktime)
    assert found.attempted > 3
    assert found.failed == 0
