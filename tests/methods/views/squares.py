"""Squares of averaged residuals, from the definition, one row at a time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.residual_scale import JOINT_CLIP, MAX_SQUARE, SCALES, SPREAD

Floats = NDArray[np.float64]


def window(row: int, rows: int, length: int, lookahead: int | None) -> list[int]:
    """The rows that an average over so many takes in."""
    ahead = (length - 1) // 2
    if lookahead is not None:
        ahead = min(ahead, lookahead)
    return list(range(max(row + ahead + 1 - length, 0), min(row + ahead + 1, rows)))


def slow_squares(residuals: Floats, row: int, lookahead: int | None) -> tuple[Floats, Floats]:
    """Squares on every scale, (S, C), and the spread, (C,)."""
    rows = len(residuals)
    squares = []
    for scale in SCALES:
        near = residuals[window(row, rows, scale, lookahead)]
        # the mean of fewer rows strays more: it is held back
        squares.append(near.mean(axis=0) ** 2 * (len(near) / scale))
    near = residuals[window(row, rows, SPREAD, lookahead)]
    # rows beyond an end count as calm
    return np.array(squares), np.minimum(near**2, MAX_SQUARE).sum(axis=0) / SPREAD


def slow_holding_back(usual: Floats, row: int, rows: int, lookahead: int | None) -> Floats:
    """Factors of squares near an end, beside noise's law, given what is usual on scales, (S, C)."""
    factors = np.ones(usual.shape)
    for number, scale in enumerate(SCALES):
        there = len(window(row, rows, scale, lookahead))
        if there == scale:
            continue
        below = max(one for one in SCALES if one <= there)
        above = min(one for one in SCALES if one > there)
        share = math.log(there / below) / math.log(above / below)
        for channel in range(usual.shape[1]):
            low, high = (usual[SCALES.index(one), channel] for one in (below, above))
            # half way between two scales, in logarithms, is the root of their product
            between = low ** (1 - share) * high**share
            factors[number, channel] = min(usual[number, channel] * scale / there / between, 1)
    return factors


def slow_joint_squares(residuals: Floats, row: int, lookahead: int | None) -> Floats:
    """Squares of averages over channels, then averages of squares, (2 S,)."""
    rows, channels = residuals.shape
    cut = [[max(-JOINT_CLIP, min(JOINT_CLIP, float(value))) for value in one] for one in residuals]
    of_averages, averages = [], []
    for scale in SCALES:
        near = window(row, rows, scale, lookahead)
        means = [sum(cut[one][c] for one in near) / len(near) for c in range(channels)]
        held_back = len(near) / scale
        of_averages.append(held_back * sum(mean**2 for mean in means) / channels)
        squares = [sum(value**2 for value in cut[one]) / channels for one in near]
        averages.append(sum(squares) / len(near))
    return np.array([*of_averages, *averages])
