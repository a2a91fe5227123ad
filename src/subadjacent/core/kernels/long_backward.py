"""Gradients of attention over long windows.

Two walks over the window: the first ends with the queries' gradient and that of the sums over
keys, the second with those of keys and values.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E; S splits.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.kernels.long_tiles import (
    BACKWARD,
    add_in_band,
    band_tiles,
    chunk_of,
    constants,
    cut,
    keep,
)
from subadjacent.core.kernels.mapping import (
    focus,
    focus_backward,
    laid_out_as,
    normalised,
    normalised_backward,
    product,
)
from subadjacent.core.kernels.tiles import grid_of, launched, power_of_two


@triton.jit
def _long_backward_queries(
    projected, temperature, keys, bands, summaries, totals, of_values, of_contribution,
    of_projected, of_summaries, of_totals, of_bias, of_temperature,
    n, near, far, heads, width, splits, each, by_window, by_head, by_point,
    FEATURES: tl.constexpr, CIRCULAR: tl.constexpr, SIDES: tl.constexpr, TILES: tl.constexpr,
    L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    pair, split = (tl.program_id(0) // splits).to(tl.int64), tl.program_id(0) % splits
    window, head = pair // heads, pair % heads
    start = projected + window * n * (3 * width) + head * FEATURES
    begin = window * n * width + head * FEATURES
    out = of_projected + window * n * (3 * width) + head * FEATURES
    weights = of_contribution + window * by_window + head * by_head
    tau = tl.load(temperature)
    features = tl.arange(0, E)
    columns = features < FEATURES
    square = features[:, None] * E + features[None, :]
    summary = tl.load(summaries + pair * E * E + square).to(KIND)  # transposed
    total = tl.load(totals + pair * E + features)
    of_summary = tl.zeros((E, E), tl.float32)
    of_total = tl.zeros((E,), tl.float32)
    bias = tl.zeros((E,), tl.float32)
    of_tau = 0.0
    for chunk in range(split * each, (split + 1) * each):
        points = chunk * L + tl.arange(0, L)
        valid = points < n
        g = chunk_of(of_values + begin, points, valid, width, FEATURES, E)
        of_qn = add_in_band(
            product(g, summary, KIND), keys + begin, weights, by_point, bands, points, n, near, far,
            width, True, FEATURES, CIRCULAR, SIDES, TILES, L, E, KIND,
        )  # fmt: skip
        q = laid_out_as(chunk_of(start, points, valid, 3 * width, FEATURES, E), of_qn)
        pq, scale = normalised(q, total, tau, valid, FEATURES)
        # rows that are none got a share from the band; their mapped queries are zero
        of_q, tau_q, slope = normalised_backward(q, pq, scale, total, of_qn, tau)
        of_total += tl.sum(slope * pq, 0)
        of_summary += product(tl.trans(g.to(KIND)), pq * scale, KIND)
        keep(out, points, valid, 3 * width, of_q, FEATURES)
        bias += tl.sum(of_q, 0)
        of_tau += tau_q
    program = tl.program_id(0).to(tl.int64)
    tl.store(of_summaries + program * E * E + square, of_summary)
    tl.store(of_totals + program * E + features, of_total)
    row = of_bias + (window * splits + split) * (3 * width) + head * FEATURES
    tl.store(row + features, bias, mask=columns)
    tl.store(of_temperature + program, of_tau)


@triton.jit
def _long_backward_keys(
    projected, temperature, queries, bands, of_summaries, of_totals, of_contribution,
    of_projected, of_bias, of_temperature,
    n, near, far, heads, width, splits, each, by_window, by_head, by_point,
    FEATURES: tl.constexpr, CIRCULAR: tl.constexpr, SIDES: tl.constexpr, TILES: tl.constexpr,
    L: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    pair, split = (tl.program_id(0) // splits).to(tl.int64), tl.program_id(0) % splits
    window, head = pair // heads, pair % heads
    start = projected + window * n * (3 * width) + head * FEATURES
    begin = window * n * width + head * FEATURES
    out = of_projected + window * n * (3 * width) + head * FEATURES
    weights = of_contribution + window * by_window + head * by_head
    tau = tl.load(temperature)
    features = tl.arange(0, E)
    columns = features < FEATURES
    square = features[:, None] * E + features[None, :]
    of_summary = tl.load(of_summaries + pair * E * E + square).to(KIND)
    of_total = tl.load(of_totals + pair * E + features)
    of_tau = 0.0
    bias_k = tl.zeros((E,), tl.float32)
    bias_v = tl.zeros((E,), tl.float32)
    for chunk in range(split * each, (split + 1) * each):
        points = chunk * L + tl.arange(0, L)
        valid = points < n
        taken = add_in_band(
            tl.zeros((L, E), tl.float32), queries + begin, weights, 0, bands, points, n, near, far,
            width, False, FEATURES, CIRCULAR, SIDES, TILES, L, E, KIND,
        )  # fmt: skip
        share = tl.load(weights + points.to(tl.int64) * by_point, mask=valid, other=0.0)
        v = chunk_of(start + 2 * width, points, valid, 3 * width, FEATURES, E)
        of_pk = share.to(tl.float32)[:, None] * taken + of_total[None, :]
        of_pk = tl.dot(v.to(KIND), of_summary, of_pk, input_precision="ieee")
        k = chunk_of(start + width, points, valid, 3 * width, FEATURES, E)
        k = laid_out_as(k, of_pk)
        pk = focus(k, tau, valid, FEATURES)
        of_v = product(pk, tl.trans(of_summary), KIND)
        of_k, tau_k = focus_backward(k, pk, of_pk, tau)
        keep(out + width, points, valid, 3 * width, of_k, FEATURES)
        keep(out + 2 * width, points, valid, 3 * width, of_v, FEATURES)
        bias_k += tl.sum(of_k, 0)
        bias_v += tl.sum(of_v, 0)
        of_tau += tau_k
    row = of_bias + (window * splits + split) * (3 * width) + head * FEATURES + features
    tl.store(row + width, bias_k, mask=columns)
    tl.store(row + 2 * width, bias_v, mask=columns)
    tl.store(of_temperature + tl.program_id(0), of_tau)


def backward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band,
    of_values: Tensor, of_contribution: Tensor, summary: Tensor, total: Tensor, mapped: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of the projection (B, N, 3·D); of its bias (S, 3·D) and the temperature, in parts.

    Parts are still to be added up.
    """
    batch, n, tripled = projected.shape
    width, chunks = tripled // 3, cut(projected, heads, band)
    features, side = width // heads, power_of_two(width // heads)
    wide: dict[str, Any] = {"dtype": torch.float32, "device": projected.device}
    of_projected = torch.empty_like(projected)
    of_summaries = torch.empty(batch * heads, chunks.splits, side, side, **wide)
    of_totals = torch.empty(batch * heads, chunks.splits, side, **wide)
    of_bias = torch.empty(batch * chunks.splits, tripled, **wide)
    of_temperature = torch.empty(2, batch * heads * chunks.splits, **wide)
    grid = grid_of(batch * heads * chunks.splits)
    bands = band_tiles(band, projected.device, projected.dtype)
    sizes = (
        n, band.near, band.far, heads, width, chunks.splits, chunks.each,
        *of_contribution.stride(),
    )  # fmt: skip
    compiled_for = constants(projected, features, band, chunks) | launched(projected, BACKWARD)
    _long_backward_queries[grid](
        projected, temperature, mapped[1], bands, summary, total, of_values, of_contribution,
        of_projected, of_summaries, of_totals, of_bias, of_temperature[0],
        *sizes, **compiled_for,
    )  # fmt: skip
    _long_backward_keys[grid](
        projected, temperature, mapped[0], bands, of_summaries.sum(dim=1), of_totals.sum(dim=1),
        of_contribution, of_projected, of_bias, of_temperature[1],
        *sizes, **compiled_for,
    )  # fmt: skip
    return of_projected, of_bias, of_temperature
