"""Squared error of a reconstruction, and its gradient, in one pass over memory.

Shapes: R rows, C channels, C' columns of the reconstruction, those beyond C only fill it up.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.kernels.norm import rows_in_tile, warps_for
from subadjacent.core.kernels.tiles import add_up, grid_of, power_of_two, programs_for

# programs on a multiprocessor
RESIDENT = 4


@triton.jit
def _error(
    values, wanted, difference, partial, rows, columns, channels, R: tl.constexpr, C: tl.constexpr
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, C)
    squares = tl.zeros((R, C), tl.float32)
    sums = tl.zeros((R, C), tl.float32)
    for block in range(program, tl.cdiv(rows, R), programs):
        row = (block * R + tl.arange(0, R)).to(tl.int64)
        inside = (row < rows)[:, None] & (column < channels)[None, :]
        at = row[:, None] * columns + column[None, :]
        value = tl.load(values + at, mask=inside, other=0.0).to(tl.float32)
        target = tl.load(wanted + row[:, None] * channels + column[None, :], mask=inside, other=0.0)
        residual = value - target
        filled = (row < rows)[:, None] & (column < columns)[None, :]
        tl.store(difference + at, residual.to(difference.dtype.element_ty), mask=filled)
        squares += residual * residual
        sums += residual
    out = partial + program * 2 * columns + column
    tl.store(out, tl.sum(squares, 0), mask=column < columns)
    tl.store(out + columns, tl.sum(sums, 0), mask=column < columns)


def squared_error(values: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """``values - wanted`` (R, C'), zeros beyond C; and over rows, (2, C'), of squares and as it is.

    ``values`` is (R, C'), ``wanted`` is (R, C).
    """
    rows, columns = values.shape
    difference = torch.empty_like(values)
    side = power_of_two(columns)
    height = rows_in_tile(side)
    programs = min(triton.cdiv(rows, height), programs_for(values, RESIDENT))
    partial = torch.empty(programs, 2, columns, dtype=torch.float32, device=values.device)
    _error[grid_of(programs)](
        values, wanted, difference, partial, rows, columns, wanted.shape[1],
        R=height, C=side, num_warps=warps_for(side),
    )  # fmt: skip
    return difference, add_up(partial)
