"""Attention over short windows: one program takes one window and head, from start to end.

A program reads queries, keys and values where the projection left them, maps them, and writes
values where the next projection wants them. Neither the matrix A nor anything mapped goes
through global memory: A is ``qn @ pk.T`` with qn the mapped queries over the mass of their rows,
so ``A @ v`` is ``qn @ (pk.T @ v)``, and the band's column sum is ``pk · (band @ qn)``, in which
the band is a matrix of zeros and ones that all programs share.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.kernels.mapping import (
    focus,
    focus_backward,
    laid_out_as,
    normalised,
    normalised_backward,
    product,
)
from subadjacent.core.kernels.tiles import band_tile, grid_of, kind_of, launched, power_of_two

# warps and registers of a program, as measured to be quickest on an H200: more registers leave
# room for fewer programs at once, fewer make them spill
FORWARD: dict[str, Any] = {"num_warps": 8, "num_stages": 1, "maxnreg": 80}
BACKWARD: dict[str, Any] = {"num_warps": 4, "num_stages": 1}


@triton.jit
def _short_forward(
    projected, temperature, bands, values, contribution, n, heads, width,
    FEATURES: tl.constexpr, N: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    window = (tl.program_id(0) // heads).to(tl.int64)
    head = tl.program_id(0) % heads
    points, features = tl.arange(0, N), tl.arange(0, E)
    rows = points < n
    inside = rows[:, None] & (features < FEATURES)[None, :]
    start = projected + window * n * (3 * width) + head * FEATURES
    start += points[:, None] * (3 * width) + features[None, :]
    tau = tl.load(temperature)

    k = tl.load(start + width, mask=inside, other=0.0)
    v = tl.load(start + 2 * width, mask=inside, other=0.0)
    q = tl.load(start, mask=inside, other=0.0)
    pk = focus(k, tau, rows, FEATURES)
    total = tl.sum(pk, 0)
    pk = pk.to(KIND)
    summary = product(tl.trans(v), pk, KIND).to(KIND)  # (E, E), transposed
    pq, scale = normalised(q, total, tau, rows, FEATURES)
    qn = (pq * scale).to(KIND)
    attended = product(qn, tl.trans(summary), KIND)
    out = values + window * n * width + head * FEATURES
    out += points[:, None] * width + features[None, :]
    tl.store(out, attended.to(values.dtype.element_ty), mask=inside)

    band = tl.load(bands + points[:, None] * N + points[None, :])
    taken = product(band, qn, KIND)
    shares = tl.sum(laid_out_as(pk, taken).to(tl.float32) * taken, 1)
    tl.store(contribution + (window * heads + head) * n + points, shares, mask=rows)


@triton.jit
def _short_backward(
    projected, temperature, bands, of_values, of_contribution,
    of_projected, of_bias, of_temperature,
    n, heads, width, by_window, by_head, by_point,
    FEATURES: tl.constexpr, N: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    window = (tl.program_id(0) // heads).to(tl.int64)
    head = tl.program_id(0) % heads
    points, features = tl.arange(0, N), tl.arange(0, E)
    rows, columns = points < n, features < FEATURES
    inside = rows[:, None] & columns[None, :]
    begin = window * n * (3 * width) + head * FEATURES
    begin += points[:, None] * (3 * width) + features[None, :]
    start, out = projected + begin, of_projected + begin
    bias = of_bias + window * (3 * width) + head * FEATURES + features
    tau = tl.load(temperature)

    # nothing is kept in registers that can be read again: fewer registers, more programs at once
    pk = focus(tl.load(start + width, mask=inside, other=0.0), tau, rows, FEATURES)
    total = tl.sum(pk, 0)
    pk = pk.to(KIND)
    v = tl.load(start + 2 * width, mask=inside, other=0.0)
    summary = product(tl.trans(v), pk, KIND).to(KIND)  # (E, E), transposed
    weights = of_contribution + window * by_window + head * by_head + points * by_point
    share = tl.load(weights, mask=rows, other=0.0).to(tl.float32)[:, None]
    square = bands + points[:, None] * N + points[None, :]
    of_qn = product(tl.load(square), share * pk, KIND)
    asked = of_values + window * n * width + head * FEATURES
    asked += points[:, None] * width + features[None, :]
    g = tl.load(asked, mask=inside, other=0.0)
    of_qn = tl.dot(g.to(KIND), summary, of_qn, input_precision="ieee")

    q = laid_out_as(tl.load(start, mask=inside, other=0.0), of_qn)
    pq, scale = normalised(q, total, tau, rows, FEATURES)
    of_q, tau_q, slope = normalised_backward(q, pq, scale, total, of_qn, tau)
    of_total = tl.sum(slope * pq, 0)[None, :]
    of_q = of_q.to(KIND)
    tl.store(out, of_q.to(of_projected.dtype.element_ty), mask=inside)
    tl.store(bias, tl.sum(of_q.to(tl.float32), 0), mask=columns)
    qn = (pq * scale).to(KIND)

    of_summary = product(tl.trans(g), qn, KIND).to(KIND)  # (E, E), transposed
    of_v = product(pk, tl.trans(of_summary), KIND).to(KIND)
    tl.store(out + 2 * width, of_v.to(of_projected.dtype.element_ty), mask=inside)
    tl.store(bias + 2 * width, tl.sum(of_v.to(tl.float32), 0), mask=columns)

    of_pk = share * product(tl.load(square), qn, KIND) + of_total
    v = tl.load(start + 2 * width, mask=inside, other=0.0)
    of_pk = tl.dot(v.to(KIND), of_summary, of_pk, input_precision="ieee")
    k = laid_out_as(tl.load(start + width, mask=inside, other=0.0), of_pk)
    # mapped again: kept, it would take the registers that the queries' gradients need
    of_k, tau_k = focus_backward(k, focus(k, tau, rows, FEATURES), of_pk, tau)
    of_k = of_k.to(KIND)
    tl.store(out + width, of_k.to(of_projected.dtype.element_ty), mask=inside)
    tl.store(bias + width, tl.sum(of_k.to(tl.float32), 0), mask=columns)
    tl.store(of_temperature + window * heads + head, tau_q + tau_k)


def forward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band
) -> tuple[Tensor, Tensor]:
    """Values (B, N, D) and contribution (B, H, N), from (B, N, 3·D)."""
    batch, n, tripled = projected.shape
    width = tripled // 3
    values = projected.new_empty(batch, n, width)
    contribution = torch.empty(batch, heads, n, dtype=torch.float32, device=projected.device)
    _short_forward[grid_of(batch * heads)](
        projected, temperature, _band(projected, band), values, contribution, n, heads, width,
        **_sizes(projected, heads), **launched(projected, FORWARD),
    )  # fmt: skip
    return values, contribution


def backward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band,
    of_values: Tensor, of_contribution: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Gradients of the projection (B, N, 3·D); of its bias (S, 3·D) and the temperature, in parts.

    Parts are still to be added up.
    """
    batch, n, tripled = projected.shape
    wide: dict[str, Any] = {"dtype": torch.float32, "device": projected.device}
    of_projected = torch.empty_like(projected)
    # one row a window: added up after, in an order that is always the same
    of_bias = torch.empty(batch, tripled, **wide)
    of_temperature = torch.empty(batch, heads, **wide)
    _short_backward[grid_of(batch * heads)](
        projected, temperature, _band(projected, band), of_values, of_contribution,
        of_projected, of_bias, of_temperature,
        n, heads, tripled // 3, *of_contribution.stride(),
        **_sizes(projected, heads), **launched(projected, BACKWARD),
    )  # fmt: skip
    return of_projected, of_bias, of_temperature


def _band(projected: Tensor, band: Band) -> Tensor:
    n = projected.shape[1]
    return band_tile(n, power_of_two(n), band, projected.device, projected.dtype)


def _sizes(projected: Tensor, heads: int) -> dict[str, Any]:
    features = projected.shape[-1] // 3 // heads
    return {
        "FEATURES": features, "N": power_of_two(projected.shape[1]), "E": power_of_two(features),
        "KIND": kind_of(projected),
    }  # fmt: skip
