"""How long a cycle lasts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from subadjacent.ridge.period import LONGEST, dominant_period


def cycle(period: int, rows: int, noise: float, seed: int = 0) -> NDArray[np.float64]:
    """One channel whose rows repeat, and one that is noise."""
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=period)
    shape = np.convolve(np.tile(shape, 3), np.ones(9) / 3, mode="same")[period : 2 * period]
    repeated = np.tile(shape, rows // period + 1)[:rows]
    return np.column_stack([repeated, np.zeros(rows)]) + noise * rng.normal(size=(rows, 2))


def test_every_fiftieth_row_alike_by_hand() -> None:
    rows = np.zeros((1000, 1))
    rows[::50] = 1.0
    assert dominant_period(rows, np.eye(1)) == 50


@pytest.mark.parametrize("period", [31, 64, 365, 1440])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_cycle_is_found_and_not_a_multiple_of_it(period: int, noise: float) -> None:
    found = dominant_period(cycle(period, 20 * period, noise), np.eye(2))
    assert found is not None
    assert abs(found - period) <= max(1, 0.02 * period)


@pytest.mark.parametrize(
    "rows",
    [
        np.random.default_rng(0).normal(size=(3000, 2)),
        np.cumsum(np.random.default_rng(1).normal(size=(3000, 2)), axis=0),
        np.zeros((500, 2)),
        np.ones((1, 2)),
        np.arange(400.0)[:, None] * [1.0, -1.0],
    ],
    ids=["noise", "walk", "zeros", "one row", "line"],
)
def test_what_does_not_repeat_has_no_cycle(rows: NDArray[np.float64]) -> None:
    assert dominant_period(rows, np.eye(2)) is None


def test_a_cycle_seen_less_than_four_times_or_too_long_is_none() -> None:
    assert dominant_period(cycle(300, 1000, 0.0), np.eye(2)) is None
    assert dominant_period(cycle(LONGEST + 500, 30_000, 0.0), np.eye(2)) is None


def test_only_the_axes_given_are_looked_at() -> None:
    rows = cycle(100, 4000, 0.3)
    assert dominant_period(rows, np.array([[1.0], [0.0]])) == pytest.approx(100, abs=2)
    assert dominant_period(rows, np.array([[0.0], [1.0]])) is None
