"""Layer normalisation of a sum, in one pass over memory each way.

Backward, a program walks over many rows and keeps its share of the sums over rows in
registers: the gradients of gain and shift, and the sum of the gradient itself, which is that of
the bias of the linear map before.

Shapes: R rows, D columns.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.kernels.tiles import grid_of, power_of_two, programs_for

EPSILON = 1e-5
# programs on a multiprocessor: enough loads in flight, few enough sums to add up at the end
RESIDENT = 5
# blocks of rows that a walk reads ahead
AHEAD = tl.constexpr(3)
# of a tile that one warp works on
ELEMENTS = 1024


@triton.jit
def _norm_forward(
    x, y, gain, shift, out, means, scales, rows, columns, epsilon,
    SUM: tl.constexpr, R: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    column = tl.arange(0, D)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    at = row[:, None] * columns + column[None, :]
    total = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    if SUM:
        total += tl.load(y + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(total, 1) / columns
    centred = tl.where(inside, total - mean[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 1) / columns + epsilon)
    g = tl.load(gain + column, mask=column < columns, other=0.0)[None, :]
    b = tl.load(shift + column, mask=column < columns, other=0.0)[None, :]
    normalised = centred * scale[:, None] * g + b
    tl.store(out + at, normalised.to(out.dtype.element_ty), mask=inside)
    tl.store(means + row, mean, mask=row < rows)
    tl.store(scales + row, scale, mask=row < rows)


@triton.jit
def _norm_backward(
    of_out, x, y, gain, means, scales, of_sum, partial, rows, columns,
    SUM: tl.constexpr, R: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.arange(0, D)
    g = tl.load(gain + column, mask=column < columns, other=0.0)[None, :]
    to_gain = tl.zeros((R, D), tl.float32)
    to_shift = tl.zeros((R, D), tl.float32)
    to_bias = tl.zeros((R, D), tl.float32)
    for block in tl.range(program, tl.cdiv(rows, R), programs, num_stages=AHEAD):
        row = (block * R + tl.arange(0, R)).to(tl.int64)
        inside = (row < rows)[:, None] & (column < columns)[None, :]
        at = row[:, None] * columns + column[None, :]
        total = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        if SUM:
            total += tl.load(y + at, mask=inside, other=0.0).to(tl.float32)
        gradient = tl.load(of_out + at, mask=inside, other=0.0).to(tl.float32)
        mean = tl.load(means + row, mask=row < rows, other=0.0)[:, None]
        scale = tl.load(scales + row, mask=row < rows, other=0.0)[:, None]
        normal = tl.where(inside, (total - mean) * scale, 0.0)
        weighed = gradient * g
        level = (tl.sum(weighed, 1) / columns)[:, None]
        slope = (tl.sum(weighed * normal, 1) / columns)[:, None]
        of_input = tl.where(inside, scale * (weighed - level - normal * slope), 0.0)
        tl.store(of_sum + at, of_input.to(of_sum.dtype.element_ty), mask=inside)
        to_gain += gradient * normal
        to_shift += gradient
        to_bias += of_input
    out = partial + program * 3 * columns + column
    tl.store(out, tl.sum(to_gain, 0), mask=column < columns)
    tl.store(out + columns, tl.sum(to_shift, 0), mask=column < columns)
    tl.store(out + 2 * columns, tl.sum(to_bias, 0), mask=column < columns)


def add_norm(
    x: Tensor, y: Tensor | None, gain: Tensor, shift: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """``LayerNorm(x + y)`` of rows (R, D), and each row's mean and scale for the way back."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    means, scales = torch.empty(2, rows, dtype=torch.float32, device=x.device).unbind()
    side = power_of_two(columns)
    height = 2 * rows_in_tile(side)
    _norm_forward[grid_of(triton.cdiv(rows, height))](
        x, x if y is None else y, gain, shift, out, means, scales, rows, columns, EPSILON,
        SUM=y is not None, R=height, D=side, num_warps=2 * warps_for(side),
    )  # fmt: skip
    return out, means, scales


def add_norm_backward(
    of_out: Tensor, x: Tensor, y: Tensor | None, gain: Tensor, means: Tensor, scales: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradient of ``x + y`` (R, D); and in parts (S, 3, D), those of gain, shift and bias before.

    Parts are still to be added up.
    """
    rows, columns = x.shape
    of_sum = torch.empty_like(x)
    side = power_of_two(columns)
    height = rows_in_tile(side)
    programs = min(triton.cdiv(rows, height), programs_for(x, RESIDENT))
    partial = torch.empty(programs, 3, columns, dtype=torch.float32, device=x.device)
    _norm_backward[grid_of(programs)](
        of_out, x, x if y is None else y, gain, means, scales, of_sum, partial, rows, columns,
        SUM=y is not None, R=height, D=side, num_warps=warps_for(side),
    )  # fmt: skip
    return of_sum, partial


def rows_in_tile(side: int) -> int:
    """Rows of ``side`` columns that a warp holds without running out of registers."""
    return max(1, min(16, ELEMENTS // side))


def warps_for(side: int) -> int:
    """One, but for rows that are too wide: sums along a row then need not leave the warp."""
    return max(1, side // ELEMENTS)
