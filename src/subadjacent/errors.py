"""The errors this package raises on purpose, and the two rules nearly every argument has.

Each error is also the built-in one a caller would expect, so either can be caught.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


class SubadjacentError(Exception):
    """Base of every error raised on purpose by this package."""


class InputError(SubadjacentError, ValueError):
    """An argument breaks a rule; the message names the argument, the rule and what came."""


class DataNotFound(SubadjacentError, FileNotFoundError):  # noqa: N818 — reads as a fact
    """A file or folder that was named is not there."""


class MissingPackage(SubadjacentError, ImportError):  # noqa: N818 — reads as a fact
    """An optional package is needed and is not installed; the message says how to get it."""


class ModelFileError(SubadjacentError, RuntimeError):
    """A saved model or checkpoint is damaged, incomplete, or made for something else."""


def require_whole(name: str, value: Any, least: int, why: str = "") -> None:
    """Refuse anything but a whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        reason = f" ({why})" if why else ""
        raise InputError(
            f"{name} must be a whole number of at least {least}{reason}; got {value!r}"
        )


def require_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf
) -> None:
    """Refuse anything but a finite number above ``above``, and of at least ``least``."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if real and above < value < math.inf and value >= least:
        return
    bounds = [f"above {above:g}"] * (above > -math.inf)
    bounds += [f"of at least {least:g}"] * (least > -math.inf)
    rule = " ".join(["a finite number", " and ".join(bounds)]).strip()
    raise InputError(f"{name} must be {rule}; got {value!r}")
