"""A row is expected from its neighbours, and from nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from ridge.waves import Rows, noise
from subadjacent.errors import InputError
from subadjacent.ridge.axes import CLIP
from subadjacent.ridge.band import CHUNK, FAR_CLIP, MIN_STRIDED_ROWS, BandRidge
from subadjacent.ridge.neighbours import Neighbours

ONE = np.ones((1, 1), np.float32)
# near, behind, ahead, step
BOTH, BEFORE, AFTER = (2, 5, 5, 1), (2, 5, 0, 1), (2, 0, 5, 1)
LAYOUTS = [(1, 1, 1, 1), BOTH, BEFORE, AFTER, (5, 30, 8, 1)]
STEPS = [(2, 5, 5, 2), (5, 30, 30, 7), (20, 60, 0, 16), (20, 0, 60, 16), (3, 4, 4, 9)]


def model(layout: tuple[int, int, int, int], *, local: bool = False) -> BandRidge:
    """A ridge of random axes and weights."""
    rng, channels = np.random.default_rng(sum(layout)), 2
    neighbours = Neighbours(*layout)
    axes = rng.normal(size=(channels, 2)).astype(np.float32)
    features = 2 * neighbours.count + 1
    weights = rng.normal(size=(features, channels)) / features
    return BandRidge(neighbours, axes, weights.astype(np.float32), local)


def test_neighbours_at_distance_one_by_hand() -> None:
    # one channel, axis 1, weights 2 for the row before, 3 for the row after, 1 for all
    weights = np.array([[2], [3], [1]], np.float32)
    ridge = BandRidge(Neighbours(1, 1, 1), ONE, weights, local=False)
    values = np.array([[1], [2], [4], [3]], np.float32)
    # expected: 2·1 + 3·4 + 1, 2·2 + 3·3 + 1
    assert ridge.residuals(values, 1, 3).tolist() == [[2 - 15], [4 - 14]]


def slow_residual(ridge: BandRidge, values: Rows, row: int) -> list[float]:
    """The definition read aloud, of one row."""
    limit = FAR_CLIP if ridge.local else CLIP
    rows = np.clip(values.astype(np.float64), -limit, limit)
    around = [rows[row + offset] for offset in ridge.neighbours.offsets]
    level = sum(around) / len(around) if ridge.local else np.zeros(rows.shape[1])
    features: list[float] = []
    for neighbour in around:
        seen = (neighbour - level) @ ridge.axes
        features += [max(-CLIP, min(CLIP, value)) for value in seen] if ridge.local else list(seen)
    expected = np.array([*features, 1.0]) @ ridge.weights
    return list(rows[row] - level - expected)


@pytest.mark.parametrize(
    ("layout", "local"),
    [(layout, local) for layout in LAYOUTS for local in (False, True)]
    + [(layout, False) for layout in STEPS],
)
def test_residuals_are_the_definition(layout: tuple[int, int, int, int], local: bool) -> None:
    ridge = model(layout, local=local)
    for more in (1, MIN_STRIDED_ROWS - 1, MIN_STRIDED_ROWS, CHUNK + 3):
        values = noise(layout[1] + more + layout[2])
        # values that are cut, some of them next to the ends of a chunk
        for at in (0, 3, CHUNK - 1, CHUNK + 2):
            values[min(at, len(values) - 1)] = [40.0, -2000.0]
        complete = ridge.neighbours.complete(len(values))
        found = ridge.residuals(values, complete.start, complete.stop)
        assert found.shape == (more, 2)
        last = layout[1] + more - 1
        for row in {layout[1], layout[1] + more // 2, CHUNK - 1, CHUNK, CHUNK + 1, last}:
            if layout[1] <= row <= last:
                wanted = slow_residual(ridge, values, row)
                np.testing.assert_allclose(found[row - layout[1]], wanted, rtol=1e-4, atol=2e-4)


def test_weights_are_laid_out_row_by_row_as_they_are_read_from_a_file() -> None:
    ridge = model(BOTH).with_weights(np.asfortranarray(np.ones((17, 2))))
    assert ridge.weights.flags.c_contiguous
    assert ridge.weights.dtype == np.float32


def test_a_local_model_takes_every_row() -> None:
    with pytest.raises(InputError, match="step must be 1 for a local model; got 3"):
        model((1, 7, 7, 3), local=True)
