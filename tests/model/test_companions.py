"""What the other channels leave of a channel's residual."""

from __future__ import annotations

import numpy as np
import pytest
from subadjacent.model.companions import CLIP, Companions

HALF = Companions(np.array([[1.0, -0.5], [-0.5, 1.0]], np.float32))


def test_each_channel_expects_half_of_the_other_by_hand() -> None:
    residuals = np.array([[2.0, 2.0], [2.0, 0.0], [2.0, 4.0]])
    assert HALF.left(residuals).tolist() == [[1.0, 1.0], [2.0, -1.0], [0.0, 3.0]]


def test_a_channel_that_is_far_out_is_cut_by_hand() -> None:
    # the one that is far out stays far out; the other is put out by half of the cut, not more
    assert HALF.left(np.array([[1e6, 0.0]])).tolist() == [[CLIP, -CLIP / 2]]
    assert HALF.left(np.array([[-1e6, 1.0]])).tolist() == [[-CLIP - 0.5, 1.0 + CLIP / 2]]


def slow_left(companions: Companions, residuals: np.ndarray) -> list[list[float]]:
    """The definition read aloud."""
    found = []
    for row in residuals.tolist():
        cut = [max(-CLIP, min(CLIP, value)) for value in row]
        found.append(
            [
                sum(float(weight) * value for weight, value in zip(weights, cut, strict=True))
                for weights in companions.weights
            ]
        )
    return found


@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 2, 33])
def test_what_is_left_is_the_definition(rows: int, channels: int) -> None:
    rng = np.random.default_rng(10 * rows + channels)
    companions = Companions(rng.normal(size=(channels, channels)).astype(np.float32))
    residuals = 20 * rng.normal(size=(rows, channels)).astype(np.float32)
    found = companions.left(residuals)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow_left(companions, residuals), rtol=1e-4, atol=1e-4)


def test_without_relations_everything_is_left() -> None:
    residuals = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    np.testing.assert_array_equal(
        Companions(np.eye(3, dtype=np.float32)).left(residuals), residuals
    )


def test_a_row_is_judged_by_itself_and_not_changed() -> None:
    residuals = np.random.default_rng(1).normal(size=(20, 2)) * 50
    before = residuals.copy()
    whole = HALF.left(residuals)
    np.testing.assert_array_equal(residuals, before)
    for row in range(20):
        np.testing.assert_array_equal(HALF.left(residuals[row : row + 1])[0], whole[row])
