"""Generated live streams: what every kind keeps to, and what its parts do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reproduce.cases.stream_parts import (
    bursts,
    column,
    counts,
    daily,
    day,
    near,
    places,
    slow,
    steps,
    until,
    wander,
    weekend,
    with_gaps,
)
from reproduce.cases.streams import (
    FIRST_KEPT_BACK_SEED,
    STREAM_KINDS,
    LiveStream,
    kept_back_streams,
    live_stream,
    live_streams,
)
from reproduce.cases.streams_kept_back import KEPT_BACK_STREAMS
from subadjacent.errors import InputError

WITHOUT = {"nothing wrong", "idle", "quiet weeks"}

every_kind = pytest.mark.parametrize("kind", [*STREAM_KINDS, *KEPT_BACK_STREAMS])


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_labels_spell_out_the_anomalies_row_by_row() -> None:
    stream = LiveStream("idle", 0, np.zeros((6, 1)), ((1, 3), (5, 6)))
    assert stream.labels.tolist() == [0, 1, 1, 0, 0, 1]


def test_a_day_of_hours_begins_on_a_monday_and_ends_in_a_weekend() -> None:
    days = day(24 * 7, 60)
    assert days[24] == 1
    assert weekend(days).tolist() == [False] * 120 + [True] * 48
    assert day(2, 5, start=3.0).tolist() == [3.0, 3.0 + 5 / 1_440]


def test_a_daily_load_repeats_every_day_and_peaks_at_one() -> None:
    load = daily(rng(), day(24 * 3, 60))
    np.testing.assert_allclose(load[:24], load[24:48])
    assert load.max() == 1
    assert load[2] < 0.2


def test_wandering_noise_has_unit_variance_and_remembers() -> None:
    noise = wander(rng(), 50_000, 10)
    assert noise.std() == pytest.approx(1, rel=0.05)
    assert np.corrcoef(noise[:-10], noise[10:])[0, 1] == pytest.approx(np.exp(-1), abs=0.05)


def test_counts_are_whole_with_the_mean_and_variance_asked_for() -> None:
    mean = np.full(50_000, 20.0)
    for heavy in (0.0, 0.25):
        drawn = counts(rng(), mean, heavy)
        assert (drawn == drawn.round()).all()
        assert drawn.mean() == pytest.approx(20, rel=0.02)
        assert drawn.var() == pytest.approx(20 + heavy * 400, rel=0.05)
    assert counts(rng(), np.array([-3.0]), 0).tolist() == [0]


def test_bursts_are_rare_and_die_away() -> None:
    drawn = bursts(rng(), 50_000, 100, 5, 2)
    starts = np.flatnonzero(np.diff(drawn) > 0)
    assert len(starts) == pytest.approx(500, rel=0.15)
    assert drawn[starts[0] + 2] == pytest.approx(drawn[starts[0] + 1] * np.exp(-0.5))


def test_steps_hold_their_levels() -> None:
    drawn = steps(rng(), 1_000, 10, 30, np.array([1.0, 2.0, 4.0]))
    assert set(drawn) == {1.0, 2.0, 4.0}
    changes = np.flatnonzero(np.diff(drawn))
    assert np.diff(changes).min() >= 10


def test_a_slow_factor_reaches_both_bounds_without_a_jump() -> None:
    drawn = slow(rng(), 1_000, 0.5, 2.0)
    assert (drawn.min(), drawn.max()) == (0.5, 2.0)
    assert np.abs(np.diff(drawn)).max() < 0.05


def test_places_are_apart_and_leave_the_beginning_alone() -> None:
    for seed in range(50):
        found = places(np.random.default_rng(seed), 1_000, 4, fewest=2)
        assert 2 <= len(found) <= 4
        assert found[0] >= 220
        assert found[-1] < 960
        assert all(later - sooner > 80 for sooner, later in pairwise(found))


def test_near_finds_the_hour_that_comes_next() -> None:
    days = day(96, 60)
    assert near(days, 30, 14) == 38
    assert near(days, 38, 14) == 38
    assert near(days, 39, 14) == 62
    assert near(days, 90, 14) == 90  # it does not come any more


def test_a_span_is_cut_at_the_end() -> None:
    assert until(np.zeros(10), 3, 4) == (3, 7)
    assert until(np.zeros(10), 8, 4) == (8, 10)


def test_gaps_are_of_the_share_asked_for_and_never_at_the_beginning() -> None:
    drawn = with_gaps(rng(), np.ones(50_000), 0.01)
    missing = np.isnan(drawn)
    assert not missing[:20].any()
    assert 0.012 < missing.mean() < 0.03  # single ones, and segments of ten
    assert (drawn[~missing] == 1).all()


def test_a_column_has_one_channel() -> None:
    assert column(np.arange(3.0)).shape == (3, 1)


@every_kind
def test_every_stream_is_of_a_size_to_watch_with_anomalies_where_they_can_be_judged(
    kind: str,
) -> None:
    for seed in range(4):
        stream = live_stream(kind, seed)
        rows = len(stream.values)
        assert 1_500 <= rows <= 20_000
        assert stream.values.dtype == np.float64
        assert np.isfinite(stream.values[0]).all()
        assert not np.isinf(stream.values).any()
        assert np.isnan(stream.values).mean() < 0.03
        assert bool(stream.spans) == (kind not in WITHOUT)
        assert all(0.2 * rows <= start < stop <= rows for start, stop in stream.spans)
        assert all(stop < start for (_, stop), (start, _) in pairwise(stream.spans))
        assert stream.labels.sum() == sum(stop - start for start, stop in stream.spans)


@every_kind
def test_a_seed_is_a_stream_and_another_seed_another(kind: str) -> None:
    stream = live_stream(kind, 3)
    again, other = live_stream(kind, 3), live_stream(kind, 4)
    np.testing.assert_array_equal(stream.values, again.values)
    assert stream.spans == again.spans
    assert stream.values.shape != other.values.shape or stream.spans != other.spans


def test_development_and_kept_back_share_neither_kinds_nor_seeds() -> None:
    assert len(STREAM_KINDS) >= 16
    assert len(KEPT_BACK_STREAMS) >= 8
    assert not set(STREAM_KINDS) & set(KEPT_BACK_STREAMS)
    assert [(s.kind, s.seed) for s in live_streams([2])] == [(kind, 2) for kind in STREAM_KINDS]
    kept = [(stream.kind, stream.seed) for stream in kept_back_streams([1_000])]
    assert kept == [(kind, 1_000) for kind in [*STREAM_KINDS, *KEPT_BACK_STREAMS]]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"kind must be one of .*; got 'weather'"):
        live_stream("weather")
    with pytest.raises(InputError, match="seed"):
        live_stream("idle", -1)
    with pytest.raises(InputError, match=r"seeds must be below 1000, .*; got 1000"):
        list(live_streams([FIRST_KEPT_BACK_SEED]))
    with pytest.raises(InputError, match="seeds must be 1000 or more; got 999"):
        list(kept_back_streams([FIRST_KEPT_BACK_SEED - 1]))
