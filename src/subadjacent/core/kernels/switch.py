"""The switch of the kernels: turned on or off in code or by the environment.

Nothing here imports Triton: a machine without it never notices. Where kernels then run is decided
in ``core.dispatch``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec

from subadjacent.errors import InputError

# "1" turns kernels on in a whole process and in those it starts, "0" off
VARIABLE = "SUBADJACENT_KERNELS"

_chosen: ContextVar[bool | None] = ContextVar("use_kernels", default=None)


@contextmanager
def use_kernels(on: bool) -> Iterator[None]:
    """Turn the kernels on or off inside a ``with`` block, whatever the environment says.

    Off, everything runs in plain PyTorch; the numbers are the same but for rounding. On, they
    run on any NVIDIA GPU, and on a CPU where Triton's interpreter was chosen before they were
    first used: slowly, to check their logic.

    Raises
    ------
    InputError
        When they are turned on and there is no Triton.
    """
    if on and not triton_installed():
        raise InputError("kernels need the package triton, which is not installed")
    before = _chosen.set(on)
    try:
        yield
    finally:
        _chosen.reset(before)


def chosen() -> bool | None:
    """The setting of the innermost ``use_kernels`` block; None outside of any."""
    return _chosen.get()


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, one operation of NumPy after another."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@cache
def triton_installed() -> bool:
    """Whether Triton is there to be imported."""
    return find_spec("triton") is not None
