"""Attention over short windows: one program takes one window and head, from start to end.

A program reads queries, keys and values where the projection left them, maps them, and writes
values where the next projection wants them. Neither the matrix A nor anything mapped goes
through global memory: A is ``qn @ pk.T`` with qn the mapped queries over the mass of their rows,
so ``A @ v`` is ``qn @ (pk.T @ v)``, and the band's column sum is ``pk · (band @ qn)``, in which
the band is a matrix of zeros and ones that all programs share.

Tiles come by the copy engine, straight into shared memory, where matrix units find them; rows
beyond the window come as zeros, and are not written back. What is to be mapped is taken from
there by a product with the identity: it comes out as float32, exactly, and with the threads that
hold the outcome of all the other products. Every other way spent more time on moving tiles
between threads than on mapping them.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from subadjacent.core.band import Band
from subadjacent.core.kernels.mapping import (
    focus,
    focus_backward,
    normalised,
    normalised_backward,
    product,
)
from subadjacent.core.kernels.tiles import band_tile, grid_of, kind_of, power_of_two

# warps and registers of a program, as measured to be quickest on an H200: three programs at a
# time forward; backward two, since with fewer registers they spill
FORWARD: dict[str, Any] = {"num_warps": 4, "num_stages": 1, "maxnreg": 168}
BACKWARD: dict[str, Any] = {"num_warps": 4, "num_stages": 1}
# by features of a head: with four warps Triton 3.6 compiles the way back of 32 features to wrong
# gradients of keys and values, and to reads beyond the tensors; with two or eight it is right
BACKWARD_WARPS = {32: 8}


@triton.jit
def _short_forward(
    projected, temperature, bands, identity, values, contribution, n, heads, width,
    N: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    window, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    column = head * E
    points = tl.arange(0, N)
    rows = points < n
    tau = tl.load(temperature)
    eye = identity.load([0, 0])

    k = product(projected.load([window, 0, width + column]).reshape(N, E), eye, KIND)
    v = projected.load([window, 0, 2 * width + column]).reshape(N, E)
    pk = focus(k, tau, rows, E)
    total = tl.sum(pk, 0)
    pk = pk.to(KIND)
    summary = product(tl.trans(v), pk, KIND).to(KIND)  # (E, E), transposed
    q = product(projected.load([window, 0, column]).reshape(N, E), eye, KIND)
    pq, scale = normalised(q, total, tau, rows, E)
    qn = (pq * scale).to(KIND)
    attended = product(qn, tl.trans(summary), KIND)
    values.store([window, 0, column], attended.to(values.dtype).reshape(1, N, E))

    taken = product(bands.load([0, 0]), qn, KIND)
    shares = tl.sum(pk.to(tl.float32) * taken, 1)
    tl.store(contribution + tl.program_id(0).to(tl.int64) * n + points, shares, mask=rows)


@triton.jit
def _short_backward(
    projected, temperature, bands, identity, of_values, of_contribution,
    of_projected, of_bias, of_temperature,
    n, heads, width, by_window, by_head, by_point,
    N: tl.constexpr, E: tl.constexpr, KIND: tl.constexpr,
):  # fmt: skip
    window, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    column = head * E
    points = tl.arange(0, N)
    rows = points < n
    bias = of_bias + window.to(tl.int64) * (3 * width) + column + tl.arange(0, E)
    weights = of_contribution + window.to(tl.int64) * by_window + head * by_head
    tau = tl.load(temperature)
    eye = identity.load([0, 0])

    v = projected.load([window, 0, 2 * width + column]).reshape(N, E)
    g = of_values.load([window, 0, column]).reshape(N, E)
    band = bands.load([0, 0])
    k = product(projected.load([window, 0, width + column]).reshape(N, E), eye, KIND)
    pk = focus(k, tau, rows, E)
    total = tl.sum(pk, 0)
    share = tl.load(weights + points * by_point, mask=rows, other=0.0).to(tl.float32)[:, None]
    summary = product(tl.trans(v), pk, KIND).to(KIND)  # (E, E), transposed
    of_qn = product(band, share * pk, KIND)
    of_qn = tl.dot(g.to(KIND), summary, of_qn, input_precision="ieee")

    q = product(projected.load([window, 0, column]).reshape(N, E), eye, KIND)
    pq, scale = normalised(q, total, tau, rows, E)
    of_q, tau_q, slope = normalised_backward(q, pq, scale, total, of_qn, tau)
    of_total = tl.sum(slope * pq, 0)[None, :]
    tl.store(bias, tl.sum(of_q, 0))
    of_projected.store([window, 0, column], of_q.to(of_projected.dtype).reshape(1, N, E))
    qn = (pq * scale).to(KIND)

    of_summary = product(tl.trans(g), qn, KIND).to(KIND)  # (E, E), transposed
    of_pk = share * product(band, qn, KIND) + of_total
    of_pk = tl.dot(v.to(KIND), of_summary, of_pk, input_precision="ieee")
    # mapped again: kept, they would take the registers that the queries' gradients need
    k = product(projected.load([window, 0, width + column]).reshape(N, E), eye, KIND)
    pk = focus(k, tau, rows, E)
    of_k, tau_k = focus_backward(k, pk, of_pk, tau)
    tl.store(bias + width, tl.sum(of_k, 0))
    of_k = of_k.to(of_projected.dtype).reshape(1, N, E)
    of_projected.store([window, 0, width + column], of_k)
    of_v = product(pk, tl.trans(of_summary), KIND)
    tl.store(bias + 2 * width, tl.sum(of_v, 0))
    of_v = of_v.to(of_projected.dtype).reshape(1, N, E)
    of_projected.store([window, 0, 2 * width + column], of_v)
    tl.store(of_temperature + tl.program_id(0), tau_q + tau_k)


def forward(
    projected: Tensor, temperature: Tensor, heads: int, band: Band
) -> tuple[Tensor, Tensor]:
    """Values (B, N, D) and contribution (B, H, N), from (B, N, 3·D)."""
    batch, n, tripled = projected.shape
    width = tripled // 3
    values = projected.new_empty(batch, n, width)
    contribution = torch.empty(batch, heads, n, dtype=torch.float32, device=projected.device)
    tiles = _Tiles(projected, heads)
    _short_forward[grid_of(batch * heads)](
        tiles.of(projected), temperature, *tiles.shared(band), tiles.of(values), contribution,
        n, heads, width, **tiles.sizes, **FORWARD,
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
    tiles = _Tiles(projected, heads)
    usual = BACKWARD["num_warps"]
    launch = BACKWARD | {"num_warps": BACKWARD_WARPS.get(tiles.features, usual)}
    _short_backward[grid_of(batch * heads)](
        tiles.of(projected), temperature, *tiles.shared(band), tiles.of(of_values),
        of_contribution, tiles.of(of_projected), of_bias, of_temperature,
        n, heads, tripled // 3, *of_contribution.stride(), **tiles.sizes, **launch,
    )  # fmt: skip
    return of_projected, of_bias, of_temperature


class _Tiles:
    """Descriptors of tensors for the copy engine; a tile is one window and head."""

    def __init__(self, projected: Tensor, heads: int) -> None:
        self.projected = projected
        self.points = power_of_two(projected.shape[1])
        self.features = projected.shape[2] // 3 // heads
        self.sizes = {"N": self.points, "E": self.features, "KIND": kind_of(projected)}

    def of(self, tensor: Tensor) -> TensorDescriptor:
        """Tiles of (B, N, some multiple of D)."""
        return TensorDescriptor.from_tensor(tensor, [1, self.points, self.features])

    def shared(self, band: Band) -> tuple[TensorDescriptor, TensorDescriptor]:
        """The tiles that all programs read: the band, and the identity."""
        n, device, kind = self.projected.shape[1], self.projected.device, self.projected.dtype
        tiles = (
            band_tile(n, self.points, band, device, kind),
            _identity(self.features, device, kind),
        )
        descriptors = [TensorDescriptor.from_tensor(tile, list(tile.shape)) for tile in tiles]
        return descriptors[0], descriptors[1]


@cache
def _identity(side: int, device: torch.device, kind: torch.dtype) -> Tensor:
    """The identity matrix; kept permanently, since recorded steps read it."""
    with torch.inference_mode(mode=False):
        return torch.eye(side, dtype=kind, device=device)
