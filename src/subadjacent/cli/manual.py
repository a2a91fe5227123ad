"""The manual page, made from the command itself: ``python -m subadjacent.cli.manual > FILE``.

The page is committed as ``deploy/man/subadjacent.1`` and installed with the package; a test fails
when it is older than the command.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import typer

import subadjacent
from subadjacent.cli.main import BAD_INPUT, BAD_USAGE, app
from subadjacent.cli.output import print_text
from subadjacent.cli.start import INTERRUPTED, TERMINATED

NAME = "subadjacent"

WIDTH = 72
"""Characters in a line of the page's source; escapes are added to them."""

EXAMPLES = (
    (
        "Find anomalies in a file, and write a page that explains them:",
        "subadjacent detect plant.csv",
    ),
    ("Learn what is normal once, and score later rows:", "subadjacent fit normal.csv -o model/"),
    ("", "subadjacent score model/ new.csv -o scores.csv"),
    ("Score rows as they come:", "tail -f plant.ndjson | subadjacent stream --learn --alarms-only"),
    ("Take rows over HTTP, and show alarms on a page:", "subadjacent serve --data plant/"),
)
"""What a line does, and the line; nothing where it goes on from the line before."""

EXIT_CODES = {
    0: "Done.",
    BAD_INPUT: "Bad input: a file, a setting or a disk. One sentence says which.",
    BAD_USAGE: "Bad usage: an unknown command or option, or an impossible value.",
    INTERRUPTED: "Interrupted by Ctrl-C.",
    TERMINATED: "Ended by SIGTERM.",
}

ENVIRONMENT = {
    "RAY_ADDRESS": "The Ray cluster for '--engine ray'; a local one if not set.",
}


def manual() -> str:
    """The page, in the language of man(7)."""
    group: Any = typer.main.get_command(app)
    return "\n".join((*_lines(group), ""))


def _lines(group: Any) -> Iterator[str]:
    title = f'"{NAME} {subadjacent.__version__}"'
    # without a date: it would change the page whenever it is made
    yield f'.TH {NAME.upper()} 1 "" {title} "User commands"'
    yield from (".SH NAME", rf"{NAME} \- find anomalies in multivariate time series")
    yield from (".SH SYNOPSIS", f".B {NAME}")
    yield r"[\fIoptions\fR] \fIcommand\fR [\fIarguments\fR]"
    yield from (".SH DESCRIPTION", paragraph(group.help))
    yield from (".SH OPTIONS", *_parameters(group, NAME))
    yield ".SH COMMANDS"
    for path, command in leaves(group):
        yield from _command(path, command)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", rf"\fB{code}\fR", paragraph(meaning))
    yield ".SH ENVIRONMENT"
    for name, meaning in ENVIRONMENT.items():
        yield from (".TP", rf"\fB{name}\fR", paragraph(meaning))
    yield ".SH EXAMPLES"
    for number, (says, line) in enumerate(EXAMPLES):
        if says:
            yield from ((".PP",) if number else ())
            yield from (text(says), ".PP")
        yield from (".EX", text(line), ".EE")


def leaves(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by what is typed for it; those of a group too."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from leaves(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _command(path: str, command: Any) -> Iterator[str]:
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    typed = " ".join((path, *map(argument_name, arguments), "[options]"))
    yield from (f'.SS "{text(typed)}"', paragraph(command.help))
    yield from _parameters(command, path)


def argument_name(argument: Any) -> str:
    """The name of an argument as in a line of usage: KIND, FILES..., [FILE]."""
    name = f"{argument.name.upper()}{'...' if argument.nargs < 0 else ''}"
    return name if argument.required else f"[{name}]"


def _parameters(command: Any, path: str) -> Iterator[str]:
    context = typer.Context(command, info_name=path)
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        # every command has --help: it is described once
        if record is None or (parameter.name == "help" and path != NAME):
            continue
        head, meaning = record
        if parameter.param_type_name == "argument":
            head = argument_name(parameter)
        yield from (".TP", rf"\fB{text(' '.join(head.split()))}\fR", paragraph(meaning))


def paragraph(words: str) -> str:
    """Sentences, each on lines of its own: that is how roff knows where one ends."""
    sentences = re.split(r"(?<=[.;:]) ", " ".join(words.split()))
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, WIDTH)]
    return "\n".join(map(text, lines))


def text(words: str) -> str:
    """Words as they are, whatever they would mean to roff."""
    shown = " ".join(words.split()).replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    shown = re.sub(r"[^\x00-\x7f]", lambda match: rf"\[u{ord(match[0]):04X}]", shown)
    # a line that begins with one of these is a request
    return rf"\&{shown}" if shown.startswith((".", "'")) else shown


if __name__ == "__main__":
    print_text(manual().rstrip("\n"))
