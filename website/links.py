"""Links of a Markdown page, rewritten for another place."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath

# a block or a span of code, in which nothing is a link
CODE = re.compile(r"(^ *(`{3,})[^\n]*\n.*?^ *\2`* *$|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`))", re.M | re.S)
# the target in [text](target) or ![text](target "title")
TARGET = re.compile(r"(?<=\]\()([^)\s]+)(?=(?:\s+\"[^\"]*\")?\))")


def is_local(target: str) -> bool:
    """Whether a link leads to a file of the repository."""
    return not re.match(r"[a-z][a-z0-9+.-]*:", target) and not target.startswith("#")


def resolve(page: PurePosixPath, target: str) -> tuple[PurePosixPath, str]:
    """The file that a link on ``page`` leads to, from the repository's root, and its anchor."""
    path, _, anchor = target.partition("#")
    return PurePosixPath(posixpath.normpath(page.parent / path)), anchor


def relative(page: PurePosixPath, target: PurePosixPath, anchor: str = "") -> str:
    """How ``page`` names ``target``; both are from the same root."""
    path = posixpath.relpath(target, page.parent)
    return f"{path}#{anchor}" if anchor else path


def rewrite(text: str, change: Callable[[str], str]) -> str:
    """``text`` with the target of every link to a file replaced by what ``change`` gives."""

    def changed(prose: str) -> str:
        return TARGET.sub(lambda found: change(found[0]) if is_local(found[0]) else found[0], prose)

    return outside_code(text, changed)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """``text`` with ``change`` made to all of it but code."""
    pieces, end = [], 0
    for found in CODE.finditer(text):
        pieces += [change(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*pieces, change(text[end:])])
