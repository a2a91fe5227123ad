"""The directions of most variance."""

from __future__ import annotations

import numpy as np

from ridge.waves import noise
from subadjacent.ridge.axes import CHUNK, CLIP, MOST, cut, principal_axes


def test_values_far_out_are_cut_by_hand() -> None:
    assert cut(np.array([[-1e6, 0.5], [CLIP, CLIP + 1]])).tolist() == [[-CLIP, 0.5], [CLIP, CLIP]]


def test_axes_are_those_of_most_variance() -> None:
    values = noise(5000, 3) * np.array([0.1, 2.0, 0.5], np.float32)
    axes = principal_axes([values], most=2)
    assert axes.shape == (3, 2)
    np.testing.assert_allclose(np.abs(axes).T, [[0, 1, 0], [0, 0, 1]], atol=0.05)


def test_axes_are_eigenvectors_of_the_covariance() -> None:
    # of cut values, over all stretches, in more than one chunk
    rows = noise(CHUNK + 500, 4) @ noise(4, 4)
    rows[7] = 1e5
    found = principal_axes([rows[:300], rows[300:]], most=4)
    covariance = np.cov(cut(rows).astype(np.float64), rowvar=False, bias=True)
    variances = [axis @ covariance @ axis for axis in found.T.astype(np.float64)]
    assert variances == sorted(variances, reverse=True)
    np.testing.assert_allclose(covariance @ found, found * variances, atol=1e-3)


def test_no_more_axes_than_channels_that_move_or_than_are_kept_at_most() -> None:
    still = noise(500, 4)
    still[:, 2:] = 7.0
    assert principal_axes([still]).shape == (4, 2)
    assert principal_axes([noise(500, MOST + 8)]).shape == (MOST + 8, MOST)


def test_rows_that_never_moved_have_an_axis_all_the_same() -> None:
    assert principal_axes([np.zeros((10, 3), np.float32)]).shape == (3, 1)
