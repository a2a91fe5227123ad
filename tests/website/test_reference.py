"""Reference pages are of the code as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

import subadjacent
from subadjacent.cli.main import app
from website import command, http_routes, python_names, source_links

pytestmark = pytest.mark.sweep


def test_every_public_name_has_a_page_and_a_line_in_the_list() -> None:
    pages = python_names.public_pages()
    listed = re.findall(
        r"^\| \[`(\w+)`\]\((\w+)\.md\) \| (.+) \|$", pages["reference/python"], re.M
    )
    assert sorted(name for name, _, _ in listed) == sorted(subadjacent.__all__)
    assert all(name == page and about for name, page, about in listed)
    assert {f"reference/{name}" for name in subadjacent.__all__} < set(pages)


def test_a_submodule_whose_library_is_not_installed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wraps.py").write_text(
        "from subadjacent.errors import MissingPackage\nraise MissingPackage('needs darts')\n"
    )
    monkeypatch.setattr(subadjacent, "__path__", [*subadjacent.__path__, str(tmp_path)])
    assert python_names.imported(["```python\nfrom subadjacent.wraps import x\n```\n"]) == {}
    with pytest.raises(ModuleNotFoundError):
        python_names.imported(["```python\nfrom subadjacent.nothing import x\n```\n"])


def test_code_is_found_where_it_is_written() -> None:
    text = "../source/src/subadjacent/{}.html#:~:text={}"
    found = source_links.url("subadjacent", "SubAdjacentDetector")
    assert found == text.format("detectors/default.py", "class%20SubAdjacentDetector")
    # a method that is inherited
    found = source_links.url("subadjacent", "SubAdjacentDetector.predict")
    assert found == text.format("detectors/base.py", "def%20predict%28")
    assert source_links.url("subadjacent", "load") == text.format(
        "detectors/registry.py", "def%20load%28"
    )
    # a field has no code
    assert source_links.url("subadjacent", "Alarm.first") is None


def test_every_option_of_every_command_is_on_the_page() -> None:
    page = command.page()
    commands = {name: one for name, one in get_command(app).commands.items() if not one.hidden}
    assert len(commands) > 10
    for name, one in commands.items():
        part = page.split(f"## subadjacent {name}\n")[1].split("\n## ")[0]
        options = [text for param in one.params for text in param.opts if text.startswith("--")]
        missing = [text for text in options if text != "--help" and text not in part]
        assert missing == [], name


def test_every_route_and_every_record_is_on_the_page() -> None:
    description = http_routes.description()
    page = http_routes.page(description)
    for path, operations in description["paths"].items():
        for method in operations:
            assert f"\n## {method.upper()} {path}\n" in page
    for name in description["components"]["schemas"]:
        assert f"\n### {name}\n" in page
