"""Reference page of the command, from its own help."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from subadjacent.cli.main import app


def page() -> str:
    """Usage, arguments and options of every command, in the order of ``--help``."""
    command = get_command(app)
    lines = [
        "# Command",
        "",
        f"{command.help} [How to use it](../cli.md), with examples.",
        "",
        *_parameters(command, typer.Context(command, info_name="subadjacent")),
    ]
    for context in _below(command, typer.Context(command, info_name="subadjacent")):
        lines += ["", f"## {context.command_path}", "", *_text(context.command.help or "")]
        usage = " ".join(context.command.collect_usage_pieces(context))
        lines += ["", f"```text\n{context.command_path} {usage}\n```", ""]
        lines += _parameters(context.command, context)
    return "\n".join(lines) + "\n"


def _below(command: Any, context: typer.Context) -> Iterator[typer.Context]:
    for name, child in command.commands.items():
        if child.hidden:
            continue
        inner = typer.Context(child, info_name=name, parent=context)
        if hasattr(child, "commands"):
            yield from _below(child, inner)
        else:
            yield inner


def _parameters(command: Any, context: typer.Context) -> list[str]:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and "--help" not in parameter.opts:
            name, about = (_cell(part) for part in record)
            rows.append(f"| `{name}` | {about} |")
    return ["| parameter | meaning |", "|---|---|", *rows] if rows else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text(text: str) -> list[str]:
    # typer keeps paragraphs apart by empty lines, and marks one whose lines stay as they are
    return inspect.cleandoc(text).replace("\b\n", "").replace("\f", "").splitlines()
