"""A few rows from their own neighbours alone."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.few import FewRows
from subadjacent.ridge.neighbours import Neighbours


def few(*, local: bool, gain: float = 1.0) -> FewRows:
    """Twice the row before last, three times the last, and 0.5."""
    weights = np.array([[2.0], [3.0], [0.5]], np.float32)
    ridge = BandRidge(Neighbours(1, 2, 0), np.ones((1, 1), np.float32), weights, local)
    return FewRows(ridge, np.array([gain]))


def test_a_row_is_expected_from_its_two_neighbours_by_hand() -> None:
    rows = np.array([[1.0], [2.0], [9.0], [5.0]], np.float32)
    found = few(local=False, gain=2.0).residuals(rows, 2, 4)
    # 9 - (2 + 6 + 0.5) = 0.5 and 5 - (4 + 27 + 0.5) = -26.5, twice
    assert found.tolist() == [[1.0], [-53.0]]
    assert found.dtype == np.float32
    # what is far out is cut at 10: 10 - (2 + 6 + 0.5)
    rows[2] = 500.0
    assert few(local=False).residuals(rows, 2, 3).tolist() == [[1.5]]
    # a local row is relative to its neighbours, -1 and 1 around 102, the row 7: 7 - (-2 + 3 + 0.5)
    rows = np.array([[101.0], [103.0], [109.0]], np.float32)
    assert few(local=True).residuals(rows, 2, 3).tolist() == [[5.5]]


@pytest.mark.parametrize("size", [1.0, 5e3])
@pytest.mark.parametrize(
    ("neighbours", "local"),
    [
        (Neighbours(2, 9, 0), False),
        (Neighbours(2, 9, 0), True),
        (Neighbours(2, 9, 5), False),
        (Neighbours(2, 9, 5), True),
        # a local model sees every row
        (Neighbours(3, 24, 24, step=7), False),
    ],
)
def test_few_rows_are_as_among_many(neighbours: Neighbours, local: bool, size: float) -> None:
    """Also where values are so large that they are cut."""
    rng = np.random.default_rng(4)
    rows = (size * rng.normal(size=(3000, 4))).astype(np.float32)
    axes = np.linalg.qr(rng.normal(size=(4, 3)))[0].astype(np.float32)
    weights = rng.normal(size=(neighbours.count * 3 + 1, 4)).astype(np.float32)
    ridge = BandRidge(neighbours, axes, weights, local)
    gain = rng.uniform(0.5, 2, 4)
    complete = neighbours.complete(len(rows))
    many = ridge.residuals(rows, complete.start, complete.stop)
    prepared = FewRows(ridge, gain)
    for first in (complete.start, 1000, complete.stop - 3):
        at = first - complete.start
        wanted = (many[at : at + 3] * gain).astype(np.float32)
        scale = np.abs(wanted).max()
        found = prepared.residuals(rows, first, first + 3)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7 * scale)
