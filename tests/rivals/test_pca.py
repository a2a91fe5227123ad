"""Principal directions: by hand, and how many of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.rivals.pca import Subspace, SubspaceMethod, principal, windows_of


def test_windows_by_hand() -> None:
    rows = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    (windows,) = windows_of(rows, 2)
    assert windows.tolist() == [[1, 10, 2, 20], [2, 20, 3, 30]]


def test_the_nearest_point_by_hand() -> None:
    """Mean (1, 1), one direction along the first axis."""
    subspace = Subspace(np.ones(2), np.array([[1.0], [0.0]]), length=1)
    assert subspace.nearest(np.array([[5.0, 3.0]])).tolist() == [[5, 1]]
    expected, error, _ = subspace.predict(np.array([[5.0, 3.0]]))
    assert expected.tolist() == [[5, 1]]
    assert error.tolist() == [2]  # squares 0 and 4


def test_rows_are_assessed_by_all_windows_that_cover_them() -> None:
    """Windows of 2 rows that should be 0; the middle row is in both."""
    subspace = Subspace(np.zeros(2), np.zeros((2, 0)), length=2)
    _, error, _ = subspace.predict(np.array([[2.0], [0.0], [4.0]]))
    # window errors (4 + 0) / 2 and (0 + 16) / 2
    assert error.tolist() == [2, 5, 8]


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        (SubspaceMethod(components=1), 1),
        (SubspaceMethod(components=2), 2),
        # one direction is always left out
        (SubspaceMethod(components=9), 2),
        # variances 9, 4 and 1 of 14: the first holds 64 %, the first two 93 %
        (SubspaceMethod(variance=0.6), 1),
        (SubspaceMethod(variance=0.7), 2),
        (SubspaceMethod(variance=0.99), 2),
    ],
)
def test_as_many_directions_are_kept_as_the_settings_say(method: SubspaceMethod, kept: int) -> None:
    corners = np.array([[x, y, z] for x in (-3, 3) for y in (-2, 2) for z in (-1, 1)], dtype=float)
    mean, directions = principal([corners[:5], corners[5:]], method._keep)
    np.testing.assert_allclose(mean, 0, atol=1e-12)
    np.testing.assert_allclose(np.abs(directions), np.eye(3)[:, :kept], atol=1e-12)


def test_rows_that_never_moved_have_no_direction() -> None:
    mean, directions = principal([np.full((9, 2), 3.0)], SubspaceMethod()._keep)
    assert mean.tolist() == [3, 3]
    assert directions.shape == (2, 0)
