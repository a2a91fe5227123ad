"""Attention from one projection by the parts that have been tested one by one."""

from __future__ import annotations

from torch import Tensor

from subadjacent.core.attention import Attended, linear_attention
from subadjacent.core.band import Band
from subadjacent.core.mapping import MAPPINGS


def packed_plainly(projected: Tensor, temperature: Tensor, heads: int, band: Band) -> Attended:
    """Values (B, N, D) and contribution (B, H, N), with the matrix formed."""
    batch, n, _ = projected.shape
    q, k, v = projected.view(batch, n, 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
    mapped = MAPPINGS["softmax"](q, k, temperature)
    values, contribution = linear_attention(*mapped, v, band, dense=True)
    return Attended(values.transpose(1, 2).flatten(2), contribution)
