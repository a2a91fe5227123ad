"""The tutorials run, and say what stands in them."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from running import call

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
NAMES = ("plant", "fleet", "live", "labels")
LARGEST = 60_000
"""Bytes of an image."""
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def cells(folder: Path, name: str) -> list[dict[str, Any]]:
    book = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert isinstance(book["cells"], list)
    return book["cells"]


def said(cell: dict[str, Any]) -> list[str]:
    """The texts that a cell gives; images are left out."""
    return [
        "".join(output["text"] if "text" in output else output["data"]["text/plain"])
        for output in cell.get("outputs", [])
        if "text" in output or "text/plain" in output["data"]
    ]


def images(cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in cell.get("outputs", []) if "image/png" in one.get("data", {})]


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs_and_says_what_stands_in_it(name: str, tmp_path: Path) -> None:
    call([sys.executable, "-m", "examples.tutorials", name, "--output", tmp_path], ROOT)
    committed, made = cells(TUTORIALS, name), cells(tmp_path, name)
    assert [said(cell) for cell in made] == [said(cell) for cell in committed]
    assert [len(images(cell)) for cell in made] == [len(images(cell)) for cell in committed]


def test_tutorials_are_committed_as_the_command_writes_them() -> None:
    assert sorted(path.stem for path in TUTORIALS.iterdir()) == sorted(NAMES)
    for name in NAMES:
        book = json.loads((TUTORIALS / f"{name}.ipynb").read_text(encoding="utf-8"))
        assert list(book["metadata"]) == ["kernelspec", "language_info"]
        ids = [cell["id"] for cell in book["cells"]]
        assert ids == [f"cell-{number}" for number in range(len(ids))]
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        # images are small, and in words too
        found = [image for cell in code for image in images(cell)]
        assert found
        for image in found:
            assert len(base64.b64decode(image["data"]["image/png"])) < LARGEST
            assert len(image["metadata"]["image/png"]["alt"]) > 40
        texts = ["".join(cell["source"]) for cell in book["cells"] if cell not in code]
        targets = LINK.findall("".join(texts).replace("\n", " "))
        assert len(targets) >= 3
        assert [one for one in targets if not (TUTORIALS / one).is_file()] == []
