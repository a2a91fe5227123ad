"""The library's errors, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from subadjacent.errors import EXTRAS, InputError

OPTIONS = {"until": "--train-until", "time_format": "--time-format"}
"""Arguments of the library, and the options that stand for them."""


@contextmanager
def errors_about(files: Sequence[str]) -> Iterator[None]:
    """Rephrase library errors for the command line: files and options instead of ``X``."""
    from subadjacent.data.missing import RAISE_FILL_LIMIT
    from subadjacent.detectors.seen import NAME_ENTITIES

    remedies = {
        RAISE_FILL_LIMIT: "leave the column out (--ignore), or raise fill_limit in a --config file",
        NAME_ENTITIES: "name their column with --entity",
    }
    try:
        yield
    except InputError as error:
        if not error.argument:
            raise
        argument = OPTIONS.get(error.argument) or _in_files(error.argument, files)
        remedy = remedies.get(error.remedy, error.remedy)
        remedy = remedy.replace("time_format=", f"{OPTIONS['time_format']} ")
        raise error.rephrase(argument, remedy) from error


def _in_files(argument: str, files: Sequence[str]) -> str:
    """Put the files in place of ``X`` in "X", "X['pump']" or "times of X"."""
    prefix = "times of " if argument.startswith("times of ") else ""
    name = argument.removeprefix(prefix)
    if name != "X" and not name.startswith("X["):
        return argument
    return f"{prefix}{', '.join(files)}{name.removeprefix('X')}"


def missing_package(error: ModuleNotFoundError) -> str:
    """The sentence that says which extra to install for a missing package."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return f"{error} (--debug shows where)"
    return f"this needs {package}: pip install 'subadjacent[{EXTRAS[package]}]'"
