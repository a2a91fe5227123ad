"""Shapes never seen: how far a window of a channel is from every window of it in training."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from methods.views.combining import Floats, Rows, novelty, waves
from subadjacent.methods.views.fit_shapes import (
    MAX_FLAG_VALUES,
    MAX_REFERENCES,
    MIN_MOVING_SHARE,
    MIN_WINDOWS,
    ShapeFit,
    fit_shapes,
    grains,
    z_normalised,
)
from subadjacent.methods.views.nearest import spread_out
from subadjacent.methods.views.shapes import POINTS, ShapesOfLength, ShapeView

# windows of a whole cycle, and of 16 rows
CYCLE = 64


def fit(*parts: Rows, cycle: int | None = CYCLE, lookahead: int | None = None) -> ShapeFit:
    found = fit_shapes(parts, cycle, lookahead)
    assert found is not None
    return found


@cache
def view(lookahead: int | None = None) -> ShapeView:
    """Windows of 16 rows and of 64."""
    return fit(waves(700), lookahead=lookahead).view


# ---- windows


def test_a_window_of_sixteen_points_by_hand() -> None:
    # 1 and -1 in turn, for 16 rows and one more: mean 0 and deviation 1, with a floor of 0.3
    values = np.array([1.0, -1.0] * 8 + [1.0])
    points, deviations = z_normalised(values, grain=1)
    assert deviations.tolist() == [1.0, 1.0]
    scale = math.sqrt(16 * (1 + 0.09))
    np.testing.assert_allclose(points, [values[:16] / scale, values[1:] / scale], rtol=1e-6)


def slow_windows(values: Floats, grain: int, step: int) -> tuple[Floats, Floats]:
    """The definition read aloud."""
    points, deviations = [], []
    numbers = [float(value) for value in values]
    for begin in range(0, len(values) - 16 * grain + 1, step):
        means = [
            sum(numbers[begin + point * grain : begin + (point + 1) * grain]) / grain
            for point in range(16)
        ]
        mean = sum(means) / 16
        variance = sum((value - mean) ** 2 for value in means) / 16
        points.append([(value - mean) / math.sqrt(16 * (variance + 0.3**2)) for value in means])
        deviations.append(math.sqrt(variance))
    return np.array(points).reshape(-1, 16), np.array(deviations)


@pytest.mark.parametrize("grain", [1, 2, 5])
@pytest.mark.parametrize("extra", [-40, -1, 0, 33])
def test_windows_are_the_definition(extra: int, grain: int) -> None:
    rows = max(16 * grain + extra, 1)
    values = np.cumsum(np.random.default_rng(rows).normal(size=rows)).astype(np.float32)
    points, deviations = z_normalised(values, grain)
    wanted, wanted_deviations = slow_windows(values.astype(np.float64), grain, 1)
    assert points.shape == wanted.shape
    np.testing.assert_allclose(points, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(deviations, wanted_deviations, rtol=1e-6, atol=1e-9)


# ---- lengths


@pytest.mark.parametrize(
    ("cycle", "wanted"),
    [
        (None, (3, 12)),
        (31, (3, 12)),
        (32, (1, 4)),
        (64, (1, 4)),
        (95, (1, 4)),
        (97, (2, 8)),
        (128, (2, 8)),
        (200, (3, 12)),
        (400, (6, 24)),
        (401, (3, 12)),
    ],
)
def test_lengths_follow_the_cycle_by_hand(cycle: int | None, wanted: tuple[int, int]) -> None:
    assert grains(cycle) == wanted


# ---- which window judges a row


def of_length(grain: int) -> ShapesOfLength:
    nothing = np.zeros((1, 1, 16), np.float16)
    return ShapesOfLength(grain, np.array([0]), nothing, np.ones(1, np.float32))


@pytest.mark.parametrize("lookahead", [None, 0, 30])
@pytest.mark.parametrize("grain", [1, 5])
@pytest.mark.parametrize("rows", [1, 15, 16, 81, 200])
def test_the_window_of_a_row_is_the_last_that_it_may_see(
    rows: int, grain: int, lookahead: int | None
) -> None:
    """The definition read aloud."""
    length = of_length(grain)
    begins = list(range(0, rows - length.rows + 1, grain))
    half = 16 * grain // 2
    ahead = half if lookahead is None else min(half, lookahead)
    assert length.ahead(lookahead) == ahead
    found = length.windows_of(rows, lookahead)
    # of some rows as of all
    some = length.windows_of(rows, lookahead, rows // 3, rows // 2)
    assert some.tolist() == found[rows // 3 : rows // 2].tolist()
    for row, window in enumerate(found):
        seen = [n for n, begin in enumerate(begins) if begin + length.rows - 1 <= row + ahead]
        before_the_first = 0 if begins and lookahead is None else -1
        assert window == (seen[-1] if seen else before_the_first)


# ---- novelty


def slow_novelty(shapes: ShapeView, rows: Rows) -> tuple[Floats, Floats]:
    """Loops over lengths, channels, rows and references."""
    scores, values = np.zeros(len(rows)), np.zeros(rows.shape)
    within = np.clip(rows.astype(np.float64), -10, 10)
    for length in shapes.lengths:
        windows = length.windows_of(len(rows), shapes.lookahead)
        for number, channel in enumerate(length.channels):
            points, _ = slow_windows(within[:, channel], length.grain, length.grain)
            for row, window in enumerate(windows):
                if window < 0:
                    continue
                square = min(
                    float(np.square(points[window] - reference).sum())
                    for reference in length.references[number].astype(np.float64)
                )
                ratio = square / (float(length.usual[number]) + 1e-3) / 3
                own = math.log(1 + ratio**2) / 2 / len(shapes.lengths)
                values[row, channel] += own
                scores[row] += own / len(length.channels)
    return scores, values


@pytest.mark.parametrize("lookahead", [None, 0, 6])
@pytest.mark.parametrize("count", [1, 16, 33, 90])
def test_the_novelty_of_rows_is_the_definition(count: int, lookahead: int | None) -> None:
    rng = np.random.default_rng(count)
    lengths = tuple(
        ShapesOfLength(
            grain,
            np.array(channels),
            (0.25 * rng.normal(size=(len(channels), references, 16))).astype(np.float16),
            rng.uniform(0.1, 0.5, len(channels)).astype(np.float32),
        )
        for grain, channels, references in ((1, [0, 2], 5), (2, [2], 1))
    )
    shapes = ShapeView(lengths, lookahead)
    rows = rng.normal(size=(count, 3)).astype(np.float32)
    rows[0] = 99.0
    scores, values = slow_novelty(shapes, rows)
    found = novelty(shapes, rows)
    np.testing.assert_allclose(found.rows, scores, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.values, values, rtol=1e-4, atol=1e-5)


# ---- fit


@cache
def slow_fit(name: str, channel: int, grain: int) -> tuple[Floats, float, list[Floats]]:
    """References of a channel, the usual distance, and the surprise of windows that are assessed.

    Windows begin at every row of each segment and are numbered through. A window is held against
    references that begin at least a whole window before the first or after the last of its fold.
    """
    parts, length = AWKWARD[name], 16 * grain
    points = np.concatenate([slow_windows(part[:, channel], grain, 1)[0] for part in parts])
    counts = [max(len(part) - length + 1, 0) for part in parts]
    chosen = spread_out(len(points), min(1000, math.ceil(len(points) / grain)))
    references = points[chosen].astype(np.float16).astype(np.float64)
    assessed, start = [], 0
    for count in counts:
        assessed += [start + begin for begin in range(0, count, grain)]
        start += count
    edges = [int(edge) for edge in np.linspace(0, len(assessed), 6)]
    squares, closer = np.zeros(len(assessed)), []
    for fold in range(5):
        first, last = assessed[edges[fold]], assessed[edges[fold + 1] - 1]
        far = [n for n, at in enumerate(chosen) if at <= first - length or at >= last + length]
        closer.append((len(far) / len(chosen)) ** (2 / 15))
        for number in range(edges[fold], edges[fold + 1]):
            differences = points[assessed[number]] - references[far]
            squares[number] = np.square(differences).sum(axis=1).min()

    def usual(some: Floats) -> float:
        return math.sqrt(float(np.mean([b.mean() ** 2 for b in np.array_split(some, 10)])))

    unseen = np.zeros(len(assessed))
    for fold in range(5):
        here = slice(edges[fold], edges[fold + 1])
        ratio = squares[here] / (usual(np.delete(squares, here)) + 1e-3) / 3
        unseen[here] = np.log(1 + ratio**2) / 2
    ends = np.cumsum([math.ceil(count / grain) for count in counts])[:-1]
    return references, float(np.mean(closer)) * usual(squares), np.split(unseen, ends)


AWKWARD: dict[str, list[Rows]] = {
    # windows of 64 rows begin at 9 times 64 rows
    "just enough rows": [waves(639)],
    "several segments": [waves(400, seed=1), waves(20, seed=2), waves(64, seed=3), waves(900)],
    "a single channel": [waves(800, seed=4)[:, 1:2]],
    "a constant and a flag": [
        np.column_stack([waves(700), np.zeros(700), waves(700)[:, 0] > 1]).astype(np.float32)
    ],
    "duplicates": [np.repeat(waves(350, seed=5), 2, axis=0)],
}


@pytest.mark.parametrize(
    ("name", "lookahead"),
    [*((name, None) for name in AWKWARD), ("several segments", 0), ("just enough rows", 7)],
)
def test_a_fit_is_the_definition(
    name: str, lookahead: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.methods.views.residual_scale.CHUNK", 300)
    parts = AWKWARD[name]
    found = fit(*parts, lookahead=lookahead)
    channels = min(parts[0].shape[1], 3)
    assert [length.grain for length in found.view.lengths] == [1, 4]
    unseen = [np.zeros(len(part)) for part in parts]
    for length in found.view.lengths:
        assert length.channels.tolist() == list(range(channels))
        for channel in range(channels):
            references, usual, surprise = slow_fit(name, channel, length.grain)
            np.testing.assert_allclose(length.references[channel], references, atol=1e-3)
            assert length.usual[channel] == pytest.approx(usual, rel=1e-3)
            for rows, own in zip(unseen, surprise, strict=True):
                for row, window in enumerate(length.windows_of(len(rows), lookahead)):
                    rows[row] += own[window] / channels / 2 if window >= 0 else 0
    for rows, wanted in zip(found.unseen, unseen, strict=True):
        np.testing.assert_allclose(rows, wanted, rtol=5e-3, atol=2e-4)


@pytest.mark.parametrize(
    ("rows", "lengths"),
    # nine times 64 windows that begin at each row, and nine times 16
    [(639, [1, 4]), (638, [1]), (159, [1]), (158, None)],
)
def test_lengths_take_part_that_fit_the_rows_ten_times(
    rows: int, lengths: list[int] | None
) -> None:
    assert MIN_WINDOWS == 10
    found = fit_shapes([waves(rows)], CYCLE, None)
    assert lengths == (None if found is None else [length.grain for length in found.view.lengths])


def test_windows_of_short_segments_add_up() -> None:
    assert fit_shapes([waves(15, seed=n) for n in range(99)], CYCLE, None) is None
    many = fit_shapes([waves(17, seed=n) for n in range(72)], CYCLE, None)
    assert many is not None
    assert [length.rows for length in many.view.lengths] == [16]
    assert [len(rows) for rows in many.unseen] == [17] * 72


# ---- channels that have shapes


def test_flags_constants_and_what_hardly_moves_take_no_part() -> None:
    rng = np.random.default_rng(0)
    steps = np.repeat(rng.integers(0, MAX_FLAG_VALUES, 100), 9)
    finer = np.repeat(rng.integers(0, MAX_FLAG_VALUES + 1, 100), 9)
    assert len(np.unique(finer)) == MAX_FLAG_VALUES + 1
    rows = np.column_stack(
        [
            np.full(900, 3.0),
            steps / 2.5,
            finer / 2.5,
            waves(900)[:, 0],
            0.1 * rng.normal(size=900),
            waves(900)[:, 1] > 0,
        ]
    ).astype(np.float32)
    assert [length.channels.tolist() for length in fit(rows).view.lengths] == [[2, 3]] * 2
    assert fit_shapes([rows[:, [0, 1, 4, 5]]], CYCLE, None) is None


@pytest.mark.parametrize(("moving", "there"), [(0.4, False), (0.6, True)])
def test_a_channel_takes_part_if_it_moves_in_half_of_its_windows(
    moving: float, there: bool
) -> None:
    assert MIN_MOVING_SHARE == 0.5
    rows = waves(1000)[:, :1].copy()
    rows[int(1000 * moving) :] *= 0.01
    assert (fit_shapes([rows], CYCLE, None) is not None) == there


# ---- properties


def test_reach_by_hand() -> None:
    # windows of 16 and 64 rows; of the longer one every fourth row begins one
    assert view(None).reach == (64 + 4 - 2, 63)
    assert view(0).reach == (66, 0)
    assert view(5).reach == (66, 5)
    # half of the longer window is all that it wants to see
    assert view(30).reach == (66, 30)
    assert view(500).reach == (66, 32)
    assert view().every == 4
    assert ShapeView((of_length(6), of_length(4)), None).every == 12


def test_references_are_bounded_and_of_all_phases_and_two_fits_are_identical() -> None:
    rows = waves(6000, seed=8)[:, :2]
    first, again = fit(rows), fit(rows)
    for one, other in zip(first.view.lengths, again.view.lengths, strict=True):
        assert one.references.shape[::2] == (2, POINTS)
        assert 0.9 * MAX_REFERENCES < one.references.shape[1] <= MAX_REFERENCES
        assert one.references.dtype == np.float16
        np.testing.assert_array_equal(one.references, other.references)
        np.testing.assert_array_equal(one.usual, other.usual)
    np.testing.assert_array_equal(first.unseen[0], again.unseen[0])


# ---- what it is there for
