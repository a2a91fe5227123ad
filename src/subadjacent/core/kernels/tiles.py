"""Shapes and types of the tiles that programs work on, and sums of their partial results."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.kernels.switch import interpreted

# the matrix units take no smaller side
SMALLEST_SIDE = 16


def power_of_two(n: int) -> int:
    """The side of a tile that holds ``n``."""
    return max(SMALLEST_SIDE, int(triton.next_power_of_2(n)))


def kind_of(x: Tensor) -> tl.dtype:
    """The type that tiles are rounded to before they are multiplied.

    The interpreter cannot multiply bfloat16; there everything is float32.
    """
    return tl.bfloat16 if x.dtype == torch.bfloat16 and not interpreted() else tl.float32


def launched(x: Tensor, usual: dict[str, Any]) -> dict[str, Any]:
    """Settings of a launch; float32 takes the registers it needs, twice those of bfloat16."""
    if x.dtype == torch.bfloat16:
        return usual
    return {name: value for name, value in usual.items() if name != "maxnreg"}


def grid_of(programs: int) -> tuple[int]:
    """A grid of one dimension."""
    return (programs,)


def programs_for(x: Tensor, each: int) -> int:
    """How many programs keep the whole device busy, ``each`` on every multiprocessor."""
    return _multiprocessors(x.device) * each


@cache
def _multiprocessors(device: torch.device) -> int:
    if device.type == "cpu":
        return 1
    properties = torch.get_device_module(device).get_device_properties(device)
    return int(properties.multi_processor_count)


@cache
def band_tile(n: int, side: int, band: Band, device: torch.device, kind: torch.dtype) -> Tensor:
    """The band's mask as zeros and ones, (side, side), zeros beyond ``n``.

    Read by every program: that is quicker than to work it out in each, and it stays in the
    cache. Kept permanently, since recorded steps read it.
    """
    with torch.inference_mode(mode=False):
        tile = torch.zeros(side, side, dtype=kind, device=device)
        tile[:n, :n] = band.mask(n, device)
    return tile


@triton.jit
def _add_up(parts, out, rows, columns, R: tl.constexpr, C: tl.constexpr):
    column = tl.program_id(0) * C + tl.arange(0, C)
    total = tl.zeros((R, C), tl.float32)
    for first in range(0, rows, R):
        row = (first + tl.arange(0, R)).to(tl.int64)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        total += tl.load(parts + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(out + column, tl.sum(total, 0), mask=column < columns)


def add_up(parts: Tensor) -> Tensor:
    """Sum partial results over the first dimension, in an order that is always the same."""
    out = torch.empty(parts.shape[1:], dtype=torch.float32, device=parts.device)
    columns = out.numel()
    _add_up[grid_of(triton.cdiv(columns, 16))](
        parts, out, parts.shape[0], columns, R=256, C=16, num_warps=8
    )
    return out
