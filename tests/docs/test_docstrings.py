"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import subadjacent

SOURCE = Path(subadjacent.__file__).parent
# its library has an environment of its own, where its example is run
APART = "subadjacent.adapters.sktime"


def modules_with_examples() -> list[str]:
    files = [file for file in SOURCE.rglob("*.py") if ">>>" in file.read_text(encoding="utf-8")]
    parts = [file.relative_to(SOURCE.parent).with_suffix("").parts for file in sorted(files)]
    names = [".".join(part).removesuffix(".__init__") for part in parts]
    return [name for name in names if name != APART]


def test_every_example_in_a_docstring_gives_what_it_says() -> None:
    found = {
        name: doctest.testmod(importlib.import_module(name)) for name in modules_with_examples()
    }
    assert {name: result.failed for name, result in found.items() if result.failed} == {}
    assert sum(result.attempted for result in found.values()) >= 3
