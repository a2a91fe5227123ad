"""The default scores a segment as it comes, to the last digit as all at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from methods.streams import assert_same, in_parts
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Evidence
from subadjacent.decision.view_facts import VIEWS
from subadjacent.errors import InputError
from subadjacent.methods.method import Model, State
from subadjacent.methods.stream import joined
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.settings import ViewSettings
from subadjacent.methods.views.stream import ViewsStream
from subadjacent.runtime import Runtime

Rows = NDArray[np.float64]
LOOKAHEADS = (0, 5, 30, "full")


def odd_rows(rows: int, channels: int, seed: int) -> Rows:
    """Cycles, steps, flags, channels that stand still, drift, and one far from 0, in turn."""
    rng, time = np.random.default_rng(seed), np.arange(rows)
    kinds = [
        np.sin(2 * np.pi * time / 50) + 0.05 * rng.normal(size=rows),
        np.round(2 * np.sin(2 * np.pi * time / 80)) / 2,
        (time // 100) % 2,
        np.full(rows, 3.0),
        0.1 * np.cumsum(rng.normal(size=rows)),
        1e6 + rng.normal(size=rows),
    ]
    return np.column_stack([kinds[n % len(kinds)] * (1 + n // len(kinds)) for n in range(channels)])


def spoiled(rows: int, channels: int) -> Rows:
    """The same with values far out, a level that moves for good, and rows that repeat."""
    values = odd_rows(rows, channels, seed=1)
    values[rows // 8 : rows // 8 + 5, 0] = 9999
    values[rows // 4 :, -1] += 40
    values[rows // 2, 0] = -1e7
    values[rows // 2 + 50 : rows // 2 + 150] = values[rows // 2 + 49]
    return values


@cache
def model(
    channels: int, lookahead: int | str, views: str | tuple[str, ...] = "all", smoothing: int = 20
) -> Model:
    settings = ViewSettings(lookahead=lookahead, views=views, smoothing=smoothing)
    training = TrainSeries(odd_rows(1200, channels, seed=0))
    return ViewsMethod(settings).fit([training], Runtime()).models.of(None)


@cache
def all_at_once(channels: int, lookahead: int | str, rows: int) -> Evidence:
    return model(channels, lookahead).assess(spoiled(900, channels)[:rows])


def assert_exact(found: Evidence, wanted: Evidence) -> None:
    """Scores to the last digit; what explains them as far as float32 goes."""
    np.testing.assert_array_equal(found.score, wanted.score)
    assert_same(found, wanted, rtol=1e-5, atol=1e-9)
    assert found.views == wanted.views
    assert found.by_channel.dtype == wanted.by_channel.dtype


@pytest.mark.parametrize(
    ("channels", "lookahead", "size"),
    [
        (1, "full", 61),
        (3, 0, 900),
        (5, 0, 1),
        (5, "full", 1),
        (5, 5, 61),
        (20, 30, 61),
        (20, "full", 900),
    ],
)
def test_in_parts_is_all_at_once(channels: int, lookahead: int | str, size: int) -> None:
    stream = model(channels, lookahead).stream()
    assert isinstance(stream, ViewsStream)
    found = in_parts(stream, spoiled(900, channels), size)
    assert_exact(found, all_at_once(channels, lookahead, 900))


@pytest.mark.parametrize("lookahead", LOOKAHEADS)
def test_short_segments_end_as_they_do_all_at_once(lookahead: int | str) -> None:
    for rows in (1, 2, 31, 130, 300):
        found = in_parts(model(3, lookahead).stream(), spoiled(900, 3)[:rows], 7)
        assert_exact(found, all_at_once(3, lookahead, rows))


@pytest.mark.parametrize("lookahead", [30, "full"])
@pytest.mark.parametrize(
    "views", [*((name,) for name in VIEWS), VIEWS[4:], ("level", "shape"), VIEWS[:4]]
)
def test_views_may_be_left_out(views: tuple[str, ...], lookahead: int | str) -> None:
    fitted, rows = model(3, lookahead, views), spoiled(500, 3)
    assert_exact(in_parts(fitted.stream(), rows, 33), fitted.assess(rows))


@pytest.mark.parametrize("smoothing", [1, 2, 400])
def test_the_score_may_be_averaged_over_any_number_of_rows(smoothing: int) -> None:
    fitted, rows = model(3, "full", smoothing=smoothing), spoiled(700, 3)
    assert_exact(in_parts(fitted.stream(), rows, 50), fitted.assess(rows))


@pytest.mark.parametrize("lookahead", LOOKAHEADS)
def test_a_row_is_final_as_soon_as_the_rows_that_it_looks_at_have_come(
    lookahead: int | str,
) -> None:
    fitted = model(5, lookahead)
    stream, after = fitted.stream(), fitted.reach.after
    assert after is not None
    rows = spoiled(600, 5)
    # the first rows of a segment may look further ahead, to the first whole window
    stream.push(rows[:550])
    for taken, row in enumerate(rows[550:], start=551):
        stream.push(row[None])
        assert stream.taken == taken
        assert stream.given >= taken - after
    if lookahead == 0:
        assert stream.given == 600


def test_looking_at_what_waits_changes_nothing() -> None:
    fitted, rows = model(5, "full"), spoiled(900, 5)
    stream, parts = fitted.stream(), []
    for stop in range(90, 901, 90):
        parts.append(stream.push(rows[stop - 90 : stop]))
        assert_exact(joined([*parts, stream.waiting()]), fitted.assess(rows[:stop]))
    assert_exact(joined([*parts, stream.finish()]), all_at_once(5, "full", 900))


def test_after_the_end_a_new_segment_begins() -> None:
    fitted, rows = model(3, 30), spoiled(300, 3)
    stream = fitted.stream()
    in_parts(stream, odd_rows(400, 3, seed=5), 100)
    assert (stream.taken, stream.given) == (0, 0)
    assert_exact(in_parts(stream, rows, 100), fitted.assess(rows))


@pytest.mark.parametrize("lookahead", [0, "full"])
def test_a_stream_goes_on_where_another_stood(lookahead: int | str) -> None:
    """Also between the rows at which old ones are forgotten."""
    fitted, rows = model(5, lookahead), spoiled(900, 5)
    stream, parts, before = fitted.stream(), [], 0
    for stop in (0, 1, *range(500, 540), 555):
        parts.append(stream.push(rows[before:stop]))
        state, before = stream.state(), stop
        # as files keep them: numbers only
        assert all(array.dtype.kind in "fiu" for array in state.arrays.values())
        arrays = {name: array.copy() for name, array in state.arrays.items()}
        other = fitted.stream(State(arrays, dict(state.facts)))
        assert (other.taken, other.given) == (stream.taken, stream.given)
        stream = other
    found = joined([*parts, in_parts(stream, rows[before:], 40)])
    assert_exact(found, all_at_once(5, lookahead, 900))


def test_what_is_kept_does_not_grow() -> None:
    stream, sizes = model(5, "full").stream(), []
    for start in range(0, 4000, 400):
        stream.push(odd_rows(400, 5, seed=start))
        sizes.append(sum(array.size for array in stream.state().arrays.values()))
    assert max(sizes[4:]) <= 1.05 * min(sizes[4:])


def test_states_that_do_not_fit_are_refused() -> None:
    fitted = model(5, "full")
    stream = fitted.stream()
    stream.push(spoiled(700, 5))
    arrays, facts = stream.state()
    for name, array in arrays.items():
        with pytest.raises(InputError, match=f"{name} must have shape"):
            fitted.stream(State(arrays | {name: array[1:]}, facts))
        if array.dtype.kind == "f":
            with pytest.raises(InputError, match=f"{name} must be finite"):
                fitted.stream(State(arrays | {name: np.full_like(array, np.inf)}, facts))
    with pytest.raises(InputError, match="taken must be a whole number"):
        fitted.stream(State(arrays, {"taken": "many"}))


def test_rows_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"rows must have shape \(rows, 3\); got \(5, 1\)"):
        model(3, 30).stream().push(np.zeros((5, 1)))


@pytest.mark.parametrize(
    ("channels", "lookahead", "size"), [(1, 0, 1), (5, "full", 1), (5, 5, 7), (1, 30, 61)]
)
def test_scores_alone_are_those_with_explanations(
    channels: int, lookahead: int | str, size: int
) -> None:
    stream = model(channels, lookahead).stream(explained=False)
    found = in_parts(stream, spoiled(900, channels), size)
    np.testing.assert_array_equal(found.score, all_at_once(channels, lookahead, 900).score)
    assert found.expected is None
    assert not found.by_channel.size
    assert not found.traces
