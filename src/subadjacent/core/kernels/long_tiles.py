"""Chunks of rows and sums over the band, for both passes over long windows.

Shapes: L rows of a chunk, E features of a head.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.dispatch import CHUNK, chunk_reach
from subadjacent.core.kernels.tiles import kind_of, power_of_two, programs_for

# programs on a multiprocessor; as the registers below, what was measured to be quickest on an H200
RESIDENT = 4
FORWARD = {"num_warps": 4, "num_stages": 1, "maxnreg": 96}
BACKWARD = {"num_warps": 4, "num_stages": 1}


@dataclass(frozen=True, slots=True)
class Chunks:
    """How windows are cut up: ``splits`` programs a window and head."""

    splits: int
    each: int  # chunks that one program walks over
    sides: int  # of the band, walked one after the other; one when they are close together
    tiles: int  # tiles of a side


def cut(projected: Tensor, heads: int, band: Band) -> Chunks:
    """Chunks enough to keep the device busy, few enough that their sums are soon added up."""
    batch, n, _ = projected.shape
    chunks = triton.cdiv(n, CHUNK)
    splits = min(chunks, triton.cdiv(programs_for(projected, RESIDENT), batch * heads))
    each = triton.cdiv(chunks, splits)
    return Chunks(triton.cdiv(chunks, each), each, *chunk_reach(band))


@cache
def band_tiles(band: Band, device: torch.device, kind: torch.dtype) -> Tensor:
    """The band between a chunk and each tile in reach: zeros and ones, (steps, L, L).

    The same for every chunk. Kept permanently, since recorded steps read it.
    """
    sides, tiles = chunk_reach(band)
    with torch.inference_mode(mode=False):
        rows = torch.arange(CHUNK, device=device)
        steps = torch.arange(sides * tiles, device=device)[:, None]
        reached = steps % tiles * CHUNK - band.far + rows
        if sides == 2:
            reached += torch.where(steps < tiles, 0, band.far + band.near)
        distance = reached[:, None, :] - rows[:, None]  # (steps, L, L)
        if sides == 2:
            distance *= torch.where(steps < tiles, -1, 1)[..., None]
        else:
            distance = distance.abs()
        return ((distance >= band.near) & (distance <= band.far)).to(kind)


def constants(projected: Tensor, features: int, band: Band, chunks: Chunks) -> dict[str, Any]:
    """The constants that every kernel over chunks is compiled with."""
    return {
        "FEATURES": features, "CIRCULAR": band.circular, "SIDES": chunks.sides,
        "TILES": chunks.tiles, "L": CHUNK, "E": power_of_two(features),
        "KIND": kind_of(projected),
    }  # fmt: skip


@triton.jit
def chunk_of(start, points, valid, stride, FEATURES: tl.constexpr, E: tl.constexpr):
    """Load some rows of queries, keys, values or gradients, (L, E); zeros beyond the window."""
    features = tl.arange(0, E)
    at = start + points.to(tl.int64)[:, None] * stride + features[None, :]
    return tl.load(at, mask=valid[:, None] & (features < FEATURES)[None, :], other=0.0)


@triton.jit
def beside(points, step, n, near, far, CIRCULAR: tl.constexpr, SIDES: tl.constexpr,
           TILES: tl.constexpr, L: tl.constexpr):  # fmt: skip
    """One tile of the rows that a chunk's band reaches: row numbers, and which rows exist."""
    first = tl.min(points, 0) - far
    if SIDES == 2:
        first += tl.where(step < TILES, 0, far + near)
    reached = first + (step % TILES) * L + tl.arange(0, L)
    if CIRCULAR:
        reached = tl.where(reached < 0, reached + n, reached)
        reached = tl.where(reached >= n, reached - n, reached)
    return reached, (reached >= 0) & (reached < n)


@triton.jit
def add_in_band(
    total, mapped, weights, by_point, bands, points, n, near, far, stride,
    WEIGHED: tl.constexpr, FEATURES: tl.constexpr, CIRCULAR: tl.constexpr, SIDES: tl.constexpr,
    TILES: tl.constexpr, L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    """Add the weighted mapped rows that are sub-adjacent to each row of a chunk, (L, E)."""
    square = tl.arange(0, L)[:, None] * L + tl.arange(0, L)[None, :]
    for step in range(SIDES * TILES):
        reached, valid = beside(points, step, n, near, far, CIRCULAR, SIDES, TILES, L)
        rows = chunk_of(mapped, reached, valid, stride, FEATURES, E)
        if WEIGHED:
            weight = tl.load(weights + reached.to(tl.int64) * by_point, mask=valid, other=0.0)
            rows = weight.to(tl.float32)[:, None] * rows.to(tl.float32)
        band = tl.load(bands + step * L * L + square).to(KIND)
        total = tl.dot(band, rows.to(KIND), total, input_precision="ieee")
    return total


@triton.jit
def keep(start, points, valid, stride, rows, FEATURES: tl.constexpr):
    """Store those rows of a chunk, (L, E), that lie within the window."""
    features = tl.arange(0, rows.shape[1])
    at = start + points.to(tl.int64)[:, None] * stride + features[None, :]
    inside = valid[:, None] & (features < FEATURES)[None, :]
    tl.store(at, rows.to(start.dtype.element_ty), mask=inside)
