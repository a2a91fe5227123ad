"""Attention over long windows, in time and memory that grow as N·D; the way back is beside it.

Three walks over the window. The first maps keys, and adds up ``v.T @ pk`` and the sum of the
keys, all that one point needs to know of the others; the second maps queries and gives values;
the third adds up queries over the band, for the contribution. What is mapped is kept: a chunk's
band reaches into other chunks, and to map those again took longer than all the rest.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E; S splits.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.dispatch import CHUNK
from subadjacent.core.kernels.long_tiles import (
    FORWARD,
    add_in_band,
    band_tiles,
    chunk_of,
    constants,
    cut,
    keep,
)
from subadjacent.core.kernels.mapping import (
    focus,
    laid_out_as,
    normalised,
    product,
)
from subadjacent.core.kernels.tiles import grid_of, kind_of, launched, power_of_two


@triton.jit
def _long_sums(
    projected, temperature, mapped, summaries, totals, n, heads, width, splits, each,
    FEATURES: tl.constexpr, L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    pair, split = (tl.program_id(0) // splits).to(tl.int64), tl.program_id(0) % splits
    window, head = pair // heads, pair % heads
    start = projected + window * n * (3 * width) + head * FEATURES
    keys = mapped + window * n * width + head * FEATURES
    tau = tl.load(temperature)
    features = tl.arange(0, E)
    summary = tl.zeros((E, E), tl.float32)
    total = tl.zeros((E,), tl.float32)
    for chunk in range(split * each, (split + 1) * each):
        points = chunk * L + tl.arange(0, L)
        valid = points < n
        k = chunk_of(start + width, points, valid, 3 * width, FEATURES, E)
        v = chunk_of(start + 2 * width, points, valid, 3 * width, FEATURES, E)
        pk = focus(k, tau, valid, FEATURES)
        keep(keys, points, valid, width, pk, FEATURES)
        summary += product(tl.trans(v.to(KIND)), pk, KIND)
        total += tl.sum(pk, 0)
    program = tl.program_id(0).to(tl.int64)
    square = features[:, None] * E + features[None, :]
    tl.store(summaries + program * E * E + square, summary)
    tl.store(totals + program * E + features, total)


@triton.jit
def _long_values(
    projected, temperature, summaries, totals, mapped, values, n, heads, width, splits, each,
    FEATURES: tl.constexpr, L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    pair, split = (tl.program_id(0) // splits).to(tl.int64), tl.program_id(0) % splits
    window, head = pair // heads, pair % heads
    start = projected + window * n * (3 * width) + head * FEATURES
    begin = window * n * width + head * FEATURES
    tau = tl.load(temperature)
    features = tl.arange(0, E)
    square = features[:, None] * E + features[None, :]
    summary = tl.load(summaries + pair * E * E + square).to(KIND)  # transposed
    total = tl.load(totals + pair * E + features)
    for chunk in range(split * each, (split + 1) * each):
        points = chunk * L + tl.arange(0, L)
        valid = points < n
        q = chunk_of(start, points, valid, 3 * width, FEATURES, E)
        pq, scale = normalised(q, total, tau, valid, FEATURES)
        qn = (pq * scale).to(KIND)
        keep(mapped + begin, points, valid, width, qn, FEATURES)
        attended = product(qn, tl.trans(summary), KIND)
        keep(values + begin, points, valid, width, attended, FEATURES)


@triton.jit
def _long_shares(
    queries, keys, bands, contribution, n, near, far, heads, width, splits, each,
    FEATURES: tl.constexpr, CIRCULAR: tl.constexpr, SIDES: tl.constexpr, TILES: tl.constexpr,
    L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    pair, split = (tl.program_id(0) // splits).to(tl.int64), tl.program_id(0) % splits
    window, head = pair // heads, pair % heads
    begin = window * n * width + head * FEATURES
    for chunk in range(split * each, (split + 1) * each):
        points = chunk * L + tl.arange(0, L)
        valid = points < n
        taken = add_in_band(
            tl.zeros((L, E), tl.float32), queries + begin, keys, 0, bands, points, n, near, far,
            width, False, FEATURES, CIRCULAR, SIDES, TILES, L, E, KIND,
        )  # fmt: skip
        pk = laid_out_as(chunk_of(keys + begin, points, valid, width, FEATURES, E), taken)
        shares = tl.sum(pk.to(tl.float32) * taken, 1)
        tl.store(contribution + pair * n + points, shares, mask=valid)


def forward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Values (B, N, D), contribution (B, H, N), and what the way back needs besides.

    That is the sums (B·H, E, E) and (B·H, E), and queries and keys as mapped, (2, B, N, D).
    """
    batch, n, tripled = projected.shape
    width, chunks = tripled // 3, cut(projected, heads, band)
    features, side = width // heads, power_of_two(width // heads)
    values = projected.new_empty(batch, n, width)
    mapped = projected.new_empty(2, batch, n, width)
    wide: dict[str, Any] = {"dtype": torch.float32, "device": projected.device}
    contribution = torch.empty(batch, heads, n, **wide)
    summaries = torch.empty(batch * heads, chunks.splits, side, side, **wide)
    totals = torch.empty(batch * heads, chunks.splits, side, **wide)
    grid = grid_of(batch * heads * chunks.splits)
    walked = (n, heads, width, chunks.splits, chunks.each)
    settings = {
        "FEATURES": features, "L": CHUNK, "E": side, "KIND": kind_of(projected),
    } | launched(projected, FORWARD)  # fmt: skip
    _long_sums[grid](projected, temperature, mapped[1], summaries, totals, *walked, **settings)
    summary, total = summaries.sum(dim=1), totals.sum(dim=1)
    _long_values[grid](
        projected, temperature, summary, total, mapped[0], values, *walked, **settings
    )
    _long_shares[grid](
        mapped[0], mapped[1], band_tiles(band, projected.device, projected.dtype), contribution,
        n, band.near, band.far, *walked[1:],
        **constants(projected, features, band, chunks), **launched(projected, FORWARD),
    )  # fmt: skip
    return values, contribution, summary, total, mapped
