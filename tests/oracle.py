"""The slow twins: each reads a definition aloud, one window at a time, with loops.

Shapes: N points in a window, E features of a head. No leading dimensions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from subadjacent.core.attention import Attended
from subadjacent.core.band import Band


def in_band(i: int, j: int, n: int, band: Band) -> bool:
    """Whether point j is sub-adjacent to point i: section 3 of the method, in one line each."""
    distance = abs(i - j)
    if band.circular:
        distance = min(distance, n - distance)
    return band.near <= distance <= band.far


def contribution_oracle(q: Tensor, k: Tensor, band: Band) -> Tensor:
    """Eq. 1 and 3: what the queries j in the band of point i give to the key of i."""
    n, queries, keys = len(q), q.unbind(), k.unbind()
    totals = []
    for i in range(n):
        total = q.new_zeros(())
        for j in range(n):
            if in_band(i, j, n, band):
                total = total + queries[j] @ keys[i]
        totals.append(total)
    return torch.stack(totals)


def attention_oracle(q: Tensor, k: Tensor, v: Tensor, band: Band) -> Attended:
    """Linear attention row by row: form a row of A, divide it by its sum, use it."""
    n = len(q)
    matrix = []
    for query in q.unbind():
        row = torch.stack([query @ key for key in k.unbind()])
        matrix.append(row / row.sum())
    return attended_oracle(matrix, v, band, n)


def vanilla_oracle(q: Tensor, k: Tensor, v: Tensor, band: Band) -> Attended:
    """Softmax attention row by row."""
    n, features = q.shape
    matrix = []
    for query in q.unbind():
        row = torch.stack([torch.exp(query @ key / math.sqrt(features)) for key in k.unbind()])
        matrix.append(row / row.sum())
    return attended_oracle(matrix, v, band, n)


def attended_oracle(matrix: list[Tensor], v: Tensor, band: Band, n: int) -> Attended:
    """Values and contribution from the rows of A."""
    values = [
        torch.stack([weight * value for weight, value in zip(row, v.unbind(), strict=True)]).sum(0)
        for row in matrix
    ]
    totals = []
    for i in range(n):
        total = v.new_zeros(())
        for j in range(n):
            if in_band(i, j, n, band):
                total = total + matrix[j][i]
        totals.append(total)
    return Attended(torch.stack(values), torch.stack(totals))
