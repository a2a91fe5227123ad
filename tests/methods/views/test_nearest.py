"""The nearest of some references, and references from all over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from methods.views.combining import Floats
from subadjacent.methods.views.nearest import (
    References,
    nearest,
    prepared,
    spread_out,
)
from subadjacent.methods.views.states import StateView

# ---- the nearest reference


def test_three_references_on_a_line_by_hand() -> None:
    references = np.array([[0.0], [4.0], [10.0]])
    points = np.array([[-1.0], [1.5], [2.5], [4.0], [8.0], [99.0]])
    squares, which = nearest(points, references)
    assert which.tolist() == [0, 0, 1, 1, 2, 2]
    assert squares.tolist() == [1.0, 2.25, 2.25, 0.0, 4.0, 89.0**2]


def slow_nearest(points: Floats, references: Floats) -> tuple[list[float], list[int]]:
    """The definition read aloud."""
    squares, which = [], []
    for point in points:
        distances = [float(np.square(point - reference).sum()) for reference in references]
        squares.append(min(distances))
        which.append(distances.index(min(distances)))
    return squares, which


@pytest.mark.parametrize("table", [1, 30, 1_000_000])
@pytest.mark.parametrize(
    ("count", "references", "dimensions"), [(0, 2, 2), (1, 1, 16), (2, 37, 1), (50, 37, 16)]
)
def test_nearest_is_the_definition(
    count: int, references: int, dimensions: int, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.nearest.TABLE", table)
    rng = np.random.default_rng(count + references)
    points, known = (3 * rng.normal(size=(rows, dimensions)) for rows in (count, references))
    squares, which = nearest(points, known)
    wanted, nearest_ones = slow_nearest(points, known)
    # float32, and differences of squares of about ten
    np.testing.assert_allclose(squares, wanted, rtol=1e-4, atol=1e-4)
    assert which.tolist() == nearest_ones
    assert squares.shape == which.shape == (count,)


def test_references_of_half_precision_are_compared_in_full() -> None:
    references = np.random.default_rng(1).normal(size=(40, 16)).astype(np.float16)
    points = np.random.default_rng(2).normal(size=(9, 16))
    plain, half = nearest(points, references.astype(np.float64)), nearest(points, references)
    np.testing.assert_array_equal(half.which, plain.which)
    np.testing.assert_allclose(half.squares, plain.squares, rtol=2e-3)


# ---- rows from all over


def test_few_numbers_are_all_chosen() -> None:
    assert spread_out(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert spread_out(3, 10).tolist() == [0, 1, 2]
    assert spread_out(1, 1).tolist() == [0]
    assert spread_out(0, 4).tolist() == []
    for count in range(1, 40):
        for most in range(count, 40):
            assert spread_out(count, most).tolist() == list(range(count))


def test_four_of_a_hundred_by_hand() -> None:
    # 0.618 times 0, 1, 4 and 9 is 0, 0.618, 2.472 and 5.562: so far into each quarter
    assert spread_out(100, 4).tolist() == [0, 40, 61, 89]


@pytest.mark.parametrize(
    ("most", "count"), [(1, 1), (1, 8), (7, 8), (100, 101), (1000, 12_345), (4000, 1_000_000)]
)
def test_chosen_numbers_are_in_order_different_in_range_and_always_the_same(
    count: int, most: int
) -> None:
    chosen = spread_out(count, most)
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] >= 0
    assert chosen[-1] < count
    # where parts are hardly longer than 1, some share a number
    assert 0.6 * min(count, most) <= len(chosen) <= most
    np.testing.assert_array_equal(chosen, spread_out(count, most))
    # one in each part: no two are further apart than two parts
    gaps = np.diff(np.concatenate([[-1], chosen, [count]]))
    assert gaps.max() <= 2 * max(count / most, 1) + 1


@pytest.mark.parametrize(
    ("count", "most"),
    [
        (5000, 1000),
        (8000, 4000),
        (100_000, 1000),
        (65_536, 1024),
        # in line with cycles of 29, 40 and 28 rows if distances between them were few
        (196_186, 1000),
        (127_755, 1000),
        (306_486, 4000),
    ],
)
def test_a_cycle_of_any_length_is_met_at_every_phase(count: int, most: int) -> None:
    chosen = spread_out(count, most)
    for period in range(2, most // 10):
        of_phase = np.bincount(chosen % period, minlength=period) * period / len(chosen)
        # tenths of a cycle, or single phases of a short one
        shares = [phases.mean() for phases in np.array_split(of_phase, min(period, 10))]
        assert min(shares) > 0.5, period
        assert max(shares) < 1.7, period


# ---- whatever else is asked about


def test_between_two_that_are_nearly_as_near_the_nearer_is_found() -> None:
    """In float32 the squares of both are the same."""
    references = np.array([[1000.0, 1.0001], [1000.0, 1.0]], dtype=np.float32)
    for count in (1, 2, 50):
        squares, which = nearest(np.tile([1000.0, 0.0], (count, 1)), references)
        assert which.tolist() == [1] * count
        assert squares.tolist() == [1.0] * count


@pytest.mark.parametrize("spread", [1e-7, 1e-3, 1.0])
def test_a_point_has_the_same_nearest_alone_and_among_others(spread: float) -> None:
    rng = np.random.default_rng(8)
    # few different references, each there many times, or nearly
    known = rng.normal(size=(40, 12))[rng.integers(0, 40, 900)]
    known = (known + spread * rng.normal(size=known.shape)).astype(np.float32)
    points = (known[:200] + 0.1 * rng.normal(size=(200, 12))).astype(np.float32)
    prepared = References(known)
    together = prepared.nearest(points)
    for row in range(200):
        alone = prepared.nearest(points[row : row + 1])
        assert alone.which[0] == together.which[row]
        assert alone.squares[0] == together.squares[row]
    differences = points[:, None].astype(np.float64) - known
    np.testing.assert_array_equal(together.which, np.square(differences).sum(axis=2).argmin(axis=1))


def test_the_two_zeros_are_one_number() -> None:
    references = np.array([[0.0, 1.0], [-0.0, 1.0]], dtype=np.float32)
    assert nearest(np.array([[5.0, 1.0]]), references).which.tolist() == [0]


@pytest.mark.parametrize("references", [1, 30])
def test_groups_are_each_by_itself(references: int) -> None:
    rng = np.random.default_rng(9)
    known = rng.normal(size=(3, references, 4)).astype(np.float16)
    # in one group all are the same, so that each point is close to several
    known[1] = known[1, 0]
    points = rng.normal(size=(3, 5, 4)).astype(np.float32)
    found = References(known).nearest_in_groups(points)
    wanted = [nearest(own, group).squares for own, group in zip(points, known, strict=True)]
    np.testing.assert_array_equal(found, wanted)


def test_references_are_prepared_once_for_a_view() -> None:
    views = [
        StateView(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), np.ones(2, np.float32))
    ] * 2
    other = StateView(
        np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), np.ones(2, np.float32)
    )
    assert prepared(views[0]) is prepared(views[1])
    assert prepared(views[0]) is not prepared(other)
