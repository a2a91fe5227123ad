"""The manual page says what the command says, in roff without faults."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from subadjacent.cli.main import app
from subadjacent.cli.manual import leaves, manual, paragraph, text

PAGE = Path(__file__).parents[2] / "deploy" / "man" / "subadjacent.1"


def test_what_roff_would_take_for_its_own_is_escaped() -> None:
    assert text(r"a\b") == r"a\eb"
    assert text("--quiet") == r"\-\-quiet"
    assert text(".csv") == r"\&.csv"
    assert text("'a' or 'b'") == r"\&'a' or 'b'"
    assert text('say "x"') == r"say \(dqx\(dq"
    assert text("τ ≥ 1") == r"\[u03C4] \[u2265] 1"


def test_a_paragraph_has_a_line_for_each_sentence() -> None:
    assert paragraph("One is\n  here. Two: .x") == "One is here.\nTwo:\n\\&.x"


def test_the_page_is_that_of_the_command() -> None:
    assert PAGE.read_text() == manual(), "make it again: make man"


def test_every_command_has_a_part_with_its_options() -> None:
    page = manual()
    group = typer.main.get_command(app)
    for path, command in leaves(group):
        part = page.partition(f'.SS "{text(path)} ')[2].partition("\n.S")[0]
        for parameter in command.params:
            for option in parameter.opts:
                assert option.startswith("-") is False or text(option) in part, (path, option)


@pytest.mark.parametrize(
    "lint",
    [
        ("mandoc", "-T", "lint", "-W", "style"),
        ("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"),
    ],
)
def test_formatters_find_no_fault(lint: tuple[str, ...]) -> None:
    if not shutil.which(lint[0]):
        pytest.skip(f"{lint[0]} is not installed")
    done = subprocess.run([*lint, PAGE], capture_output=True, text=True, check=False)
    said = done.stderr + (done.stdout if lint[0] == "mandoc" else "")
    faults = [line for line in said.splitlines() if "missing date" not in line]
    assert faults == []
