"""Embedding of points: each with its two neighbours on the ring, and where it stands.

Shapes: B windows, N points in a window, C channels, D model width, L rows of a tile.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.kernels.mapping import laid_out_as, product
from subadjacent.core.kernels.tiles import kind_of, power_of_two

# rows and columns of a tile, and warps
ROWS, COLUMNS, WARPS = 64, 128, 4


@triton.jit
def _embed_forward(
    windows, weight, positions, out, rows, n, channels, width,
    L: tl.constexpr, C: tl.constexpr, D: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * L + tl.arange(0, L)
    column = tl.program_id(1) * D + tl.arange(0, D)
    channel = tl.arange(0, C)
    point = row % n
    inside = (row < rows)[:, None] & (column < width)[None, :]
    found = tl.zeros((L, D), tl.float32)
    for shift in tl.static_range(3):
        beside = (point + (n + shift - 1)) % n
        source = (row - point + beside).to(tl.int64)
        x = tl.load(
            windows + source[:, None] * channels + channel[None, :],
            mask=(row < rows)[:, None] & (channel < channels)[None, :], other=0.0,
        )  # fmt: skip
        w = tl.load(
            weight + (shift * C + channel)[:, None] * width + column[None, :],
            mask=(column < width)[None, :], other=0.0,
        )  # fmt: skip
        found += product(x, w, KIND)
    at = positions + point[:, None] * width + column[None, :]
    found += laid_out_as(tl.load(at, mask=inside, other=0.0), found).to(tl.float32)
    place = out + row.to(tl.int64)[:, None] * width + column[None, :]
    tl.store(place, found.to(out.dtype.element_ty), mask=inside)


def embed(windows: Tensor, weight: Tensor, positions: Tensor) -> Tensor:
    """(B, N, C) → (B·N, D), in the kind of the positions (N, D); ``weight`` is (D, 3·C)."""
    batch, n, channels = windows.shape
    width = weight.shape[0]
    out = positions.new_empty(batch * n, width)
    side = power_of_two(channels)
    # (3, C', D): columns side by side, as a tile reads them
    spread = positions.new_zeros(3, side, width)
    spread[:, :channels] = weight.view(width, 3, channels).permute(1, 2, 0)
    columns = min(COLUMNS, power_of_two(width))
    grid = (triton.cdiv(batch * n, ROWS), triton.cdiv(width, columns))
    _embed_forward[grid](
        windows, spread, positions, out, batch * n, n, channels, width,
        L=ROWS, C=side, D=columns, KIND=kind_of(positions), num_warps=WARPS,
        num_stages=1,
    )  # fmt: skip
    return out


def neighbours(windows: Tensor, kind: torch.dtype) -> Tensor:
    """Each point between its two neighbours on the ring, (B·N, 3·C'), C' a multiple of 8.

    The matrix units want rows of whole 16 bytes; the columns that fill up are zero.
    """
    padded = torch.nn.functional.pad(windows.to(kind), (0, -windows.shape[-1] % 8))
    three = [padded.roll(1, dims=1), padded, padded.roll(-1, dims=1)]
    return torch.cat(three, dim=-1).flatten(0, 1)
