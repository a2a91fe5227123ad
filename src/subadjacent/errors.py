"""The errors this package raises on purpose, and the two rules nearly every argument has.

Each error is also the built-in one a caller would expect, so either can be caught.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Self


class SubAdjacentError(Exception):
    """Base of every error raised on purpose by this package."""


class InputError(SubAdjacentError, ValueError):
    """An argument breaks a rule; the message names the argument, the rule and the value.

    ``of`` makes the message from its parts and keeps them, so that a program built on the
    library can ``rephrase`` it: there, the argument is a file and the remedy an option.
    """

    argument = rule = came = remedy = ""

    @classmethod
    def of(cls, argument: str, rule: str, came: str = "", remedy: str = "") -> Self:
        """An error that reads "argument rule; came: remedy", without the parts that are empty.

        Parameters
        ----------
        argument
            What is wrong, such as ``"X"`` or ``"times of X"``.
        rule
            What it must be: ``"must hold numbers"``.
        came
            What it was instead: ``"got text"``.
        remedy
            What to do about it: ``"drop the column"``.
        """
        error = cls(
            f"{argument} {rule}" + (f"; {came}" if came else "") + (f": {remedy}" if remedy else "")
        )
        error.argument, error.rule, error.came, error.remedy = argument, rule, came, remedy
        return error

    def rephrase(self, argument: str, remedy: str) -> Self:
        """The same error about another argument and with another remedy."""
        return type(self).of(argument, self.rule, self.came, remedy)


class DataNotFound(SubAdjacentError, FileNotFoundError):  # noqa: N818 — reads as a fact
    """A file or folder that was named is not there."""


class MissingPackage(SubAdjacentError, ImportError):  # noqa: N818 — reads as a fact
    """An optional package is needed and is not installed; the message says how to get it."""


class ModelFileError(SubAdjacentError, RuntimeError):
    """A saved model or checkpoint is damaged, incomplete, or made for something else."""


EXTRAS = {
    **dict.fromkeys(("rich", "typer"), "cli"),
    **dict.fromkeys(("fastapi", "httptools", "httpx2", "prometheus_client"), "serve"),
    **dict.fromkeys(("pydantic", "starlette", "uvicorn", "uvloop"), "serve"),
    "fastexcel": "datasets",
    "matplotlib": "plot",
    "polars": "files",
    "torch": "network",
    **{library: library for library in ("aeon", "darts", "pyod", "ray", "river", "sktime")},
}
"""Packages that the library works without, and the extra that installs each."""


@contextmanager
def needs(what: str) -> Iterator[None]:
    """Say what to install where a package of an extra is missing; ``what`` needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingPackage(
            f"{what} needs {package}, which is not installed: "
            f"pip install 'subadjacent[{EXTRAS[package]}]'"
        ) from error


MOST_ROWS, FARTHEST = 1_000_000, 100_000
"""Rows that a setting may count, and rows around a row that it may look at.

A model folder may ask for any number, and rows that are looked at are allocated, however few the
data has. Averaging 60 rows over a million takes seconds."""


def require_whole(
    name: str, value: Any, least: int, why: str = "", most: int | None = None
) -> None:
    """Refuse anything but a whole number of at least ``least``, and at most ``most`` if given."""
    reason = f" ({why})" if why else ""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        rule = f"must be a whole number of at least {least}{reason}"
        raise InputError.of(name, rule, f"got {value!r}")
    if most is not None and int(value) > most:
        raise InputError.of(
            name, f"must be a whole number of at most {most:,}{reason}", f"got {value!r}"
        )


def require_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> None:
    """Refuse anything but a finite number above ``above``, and from ``least`` to ``most``."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if real and above < value < math.inf and least <= value <= most:
        return
    bounds = [f"above {above:g}"] * (above > -math.inf)
    bounds += [f"of at least {least:g}"] * (least > -math.inf)
    bounds += [f"of at most {most:g}"] * (most < math.inf)
    rule = " ".join(["a finite number", " and ".join(bounds)]).strip()
    raise InputError.of(name, f"must be {rule}", f"got {value!r}")
