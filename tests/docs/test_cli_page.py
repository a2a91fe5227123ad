"""Every command and every option is documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from subadjacent.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def leaves(group: Any, before: str = "") -> dict[str, Any]:
    """Every command by what is typed for it; those of a group too."""
    found = {}
    for name, command in group.commands.items():
        if command.hidden:
            continue
        nested = hasattr(command, "commands")
        found |= leaves(command, f"{before}{name} ") if nested else {f"{before}{name}": command}
    return found


COMMANDS = leaves(typer.main.get_command(app))


def section(command: str) -> str:
    """The section of one command, with the groups of options that it links to."""
    found = re.search(rf"^### `{command}[ `].*?(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/cli.md has no section for {command}"
    groups = re.findall(r"\(#(\w+)-options\)", found[0])
    return "\n".join([found[0], *map(group_of_options, groups)])


def group_of_options(name: str) -> str:
    title = f"### {name.capitalize()} options\n"
    start = PAGE.index(title) + len(title)
    return PAGE[start : PAGE.index("\n#", start)]


def options_of(command: Any) -> set[str]:
    names = (
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    )
    return {name for name in names if name.startswith("--")} - {"--help"}


def test_every_option_of_a_command_is_on_the_page_and_no_other() -> None:
    known = options_of(typer.main.get_command(app))
    missing = [name for name in known if f"`{name}`" not in PAGE]
    for name, command in COMMANDS.items():
        text, options = section(name), options_of(command)
        missing += [f"{name} {option}" for option in options if f"`{option}`" not in text]
        # a group of options that a section links to holds no other
        for group in re.findall(r"\(#(\w+)-options\)", text):
            rows = re.findall(r"^\| (`--.*?) \|", group_of_options(group), re.MULTILINE)
            assert set(re.findall(r"--[a-z-]+", " ".join(rows))) <= options
        known |= options
    assert missing == []
    assert set(re.findall(r"`(--[a-z-]+)`", PAGE)) <= known | {"--help"}
