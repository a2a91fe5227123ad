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

# "1" turns kernels on in a whole process and in those it starts, "0" off
VARIABLE = "SUBADJACENT_KERNELS"
# the chips that kernels were tested on, by what CUDA can do there: Hopper
TESTED = (9, 0)

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

    By itself on the chips that kernels were tested on; on others of NVIDIA's where they were asked
    for. Never while torch compiles: it fuses what it finds, and finds plain PyTorch.
    """
    if torch.compiler.is_compiling() or not _triton():
        return False
    chosen = _chosen.get()
    if x.device.type == "cpu":
        return chosen is True and interpreted()
    if not x.is_cuda or torch.version.cuda is None:
        return False
    here = torch.get_device_module(x.device)
    # Triton launches on the current device, wherever the numbers lie
    if x.get_device() != here.current_device():
        return False
    # the environment is asked every time, so that a test or a notebook can set it
    asked = os.environ.get(VARIABLE) if chosen is None else str(int(chosen))
    return asked == "1" or (asked != "0" and here.get_device_capability(x.device) == TESTED)


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, one operation of NumPy after another."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@cache
def _triton() -> bool:
    return find_spec("triton") is not None
