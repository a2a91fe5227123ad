"""Pages at their places on the site: links, code, pictures, notebooks, and the menu."""

from __future__ import annotations

import base64
import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from website.check import problems
from website.gather import Gathering
from website.links import is_local, relative, resolve, rewrite
from website.navigation import ABOUTS, SECTIONS, TITLES, sections
from website.notebooks import as_markdown

PAGE, PLACE = PurePosixPath("docs/f.md"), PurePosixPath("f.md")


def test_only_links_to_files_change_and_code_is_left_as_it_is() -> None:
    text = '[a](b.md#c) ![d](e.png) [f](https://g.org/h) [i](#j) [`k`](l.md) [a](b.md "c (d)")'
    assert rewrite(text, str.upper) == (
        '[a](B.MD#C) ![d](E.PNG) [f](https://g.org/h) [i](#j) [`k`](L.MD) [a](B.MD "c (d)")'
    )
    for code in (
        "`[a](b)`",
        "``[a](`b`)``",
        "```python\nx[a](b)\n```",
        "````\n```\n[a](b)\n```\n[a](c)\n````",
        "  ```\n  [a](b)\n  ```",
    ):
        changed = rewrite(f"[a](b)\n\n{code}\n\n[a](b)\n", str.upper)
        assert changed == f"[a](B)\n\n{code}\n\n[a](B)\n"
    assert not any(map(is_local, ("https://a.org", "mailto:a@b", "#a")))


def test_a_link_is_resolved_from_its_page_and_named_from_another() -> None:
    page = PurePosixPath("docs/tutorials/plant.md")
    assert resolve(page, "../../src/a.py#L3") == (PurePosixPath("src/a.py"), "L3")
    assert resolve(page, "fleet.md") == (PurePosixPath("docs/tutorials/fleet.md"), "")
    page = PurePosixPath("reference/python.md")
    assert relative(page, PurePosixPath("cli.md"), "top") == "../cli.md#top"
    assert relative(page, PurePosixPath("reference/http.md")) == "http.md"


@pytest.fixture
def gathering(tmp_path: Path) -> Gathering:
    root = tmp_path / "repository"
    names = "README.md src/a.py src/.hidden data/b.csv docs/c.md"
    pictures = "docs/images/d-light.png docs/images/d-dark.png docs/images/e-light.png"
    for name in f"{names} {pictures}".split():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("# name: words\n")
    return Gathering(root, tmp_path / "source")


def test_a_link_leads_to_its_place_on_the_site(gathering: Gathering) -> None:
    for link, at_place in (
        ("c.md#d", "c.md#d"),
        ("../README.md", "index.md"),
        ("../src/a.py", "source/src/a.py.md"),
        ("../src", "source/src/index.md"),
        ("../data/b.csv", "source/data/b.csv"),
    ):
        assert gathering.mended(f"[x]({link})", PAGE, PLACE) == f"[x]({at_place})"
    with pytest.raises(FileNotFoundError, match=r"docs/f\.md links to g\.md, which is not there"):
        gathering.mended("[x](g.md)", PAGE, PLACE)
    for file, place in (
        ("docs/cli.md", "cli.md"),
        ("docs/README.md", "architecture.md"),
        ("docs/gallery/README.md", "gallery/index.md"),
        ("docs/tutorials/plant.ipynb", "tutorials/plant.md"),
        ("CHANGELOG.md", "changelog.md"),
    ):
        assert gathering.place(PurePosixPath(file)) == PurePosixPath(place)


def test_every_page_has_one_place_in_the_menu() -> None:
    def placed(*pages: str) -> dict[str, tuple[str, ...]]:
        return {one.title: one.pages for one in sections(pages)}

    # in reading order; one that nobody placed goes to its folder's section, or is a how-to
    assert placed("maths", "method", "cli", "new", "tutorials/more", "gallery/pump", "index") == {
        "Tutorials": ("tutorials/more",),
        "Gallery": ("gallery/pump",),
        "How-to": ("cli", "new"),
        "Explanation": ("method", "maths"),
    }
    assert placed("tutorials/live", "tutorials/plant") == {
        "Tutorials": ("tutorials/plant", "tutorials/live")
    }
    named = [page for section in SECTIONS for page in (section.name, *section.pages)]
    assert len(named) == len(set(named))
    assert set(TITLES) | set(ABOUTS) <= {page for section in SECTIONS for page in section.pages}
    assert all(about.endswith(".") and about.count(". ") == 0 for about in ABOUTS.values())


def check(folder: Path, **pages: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html)
    return list(problems(folder))


def test_links_are_followed_and_what_leads_nowhere_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(tmp_path / "empty") == [f"{tmp_path / 'empty'} has no pages"]
    (tmp_path / "a b.png").write_bytes(b"")
    right = (
        '<a href="b.html#c">x</a><a href="#d">x</a><p id="d"><img src="a%20b.png"><a href=".">x</a>'
        '<a href="https://a.org">x</a>'
    )
    assert check(tmp_path, a=right, b='<p id="c">', index="") == []
    for html, problem in (
        ('<a href="e.html">x</a>', "e.html leads to no file"),
        ('<a href="#c">x</a>', "#c has no such anchor"),
        ('<a href="b.html#e">x</a>', "b.html#e has no such anchor"),
        ('<img src="b.png">', "b.png leads to no file"),
        ('<a href="../none/">x</a>', "../none/ leads to no file"),
    ):
        assert check(tmp_path, a=html) == [f"a.html: {problem}"]
        # from a relative folder, too
        with monkeypatch.context() as there:
            there.chdir(tmp_path.parent)
            assert list(problems(Path(tmp_path.name))) == [f"a.html: {problem}"]
    for html in (
        '<script src="https://cdn.org/x.js"></script>',
        '<link rel="stylesheet" href="https://cdn.org/x.js">',
        '<img src="//cdn.org/x.js">',
    ):
        (problem,) = check(tmp_path, a=html)
        assert problem.endswith("cdn.org/x.js would come from another machine")


def notebook(*cells: dict[str, Any]) -> str:
    return as_markdown(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": outputs}


def printed(name: str, text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": [text]}


def test_a_notebook_is_a_page_of_text_code_and_output() -> None:
    text = {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]}
    out, err = printed("stdout", "\x1b[1m2\x1b[0m\n"), printed("stderr", "careful\n")
    assert notebook(text, code("print(1 + 1)", out, err)) == (
        "# Title\n\nWords.\n\n"
        "```python\nprint(1 + 1)\n```\n\n"
        "```{code-block} text\n:class: output\n\n2\n```\n"
    )
    assert "````python\nx = '''\n```\n'''\n````" in notebook(code("x = '''\n```\n'''"))
    assert notebook(code("")).strip() == ""
    failed = {"output_type": "error", "ename": "KeyError", "evalue": "'flow'", "traceback": []}
    with pytest.raises(ValueError, match="a cell of the notebook failed: KeyError: 'flow'"):
        notebook(code("x", failed))


def test_tables_and_pictures_of_a_notebook_are_in_the_page() -> None:
    def shown(**data: str) -> dict[str, Any]:
        named = {name.replace("_", "/"): one for name, one in data.items()}
        return {"output_type": "display_data", "data": named}

    encoded = base64.b64encode(b"picture").decode()
    page = notebook(
        code("frame", shown(text_html="<table></table>", text_plain="a b")),
        code("draw()", shown(image_png=encoded + "\n", text_plain="<Figure>")),
    )
    assert "<table></table>" in page
    assert f'src="data:image/png;base64,{encoded}"' in page
    assert "a b" not in page
    assert "Figure" not in page
