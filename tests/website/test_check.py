"""What leads nowhere is found, and so is all that another machine would have to send."""

from __future__ import annotations

from pathlib import Path

import pytest
from website.check import problems


def check(folder: Path, **pages: str) -> list[str]:
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html)
    return list(problems(folder))


def test_links_to_pages_anchors_and_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(b"")
    one = (
        '<a href="b.html#c">x</a><a href="#d">x</a><p id="d"><img src="a%20b.png"><a href=".">x</a>'
    )
    assert check(tmp_path, a=one, b='<p id="c">', index="") == []


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="b.html">x</a>', "a.html: b.html leads to no file"),
        ('<a href="#c">x</a>', "a.html: #c has no such anchor"),
        ('<a href="a.html#c">x</a>', "a.html: a.html#c has no such anchor"),
        ('<img src="b.png">', "a.html: b.png leads to no file"),
        ('<a href="../">x</a>', "a.html: ../ leads to no file"),
    ],
)
def test_what_leads_nowhere_is_told(tmp_path: Path, html: str, problem: str) -> None:
    assert check(tmp_path, a=html) == [problem]


def test_anchors_are_followed_from_a_relative_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_text('<a href="b.html#c">x</a>')
    (tmp_path / "site" / "b.html").write_text("")
    assert list(problems(Path("site"))) == ["a.html: b.html#c has no such anchor"]


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.org/x.js"></script>',
        '<link rel="stylesheet" href="https://cdn.org/x.js">',
        '<img src="//cdn.org/x.js">',
    ],
)
def test_what_another_machine_would_send_is_told(tmp_path: Path, html: str) -> None:
    [problem] = check(tmp_path, a=html)
    assert problem.endswith("cdn.org/x.js would come from another machine")


def test_a_link_that_a_reader_may_follow_can_lead_anywhere(tmp_path: Path) -> None:
    assert check(tmp_path, a='<a href="https://a.org">x</a>') == []


def test_an_empty_site_is_a_problem(tmp_path: Path) -> None:
    assert check(tmp_path) == [f"{tmp_path} has no pages"]
