"""Embedding of points: each with its two neighbours on the ring, and its position.

Shapes: B windows, N points in a window, C channels, D model width, L rows of a tile.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.kernels.mapping import laid_out_as, product
from subadjacent.core.kernels.tiles import grid_of, kind_of, power_of_two

# rows and columns of a tile, and warps
ROWS, COLUMNS, WARPS = 64, 128, 4


@triton.jit
def _beside(windows, row, rows, n, channels, SHIFT: tl.constexpr, C: tl.constexpr):
    """The points ``SHIFT - 1`` after those of some rows, on the ring of their window."""
    channel = tl.arange(0, C)
    point = row % n
    source = (row - point + (point + (n + SHIFT - 1)) % n).to(tl.int64)
    inside = (row < rows)[:, None] & (channel < channels)[None, :]
    return tl.load(windows + source[:, None] * channels + channel[None, :], mask=inside, other=0.0)


@triton.jit
def _embed_forward(
    windows, weight, positions, out, rows, n, channels, width,
    L: tl.constexpr, C: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * L + tl.arange(0, L)
    channel = tl.arange(0, C)
    # read once for all columns: rows of some channels are slow to read
    before = _beside(windows, row, rows, n, channels, 0, C).to(KIND)
    current = _beside(windows, row, rows, n, channels, 1, C).to(KIND)
    after = _beside(windows, row, rows, n, channels, 2, C).to(KIND)
    for first in range(0, width, D):
        column = first + tl.arange(0, D)
        at = weight + channel[:, None] * width + column[None, :]
        columns_filled = (column < width)[None, :]
        embedded = product(before, tl.load(at, mask=columns_filled, other=0.0), KIND)
        w = tl.load(at + C * width, mask=columns_filled, other=0.0).to(KIND)
        embedded = tl.dot(current, w, embedded, input_precision="ieee")
        w = tl.load(at + 2 * C * width, mask=columns_filled, other=0.0).to(KIND)
        embedded = tl.dot(after, w, embedded, input_precision="ieee")
        inside = (row < rows)[:, None] & columns_filled
        place = positions + (row % n)[:, None] * width + column[None, :]
        embedded += laid_out_as(tl.load(place, mask=inside, other=0.0), embedded).to(tl.float32)
        place = out + row.to(tl.int64)[:, None] * width + column[None, :]
        tl.store(place, embedded.to(out.dtype.element_ty), mask=inside)


def embed(windows: Tensor, weight: Tensor, positions: Tensor) -> Tensor:
    """(B, N, C) → (B·N, D), in the kind of the positions (N, D); ``weight`` is (D, 3·C)."""
    batch, n, channels = windows.shape
    width = weight.shape[0]
    out = positions.new_empty(batch * n, width)
    side = power_of_two(channels)
    # (3, C', D): columns side by side, as a tile reads them
    spread = positions.new_zeros(3, side, width)
    spread[:, :channels] = weight.view(width, 3, channels).permute(1, 2, 0)
    _embed_forward[grid_of(triton.cdiv(batch * n, ROWS))](
        windows, spread, positions, out, batch * n, n, channels, width,
        L=ROWS, C=side, D=min(COLUMNS, power_of_two(width)), KIND=kind_of(positions),
        num_warps=WARPS, num_stages=1,
    )  # fmt: skip
    return out


@triton.jit
def _neighbours(windows, out, rows, n, channels, filled, L: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0) * L + tl.arange(0, L)
    channel = tl.arange(0, C)
    for shift in tl.static_range(3):
        x = _beside(windows, row, rows, n, channels, shift, C)
        place = out + (row.to(tl.int64) * 3 + shift)[:, None] * filled + channel[None, :]
        within = (row < rows)[:, None] & (channel < filled)[None, :]
        tl.store(place, x.to(out.dtype.element_ty), mask=within)


def neighbours(windows: Tensor, kind: torch.dtype) -> Tensor:
    """Each point between its two neighbours on the ring, (B·N, 3·C'), C' a multiple of 8.

    The matrix units want rows of whole 16 bytes; the columns that fill up are zero.
    """
    batch, n, channels = windows.shape
    filled = channels + -channels % 8
    out = torch.empty(batch * n, 3 * filled, dtype=kind, device=windows.device)
    side = power_of_two(filled)
    height = max(1, 2048 // side)
    _neighbours[grid_of(triton.cdiv(batch * n, height))](
        windows, out, batch * n, n, channels, filled, L=height, C=side, num_warps=4
    )
    return out
