"""The files of the page and of the report's charts: small, and nothing a strict policy refuses."""

from __future__ import annotations

import re
from pathlib import Path

import subadjacent

PACKAGE = Path(subadjacent.__file__).parent
PAGE = PACKAGE / "service" / "page"
FOLDERS = (PAGE, PACKAGE / "report" / "charts", PACKAGE / "report" / "page_files")
TEXTS = {file: file.read_text(encoding="utf-8") for folder in FOLDERS for file in folder.iterdir()}
MOST_LINES = 300
REFUSED = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")


def test_a_module_says_what_it_is_for_and_makes_no_markup_of_data() -> None:
    for file, text in TEXTS.items():
        if file.suffix == ".js":
            assert text.startswith("// "), file.name
            assert len(text.splitlines()) <= MOST_LINES, file.name
            assert not [refused for refused in REFUSED if refused in text], file.name
            assert not re.search(r"https?:", text), file.name
            # and is used
            named = [f'"./{file.name}"', f'"page/{file.name}"']
            assert file.name == "report.js" or any(
                name in other for name in named for other in TEXTS.values()
            ), file.name


def test_the_page_has_no_script_or_style_of_its_own_and_loads_nothing_from_elsewhere() -> None:
    text = TEXTS[PAGE / "index.html"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?:", text)
    served = {f"page/{file.name}" for file in TEXTS if file.parent.name != "page_files"}
    linked = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert len(linked) == 5
    assert set(linked) <= served
    for file, other in TEXTS.items():
        assert file.suffix != ".css" or not re.search(r"url\(|@import", other)


def test_every_element_that_is_asked_for_is_there() -> None:
    for page, script in ((PAGE / "index.html", PAGE), (FOLDERS[2] / "report.html", FOLDERS[2])):
        wanted = {
            name
            for file, text in TEXTS.items()
            if file.suffix == ".js" and file.parent == script
            for name in re.findall(r'\bbyId\("([a-z-]+)"\)(?!\?)', text)
        }
        # those of attention and training are there where a network is
        missing = {one for one in wanted if f'id="{one}"' not in TEXTS[page]}
        assert missing <= {"attention", "attention-about", "band", "curves", "add", "entity"}
