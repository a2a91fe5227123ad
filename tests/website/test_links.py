"""Links of a page at another place; code is left as it is."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from website.links import is_local, relative, resolve, rewrite


def test_only_links_to_files_change() -> None:
    text = "[a](b.md#c) ![d](e.png) [f](https://g.org/h) [i](#j) [`k`](l.md)"
    assert rewrite(text, str.upper) == (
        "[a](B.MD#C) ![d](E.PNG) [f](https://g.org/h) [i](#j) [`k`](L.MD)"
    )


@pytest.mark.parametrize(
    "code",
    [
        "`[a](b)`",
        "``[a](`b`)``",
        "```python\nx[a](b)\n```",
        "````\n```\n[a](b)\n```\n[a](c)\n````",
        "  ```\n  [a](b)\n  ```",
    ],
)
def test_code_is_left_as_it_is(code: str) -> None:
    assert rewrite(f"[a](b)\n\n{code}\n\n[a](b)\n", str.upper) == f"[a](B)\n\n{code}\n\n[a](B)\n"


def test_a_title_of_a_link_stays() -> None:
    assert rewrite('[a](b.md "c (d)")', str.upper) == '[a](B.MD "c (d)")'


def test_a_link_is_resolved_from_its_page() -> None:
    page = PurePosixPath("docs/tutorials/plant.md")
    assert resolve(page, "../../src/a.py#L3") == (PurePosixPath("src/a.py"), "L3")
    assert resolve(page, "fleet.md") == (PurePosixPath("docs/tutorials/fleet.md"), "")


def test_a_resolved_link_is_named_from_a_page() -> None:
    page = PurePosixPath("reference/python.md")
    assert relative(page, PurePosixPath("cli.md"), "top") == "../cli.md#top"
    assert relative(page, PurePosixPath("reference/http.md")) == "http.md"


@pytest.mark.parametrize("target", ["https://a.org", "mailto:a@b", "#a"])
def test_other_places_are_not_local(target: str) -> None:
    assert not is_local(target)
