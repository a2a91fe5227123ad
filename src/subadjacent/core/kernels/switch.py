"""Whether kernels are used: a switch, and what has to be there.

Nothing here imports Triton: a machine without it never notices.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from subadjacent.errors import InputError

# "1" turns kernels on in a whole process, and in those it starts
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
    if on and not _triton():
        raise InputError("kernels need the package triton, which is not installed")
    before = _chosen.set(on)
    try:
        yield
    finally:
        _chosen.reset(before)


def kernels_on(x: Tensor) -> bool:
    """Whether what is computed from ``x`` may run in a kernel.

    Only where they were asked for: the tests of their last form have not run on a GPU yet. Never
    while torch compiles: it fuses what it finds, and finds plain PyTorch.
    """
    if torch.compiler.is_compiling():
        return False
    chosen = _chosen.get()
    # the environment is asked every time, so that a test or a notebook can set it
    on = os.environ.get(VARIABLE) == "1" if chosen is None else chosen
    if not on or not _triton():
        return False
    if x.device.type == "cpu":
        return chosen is True and interpreted()
    return x.is_cuda and torch.version.cuda is not None


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, one operation of NumPy after another."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@cache
def _triton() -> bool:
    return find_spec("triton") is not None
