"""Attention that also tells how much each point contributes to its sub-adjacent ones.

Shapes: … any leading dimensions, N points in a window, E features of a head.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from subadjacent.core.band import Band
from subadjacent.core.contribution import contribution, dense_contribution
from subadjacent.core.dispatch import Form, linear_form

# a row with less mass than this has nothing to normalise and stays near zero; without a bound
# the gradient of the quotient overflows
SMALLEST_MASS = 1e-12


class Attended(NamedTuple):
    """The results of attention for one window and head."""

    values: Tensor  # (…, N, E)
    contribution: Tensor  # (…, N)


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, band: Band, *, dense: bool | None = None
) -> Attended:
    """``A @ v`` and the contribution, for mapped queries and keys.

    A is ``q @ k.T`` with its rows scaled to sum 1. It is formed when the window is short and
    avoided when it is long; ``dense`` forces one or the other. The numbers are the same.
    """
    if linear_form(q.shape[-2], dense) is Form.MATRIX:
        attention = attention_matrix(q, k)  # (…, N, N)
        values = attention @ v.to(attention.dtype)
        return Attended(values.to(v.dtype), dense_contribution(attention, band))
    q = normalize_queries(q, k)
    k = k.to(q.dtype)
    summary = k.mT @ v.to(k.dtype)  # (…, E, E)
    return Attended((q @ summary).to(v.dtype), contribution(q, k, band))


def normalize_queries(q: Tensor, k: Tensor) -> Tensor:
    """Scale each query so that its row of ``q @ k.T`` sums to 1."""
    wide = torch.promote_types(q.dtype, torch.float32)
    q = q.to(wide)
    mass = (q * k.to(wide).sum(dim=-2, keepdim=True)).sum(dim=-1, keepdim=True)
    return q / mass.clamp(min=SMALLEST_MASS)


def attention_matrix(q: Tensor, k: Tensor) -> Tensor:
    """The matrix A that linear attention never forms, [query, key]; its rows sum to 1."""
    q = normalize_queries(q, k)
    return q @ k.to(q.dtype).mT


def vanilla_attention(q: Tensor, k: Tensor, v: Tensor, band: Band) -> Attended:
    """Softmax attention of the original Transformer, with its contribution."""
    attention = vanilla_matrix(q, k)
    return Attended(attention @ v.to(attention.dtype), dense_contribution(attention, band))


def vanilla_matrix(q: Tensor, k: Tensor) -> Tensor:
    """``softmax(q @ k.T / sqrt(E))``, [query, key]."""
    return torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, dim=-1)
