"""Every command and every option is documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
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


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_on_the_page(command: str) -> None:
    text = section(command)
    for parameter in COMMANDS[command].params:
        if parameter.param_type_name == "argument" or parameter.name == "help":
            continue
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("--"):
                assert f"`{option}`" in text, f"{command} {option} is not documented"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_every_option_of_the_groups_that_its_section_links_to(command: str) -> None:
    known = {option for parameter in COMMANDS[command].params for option in parameter.opts}
    for name in re.findall(r"\(#(\w+)-options\)", section(command)):
        rows = re.findall(r"^\| (`--.*?) \|", group_of_options(name), re.MULTILINE)
        assert set(re.findall(r"--[a-z-]+", " ".join(rows))) <= known


def test_the_options_of_the_command_itself_are_on_the_page() -> None:
    for parameter in typer.main.get_command(app).params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"`{option}`" in PAGE, f"{option} is not documented"


def test_no_option_is_documented_that_is_not_there() -> None:
    known = {
        option
        for command in (typer.main.get_command(app), *COMMANDS.values())
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    assert set(re.findall(r"`(--[a-z-]+)`", PAGE)) <= known
