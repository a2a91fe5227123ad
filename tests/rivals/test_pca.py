"""Principal directions: by hand, and how many of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.rivals.pca import SubspaceMethod, principal, windows_of


def test_windows_by_hand() -> None:
    rows = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    (windows,) = windows_of(rows, 2)
    assert windows.tolist() == [[1, 10, 2, 20], [2, 20, 3, 30]]


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
