"""The directions of most variance."""

from __future__ import annotations

import numpy as np
import pytest

from ridge.waves import noise
from subadjacent.ridge.axes import CHUNK, CLIP, MAX_AXES, FoldSums, RowSums, cut, principal_axes
from subadjacent.ridge.folds import folds, guarded


def test_values_far_out_are_cut_by_hand() -> None:
    assert cut(np.array([[-1e6, 0.5], [CLIP, CLIP + 1]])).tolist() == [[-CLIP, 0.5], [CLIP, CLIP]]


def test_axes_are_eigenvectors_of_the_covariance() -> None:
    # of cut values, over all segments, in more than one chunk
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
    assert principal_axes([noise(500, MAX_AXES + 8)]).shape == (MAX_AXES + 8, MAX_AXES)


def test_rows_that_never_moved_have_an_axis_all_the_same() -> None:
    assert principal_axes([np.zeros((10, 3), np.float32)]).shape == (3, 1)


def test_sums_of_three_rows_by_hand() -> None:
    sums = RowSums.of(np.array([[1.0, 2.0], [3.0, -1.0], [99.0, 0.0]]))
    # the last is cut to 10
    assert sums.products.tolist() == [[110, -1], [-1, 5]]
    assert sums.values.tolist() == [14, 1]
    assert sums.rows == 3
    np.testing.assert_allclose(sums.mean, [14 / 3, 1 / 3])
    np.testing.assert_allclose(sums.covariance[0], [110 / 3 - (14 / 3) ** 2, -1 / 3 - 14 / 9])


@pytest.mark.parametrize("lengths", [(300,), (100, 3, 197), (4,), (CHUNK + 90,)])
def test_sums_in_and_outside_folds_are_those_of_their_rows(lengths: tuple[int, ...]) -> None:
    parts = [noise(rows, 3, seed=rows) for rows in lengths]
    rows, sums = np.concatenate(parts), FoldSums(parts)
    assert sums.bounds == folds(len(rows))
    whole = RowSums.of(rows)
    for found, wanted in zip(sums.everything, whole, strict=True):
        np.testing.assert_allclose(found, wanted)
    for fold, bounds in enumerate(sums.bounds):
        low, high = guarded(bounds, len(rows))
        others = RowSums.of(np.concatenate([rows[:low], rows[high:]]))
        for found, wanted in zip(sums.outside(fold), others, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-6)
        for found, wanted in zip(sums.inside(fold), RowSums.of(rows[slice(*bounds)]), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_rows_are_centred_by_rows_outside_their_fold() -> None:
    parts = [noise(180, 2), noise(7, 2, seed=1), noise(113, 2, seed=2)]
    parts[0][3] = 50.0
    before = [part.copy() for part in parts]
    rows = np.clip(np.concatenate(parts), -CLIP, CLIP).astype(np.float64)
    wanted = np.empty_like(rows)
    for first, last in folds(300):
        low, high = guarded((first, last), 300)
        wanted[first:last] = rows[first:last] - np.delete(rows, range(low, high), 0).mean(axis=0)
    found = FoldSums(parts).centred(parts)
    assert [len(part) for part in found] == [180, 7, 113]
    assert all(part.dtype == np.float32 for part in found)
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-5)
    for part, same in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, same)


def test_rows_are_narrower_along_axes_that_had_not_seen_them() -> None:
    # axes of noise are chance, the more so the fewer rows there are; those of a cause are not
    assert FoldSums([noise(400, 40)]).narrower() < 0.8
    assert FoldSums([noise(40_000, 40)]).narrower() > 0.9
    cause = noise(400, 1) * np.ones((1, 40), np.float32)
    assert FoldSums([cause]).narrower() == pytest.approx(1.0)
    # with no more channels than axes there is nothing to choose
    assert FoldSums([noise(400, 3)]).narrower() == pytest.approx(1.0)
    assert FoldSums([np.zeros((50, 3), np.float32)]).narrower() == 1.0
    assert FoldSums([np.zeros((0, 3), np.float32)]).narrower() == 1.0


def test_a_channel_that_moves_in_one_fold_only_does_not_make_all_narrower() -> None:
    rows = noise(1000, 3)
    rows[:, 2] = 0
    rows[450:500, 2] = 9.0
    assert FoldSums([rows]).narrower() == pytest.approx(1.0, abs=0.02)
