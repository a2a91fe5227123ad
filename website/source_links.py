"""Where the code of a documented name is: the module that has it, and the words it begins with."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import quote

PACKAGE = "subadjacent"


def files(module: str, name: str) -> Iterator[PurePosixPath]:
    """Files that have the code of a name, and of what its class inherits."""
    one = getattr(importlib.import_module(module), name)
    for owner in inspect.getmro(one) if inspect.isclass(one) else (one,):
        if (file := _file(owner)) is not None:
            yield file


def url(module: str, name: str) -> str | None:
    """The page that shows the code of a name, or of a class's member, from a reference page.

    The browser looks for the words after ``:~:text=`` and goes there.
    """
    first, _, member = name.partition(".")
    one = getattr(importlib.import_module(module), first)
    if member:
        if not inspect.isclass(one):
            return None
        owner = next((part for part in inspect.getmro(one) if member in vars(part)), None)
        if owner is None or not callable(getattr(owner, member)):
            return None
        words = f"def {member}("
    else:
        owner, words = one, f"class {first}" if inspect.isclass(one) else f"def {first}("
    file = _file(owner)
    return None if file is None else f"../source/{file}.html#:~:text={quote(words)}"


def _file(one: object) -> PurePosixPath | None:
    """The file of a class or function of this package, from the repository's root."""
    module = getattr(one, "__module__", None) or ""
    if module.partition(".")[0] != PACKAGE:
        return None
    path = PurePosixPath("src") / module.replace(".", "/")
    return (
        path / "__init__.py"
        if hasattr(importlib.import_module(module), "__path__")
        else path.with_suffix(".py")
    )
