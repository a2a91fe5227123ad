"""Attention from one projection of queries, keys and values: the form for CPUs.

The attention matrix is never formed, forward or backward. Mapped queries and keys are kept for the
gradients: to compute them again would take a tenth of a step of training.

Shapes: B windows, N points in a window, H heads, E features of a head, D = H·E.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional

from subadjacent.core.attention import SMALLEST_MASS, Attended
from subadjacent.core.band import Band
from subadjacent.core.contribution import sliding_sum
from subadjacent.core.dispatch import sums_by_mask
from subadjacent.core.mapping import SUPPRESSED

# the float32 next to zero: what is not above it is negative
BELOW_ZERO = -1.4e-45


def packed_attention(projected: Tensor, temperature: Tensor, heads: int, band: Band) -> Attended:
    """Values (B, N, D) and contribution (B, H, N), from queries, keys and values (B, N, 3·D).

    The result of ``linear_attention`` after ``softmax_features``, for each head, to rounding.
    Differentiable once.
    """
    band.check(projected.shape[1])
    attended = _Packed.apply(projected, temperature, heads, band)  # type: ignore[no-untyped-call]  # torch's
    return Attended(*attended)


class _Mapped(NamedTuple):
    """Mapped queries and keys, and the intermediate results that gradients need."""

    scaled: Tensor  # (B, N, 2·H, E), queries and keys over τ
    features: Tensor  # (B, N, 2·H, E), their softmax
    queries: Tensor  # (B, N, H, E), such that rows of A sum to 1
    keys: Tensor  # (B, N, H, E)
    values: Tensor  # (B, N, H, E)
    totals: Tensor  # (B, 1, H, E), the sum of keys
    mass: Tensor  # (B, N, H, 1), what queries were divided by


class _Packed(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, projected: Tensor, temperature: Tensor, heads: int, band: Band
    ) -> tuple[Tensor, Tensor]:
        mapped = _map(projected, temperature, heads)
        kept = (mapped.scaled, mapped.features, mapped.queries, mapped.totals, mapped.mass)
        ctx.save_for_backward(projected, temperature, *kept)
        ctx.heads, ctx.band = heads, band  # type: ignore[attr-defined]  # a place for anything
        attended = torch.empty_like(mapped.queries)
        # heads lie side by side: one at a time, none has to be moved
        for head in range(heads):
            summary = mapped.keys[:, :, head].mT @ mapped.values[:, :, head]  # (B, E, E)
            attended[:, :, head] = mapped.queries[:, :, head] @ summary
        # a loss subtracts contributions from errors: there rounding to bfloat16 would show
        wide = torch.promote_types(projected.dtype, torch.float32)
        contribution = _within(mapped.queries, band).mul_(mapped.keys).sum(dim=-1, dtype=wide)
        return attended.flatten(2), contribution.mT

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        projected, temperature, *kept = ctx.saved_tensors
        heads, band = ctx.heads, ctx.band
        mapped = _mapped(projected, heads, *kept)
        above = gradients[0].reshape(mapped.queries.shape)
        weights = gradients[1].mT[..., None].to(projected.dtype)  # (B, N, H, 1)
        of_projected = torch.empty_like(projected)
        halves, values = _halves(of_projected), _values(of_projected, heads)
        of_features = torch.empty_like(mapped.features)
        queries, keys = of_features[:, :, :heads], of_features[:, :, heads:]
        # through the contribution; the band is symmetric: who is inside whose
        queries.copy_(_within(mapped.keys * weights, band))
        torch.mul(_within(mapped.queries, band), weights, out=keys)
        # through the attended values
        for head in range(heads):
            key, value = mapped.keys[:, :, head], mapped.values[:, :, head]
            of_summary = mapped.queries[:, :, head].mT @ above[:, :, head]
            queries[:, :, head].baddbmm_(above[:, :, head], value.mT @ key)
            keys[:, :, head].baddbmm_(value, of_summary.mT)
            values[:, :, head] = key @ of_summary
        # through the division by the mass, which is made of queries and keys
        along = (queries * mapped.queries).sum(dim=-1, keepdim=True)
        along.masked_fill_(mapped.mass <= SMALLEST_MASS, 0)
        keys -= (mapped.queries * along).sum(dim=1, keepdim=True)
        queries.addcmul_(along, mapped.totals, value=-1).div_(mapped.mass)
        # through the mapping: autograd's own steps, each one pass over the numbers
        scaled = torch.ops.aten._softmax_backward_data(
            of_features, mapped.features, -1, of_features.dtype
        )
        of_temperature = (scaled * mapped.scaled).sum(dtype=temperature.dtype) / -temperature
        torch.ops.aten.threshold_backward(
            scaled.div_(temperature).view_as(halves),
            _halves(projected),
            BELOW_ZERO,
            grad_input=halves,
        )
        return of_projected, of_temperature, None, None


def _map(projected: Tensor, temperature: Tensor, heads: int) -> _Mapped:
    """Eq. 4, then queries divided so that their rows of A sum to 1."""
    positive = functional.threshold(_halves(projected), BELOW_ZERO, SUPPRESSED)
    scaled = positive.div_(temperature).view(*projected.shape[:2], 2 * heads, -1)
    features = scaled.softmax(dim=-1)
    queries, keys = features[:, :, :heads], features[:, :, heads:]
    totals = keys.sum(dim=1, keepdim=True)
    mass = (queries * totals).sum(dim=-1, keepdim=True).clamp_(min=SMALLEST_MASS)
    return _mapped(projected, heads, scaled, features, queries / mass, totals, mass)


def _mapped(
    projected: Tensor, heads: int, scaled: Tensor, features: Tensor, queries: Tensor,
    totals: Tensor, mass: Tensor,
) -> _Mapped:  # fmt: skip
    """The saved results, with the keys and values that are views of them."""
    keys, values = features[:, :, heads:], _values(projected, heads)
    return _Mapped(scaled, features, queries, keys, values, totals, mass)


def _halves(projected: Tensor) -> Tensor:
    """Queries and keys side by side, (B, N, 2·D)."""
    return projected[..., : projected.shape[-1] // 3 * 2]


def _values(projected: Tensor, heads: int) -> Tensor:
    return projected.view(*projected.shape[:2], 3, heads, -1)[:, :, 2]


def _within(x: Tensor, band: Band) -> Tensor:
    """The sum of x (B, N, H, E) over each point's band."""
    flat = x.flatten(2)
    if sums_by_mask(x.shape[1]):
        return (_mask(band, x.shape[1], x.dtype) @ flat).view(x.shape)
    # differences of long sums: digits that bfloat16 does not have
    wide = flat.to(torch.promote_types(x.dtype, torch.float32))
    inside = sliding_sum(wide, band.far, circular=band.circular)
    inside = inside - sliding_sum(wide, band.near - 1, circular=band.circular)
    return inside.to(x.dtype).view(x.shape)


@lru_cache(maxsize=8)
def _mask(band: Band, n: int, kind: torch.dtype) -> Tensor:
    # a tensor born in inference mode could not be used in training later
    with torch.inference_mode(False):
        return band.mask(n).to(kind)
