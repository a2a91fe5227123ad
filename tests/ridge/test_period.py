"""How long a cycle lasts, and how long rows stay alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from subadjacent.ridge.period import LONGEST_PERIOD, dominant_period, independent_rows


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


def test_what_does_not_repeat_four_times_has_no_cycle() -> None:
    for name, rows in {
        "noise": np.random.default_rng(0).normal(size=(3000, 2)),
        "walk": np.cumsum(np.random.default_rng(1).normal(size=(3000, 2)), axis=0),
        "zeros": np.zeros((500, 2)),
        "one row": np.ones((1, 2)),
        "line": np.arange(400.0)[:, None] * [1.0, -1.0],
        "three times": cycle(300, 1000, 0.0),
        "too long": cycle(LONGEST_PERIOD + 500, 30_000, 0.0),
    }.items():
        assert dominant_period(rows, np.eye(2)) is None, name


def test_only_the_axes_given_are_looked_at() -> None:
    rows = cycle(100, 4000, 0.3)
    assert dominant_period(rows, np.array([[1.0], [0.0]])) == pytest.approx(100, abs=2)
    assert dominant_period(rows, np.array([[0.0], [1.0]])) is None


def autoregressive(rows: int, kept: float, seed: int = 0) -> NDArray[np.float64]:
    noise = np.random.default_rng(seed).normal(size=(rows, 2))
    return np.asarray(lfilter([1.0], [1.0, -kept], noise, axis=0), dtype=np.float64)


def test_autocorrelated_rows_count_less() -> None:
    # likenesses are powers of what is kept: twice their sum, less 1, is (1 + kept) / (1 - kept)
    for kept in (0.0, 0.5, 0.9):
        found = independent_rows([autoregressive(40_000, kept)], np.eye(2))
        assert found == pytest.approx(40_000 * (1 - kept) / (1 + kept), rel=0.1)


def test_the_longest_segment_tells_for_all() -> None:
    longest, other = autoregressive(3000, 0.8), np.zeros((1000, 2))
    alone = independent_rows([longest], np.eye(2))
    assert independent_rows([other, longest], np.eye(2)) == pytest.approx(alone * 4 / 3)
    # rows that never moved count as they are
    for rows in (1, 3, 50):
        assert independent_rows([np.zeros((rows, 2))], np.eye(2)) == rows
