"""The page's files: packaged, small, without anything that a strict policy refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import subadjacent

PACKAGE = Path(subadjacent.__file__).parent
PAGE = PACKAGE / "service" / "page"
FILES = sorted(PAGE.iterdir())
MODULES = [file for file in FILES if file.suffix == ".js"]
MOST_LINES = 300

COLOURS = re.compile(r"(--[a-z-]+): (#[0-9a-f]{6})")


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.name)
def test_a_module_says_what_it_is_for_and_makes_no_markup_of_data(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("// ")
    assert len(text.splitlines()) <= MOST_LINES
    for refused in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert refused not in text
    assert not re.search(r"https?:", text)
    # and is used
    named = [f'"./{file.name}"', f'"page/{file.name}"']
    assert any(name in other.read_text(encoding="utf-8") for name in named for other in FILES)


def test_the_page_has_no_script_or_style_of_its_own_and_loads_nothing_from_elsewhere() -> None:
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?:", text)
    linked = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert len(linked) == 4
    assert all((PAGE.parent / name).is_file() for name in linked)
    assert "url(" not in (PAGE / "page.css").read_text(encoding="utf-8")
    assert "@import" not in (PAGE / "page.css").read_text(encoding="utf-8")


def test_the_colours_are_those_of_the_report() -> None:
    report = (PACKAGE / "report" / "templates" / "page.css").read_text(encoding="utf-8")
    own = (PAGE / "page.css").read_text(encoding="utf-8")
    assert COLOURS.findall(own) == COLOURS.findall(report)
    assert len(COLOURS.findall(own)) > 40


def test_every_element_that_is_asked_for_is_there() -> None:
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    wanted = {
        name
        for file in MODULES
        for name in re.findall(r'(?:byId|\bon)\("([a-z-]+)"', file.read_text(encoding="utf-8"))
    }
    assert len(wanted) > 20
    assert [name for name in sorted(wanted) if f'id="{name}"' not in html] == []
