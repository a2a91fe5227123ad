"""The slow twins: each reads a definition aloud, one window at a time, with loops.

Shapes: N points in a window, E features of a head. No leading dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from subadjacent.core.attention import Attended
from subadjacent.core.band import Band

Rows = list[list[float]]


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


def softmax_oracle(row: list[float]) -> list[float]:
    """Exponentials over their sum."""
    powers = [math.exp(x) for x in row]
    return [power / sum(powers) for power in powers]


def softmax_features_oracle(q: Rows, k: Rows, temperature: float) -> tuple[Rows, Rows]:
    """Eq. 4: negatives become −100, all are divided by τ, softmax over the features."""

    def focus(rows: Rows) -> Rows:
        return [
            softmax_oracle([(-100.0 if x < 0 else x) / temperature for x in row]) for row in rows
        ]

    return focus(q), focus(k)


def softmax_column_oracle(q: Rows, k: Rows, _temperature: float) -> tuple[Rows, Rows]:
    """Softmax of each query over its features, of each feature of the keys over time."""
    columns = [softmax_oracle(list(column)) for column in zip(*k, strict=True)]
    return [softmax_oracle(row) for row in q], [list(row) for row in zip(*columns, strict=True)]


def power_oracle(q: Rows, k: Rows, _temperature: float) -> tuple[Rows, Rows]:
    """ReLU, cube, rescale to the norm that the ReLU left."""

    def norm(row: list[float]) -> float:
        return math.sqrt(sum(x**2 for x in row))

    def sharpen(row: list[float]) -> list[float]:
        positive = [max(x, 0.0) for x in row]
        cubed = [x**3 for x in positive]
        return [x * norm(positive) / norm(cubed) for x in cubed] if any(cubed) else cubed

    return [sharpen(row) for row in q], [sharpen(row) for row in k]


def relu_oracle(q: Rows, k: Rows, _temperature: float) -> tuple[Rows, Rows]:
    """The positive part."""
    return [[max(x, 0.0) for x in row] for row in q], [[max(x, 0.0) for x in row] for row in k]


def elu_oracle(q: Rows, k: Rows, _temperature: float) -> tuple[Rows, Rows]:
    """x + 1 above zero, exp(x) below."""

    def positive(x: float) -> float:
        return x + 1 if x > 0 else math.exp(x)

    return [[positive(x) for x in row] for row in q], [[positive(x) for x in row] for row in k]


MAPPING_ORACLES: dict[str, Callable[[Rows, Rows, float], tuple[Rows, Rows]]] = {
    "softmax": softmax_features_oracle,
    "softmax-column": softmax_column_oracle,
    "power": power_oracle,
    "relu": relu_oracle,
    "elu": elu_oracle,
}
