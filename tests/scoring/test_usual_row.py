"""One row amid a segment is as surprising as among many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subadjacent.scoring.usual import (
    MARGIN,
    SCALES,
    ChannelScale,
    JointScale,
    JointSquares,
    Squares,
)
from subadjacent.scoring.usual_row import JointColumns, RowSurprise


def test_a_residual_that_lasts_by_hand() -> None:
    # every average of ones is 1, as is usual: log(1 + 1/100) on each scale, weighed twice
    scale = ChannelScale(np.ones((len(SCALES), 1)), np.array([1.0]), 0.0)
    row = RowSurprise(scale, np.array([2.0]))
    ones = np.ones((MARGIN, 1), np.float32)
    assert row.of(ones, MARGIN - 1, 0) == pytest.approx(2 * math.log(1.01), rel=1e-14)
    # twice the usual spread: a tenth of its logarithm more
    calm = ChannelScale(np.ones((len(SCALES), 1)), np.array([0.5]), 0.0)
    wanted = 2 * (math.log(1.01) + 0.1 * math.log(2))
    assert RowSurprise(calm, np.array([2.0])).of(ones, MARGIN - 1, 0) == pytest.approx(wanted)


def test_two_channels_together_by_hand() -> None:
    # mean squares of ones are 1, as is usual: log(1 + 1/30) six times over six, weighed thrice
    scale = ChannelScale(np.ones((len(SCALES), 2)), np.ones(2), 0.0)
    joint = JointColumns(slice(0, 2), JointScale(np.ones(2 * len(SCALES)), 0.0), 3.0)
    found = RowSurprise(scale, np.zeros(2), [joint]).of(np.ones((50, 2)), 45, 0)
    assert found == pytest.approx(3 * math.log(31 / 30), rel=1e-14)
    # a single one has been judged by itself
    alone = joint._replace(columns=slice(1, 2))
    assert RowSurprise(scale, np.zeros(2), [alone]).of(np.ones((50, 2)), 45, 0) == 0


@pytest.mark.parametrize("lookahead", [None, 0, 3, 12])
@pytest.mark.parametrize("size", [0.5, 5.0, 500.0])
def test_it_is_that_of_many_rows(size: float, lookahead: int | None) -> None:
    rng = np.random.default_rng(0)
    residuals = (size * rng.normal(size=(120, 7))).astype(np.float32)
    scale = ChannelScale(rng.uniform(0.1, 2, (3, 7)), rng.uniform(0.1, 2, 7), rng.uniform(0, 1, 7))
    joint = JointScale(rng.uniform(0.1, 2, 6))
    weights = rng.uniform(size=7)
    row = RowSurprise(scale, weights, [JointColumns(slice(2, 6), joint, 0.7)])
    alone = scale.surprise(Squares.of(residuals, 0, 120, lookahead))
    whole = joint.surprise(JointSquares.of(residuals[:, 2:6], 0, 120, lookahead))
    wanted = alone @ weights + 0.7 * whole.mean(axis=1)
    found = [row.of(residuals, n, lookahead) for n in range(120)]
    ahead = 19 if lookahead is None else lookahead
    # near the ends averages lack rows
    there = range(MARGIN - 1 - ahead, 120 - ahead)
    assert [n for n, one in enumerate(found) if one is not None] == list(there)
    np.testing.assert_allclose([found[n] for n in there], wanted[there], rtol=1e-12)
