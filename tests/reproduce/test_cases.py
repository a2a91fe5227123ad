"""The generated kinds: each anomaly is hidden from range and level, and only where it says."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from reproduce.cases import DEVELOPMENT, KEPT_BACK, Case, case
from reproduce.cases.drawing import bump, consecutive, ordinary, plateau, smooth_noise
from subadjacent.data.plant import Event
from subadjacent.data.synthetic import Floats
from subadjacent.errors import InputError

SHAPES = [*list(DEVELOPMENT)[2:], *list(KEPT_BACK)[3:]]

every_kind = pytest.mark.parametrize("kind", [*DEVELOPMENT, *KEPT_BACK])
some_seeds = pytest.mark.parametrize("seed", range(3))


@cache
def drawn(kind: str, seed: int) -> Case:
    return case(kind, seed)


def test_events_spell_out_labels_row_by_row() -> None:
    rows = np.zeros((6, 2))
    events = (Event(1, 3, "off the ring", (0,)), Event(4, 5, "off the ring", (0, 1)))
    assert Case(rows, rows, rows, events).labels.tolist() == [0, 1, 1, 0, 1, 0]


def test_a_plateau_of_five_rows_rises_over_one_row_and_falls_over_one() -> None:
    np.testing.assert_allclose(plateau(5, ramp=1), [0.5, 1, 1, 1, 0.5])


def test_a_bump_is_one_at_its_centre_and_may_fall_more_slowly_than_it_rises() -> None:
    height = bump(np.array([-1.0, 0, 2]), 0, rise=1, fall=2)
    np.testing.assert_allclose(height, [np.exp(-0.5), 1, np.exp(-0.5)])


def test_consecutive_spans_of_fixed_length_fill_the_rows() -> None:
    assert consecutive(np.random.default_rng(0), 10, 3, 3) == [(0, 3), (3, 6), (6, 9)]


def test_noise_has_unit_variance_and_ordinary_channels_about_that() -> None:
    rng = np.random.default_rng(0)
    assert smooth_noise(rng, 20_000, 10).std() == pytest.approx(1, rel=0.05)
    np.testing.assert_allclose(ordinary(rng, 20_000, 4).std(axis=0), [0.7, 1, 0.7, 1], rtol=0.1)


@every_kind
@some_seeds
def test_rows_outside_events_are_as_before_and_events_change_their_channels_only(
    kind: str, seed: int
) -> None:
    series = drawn(kind, seed)
    allowed = np.zeros(series.test.shape, bool)
    for event in series.events:
        rows = slice(event.start, event.stop)
        allowed[rows, list(event.channels)] = True
        changed = series.test[rows, event.channels] != series.base[rows, event.channels]
        # a reversed beat leaves its peak in place
        assert changed.any(axis=1).mean() > 0.9
    assert not (series.test != series.base)[~allowed].any()


@every_kind
@some_seeds
def test_three_to_eight_events_with_gaps_cover_one_to_four_per_cent(kind: str, seed: int) -> None:
    series = drawn(kind, seed)
    assert 3 <= len(series.events) <= 8
    assert 0.01 <= series.labels.mean() <= 0.04
    assert {event.kind for event in series.events} == {kind}
    assert all(before.stop + 60 <= after.start for before, after in pairwise(series.events))


@every_kind
@some_seeds
def test_no_channel_leaves_its_training_range_within_an_anomaly(kind: str, seed: int) -> None:
    series = drawn(kind, seed)
    inside = series.test[series.labels == 1]
    assert (inside >= series.train.min(axis=0)).all()
    assert (inside <= series.train.max(axis=0)).all()


@every_kind
@some_seeds
def test_an_anomaly_is_large_enough_to_be_seen(kind: str, seed: int) -> None:
    series = drawn(kind, seed)
    for event in series.events:
        moved = (series.test - series.base)[event.start : event.stop, event.channels]
        relative = np.sqrt((moved**2).mean(axis=0)) / series.train[:, event.channels].std(axis=0)
        assert relative.max() > 0.4


@every_kind
@some_seeds
def test_no_channel_moves_further_between_rows_than_in_training(kind: str, seed: int) -> None:
    series = drawn(kind, seed)
    largest = np.abs(np.diff(series.train, axis=0)).max(axis=0)
    for event in series.events:
        steps = np.abs(np.diff(series.test[event.start - 1 : event.stop + 1], axis=0))
        assert (steps <= largest * (1 + 1e-9)).all()


def _summaries(windows: Floats) -> Floats:
    """Mean, standard deviation and spectral distance to a typical window, for each window."""
    # Shapes: windows (W, rows)
    centred = windows - windows.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred * np.hanning(windows.shape[1]))) ** 2
    power /= power.sum(axis=1, keepdims=True)
    distance = np.abs(power - power[1:].mean(axis=0)).sum(axis=1)
    return np.column_stack([windows.mean(axis=1), windows.std(axis=1), distance])


@pytest.mark.parametrize("kind", SHAPES)
@some_seeds
def test_another_shape_has_level_variance_and_spectrum_of_normal_windows(
    kind: str, seed: int
) -> None:
    series = drawn(kind, seed)
    for event in series.events:
        for channel in event.channels:
            length = event.stop - event.start
            normal = np.lib.stride_tricks.sliding_window_view(series.train[:, channel], length)
            window = series.test[event.start : event.stop, channel]
            summaries = _summaries(np.vstack([window, normal]))
            low, high = summaries[1:].min(axis=0), summaries[1:].max(axis=0)
            # mean and deviation in standard deviations; two spectra can be 2 apart
            deviation = series.train[:, channel].std()
            tolerance = np.array([0.15 * deviation, 0.15 * deviation, 0.25])
            assert (summaries[0] >= low - tolerance).all()
            assert (summaries[0] <= high + tolerance).all()


def test_the_signs_of_an_unseen_combination_multiply_to_one_except_in_an_anomaly() -> None:
    series = drawn("unseen combination", 0)
    middle = (series.train.max(axis=0) + series.train.min(axis=0))[:3] / 2
    product = np.sign(series.test[:, :3] - middle).prod(axis=1)
    np.testing.assert_array_equal(product == -1, series.labels == 1)
    correlation = np.corrcoef(series.train[:, :3].T)
    assert np.abs(correlation[~np.eye(3, dtype=bool)]).max() < 0.25


def test_a_ring_is_left_for_its_middle_only_in_an_anomaly() -> None:
    series = drawn("off the ring", 0)
    low, high = series.train[:, :2].min(axis=0), series.train[:, :2].max(axis=0)
    radius = np.hypot(*(2 * (series.test[:, :2] - low) / (high - low) - 1).T)
    assert radius[series.labels == 0].min() > 0.6
    for event in series.events:
        assert radius[event.start : event.stop].min() < 0.3


def test_a_reversed_beat_has_the_values_of_the_beat_in_reverse_order() -> None:
    series = drawn("reversed beat", 0)
    for event in series.events:
        rows = slice(event.start, event.stop)
        np.testing.assert_array_equal(series.test[rows, 0], series.base[rows, 0][::-1])


def test_another_wave_keeps_the_power_of_its_two_harmonics() -> None:
    series = drawn("other wave", 0)
    for event in series.events:
        test, base = (rows[event.start : event.stop, 0] for rows in (series.test, series.base))
        assert test.std() == pytest.approx(base.std(), rel=0.15)


@every_kind
def test_same_seed_same_series(kind: str) -> None:
    first, second = drawn(kind, 0), case(kind, 0)
    np.testing.assert_array_equal(first.train, second.train)
    np.testing.assert_array_equal(first.test, second.test)
    assert first.events == second.events
    assert not np.array_equal(first.train, drawn(kind, 1).train)


@every_kind
def test_a_longer_series_has_more_events(kind: str) -> None:
    series = case(kind, 0, n=20_000)
    assert series.train.shape[0] == series.test.shape[0] == 20_000
    assert 12 <= len(series.events) <= 32
    assert 0.01 <= series.labels.mean() <= 0.04


def test_the_kinds_differ_in_their_number_of_channels() -> None:
    channels = {drawn(kind, 0).train.shape[1] for kind in [*DEVELOPMENT, *KEPT_BACK]}
    assert min(channels) == 1
    assert max(channels) == 12


def test_no_kind_is_both_for_development_and_kept_back() -> None:
    assert not DEVELOPMENT.keys() & KEPT_BACK.keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "spike"}, r"kind must be one of 'unseen combination', .*'; got 'spike'"),
        ({"kind": "other wave", "seed": -1}, r"seed must be .* at least 0; got -1"),
        (
            {"kind": "other wave", "n": 4_999},
            r"n must be .* at least 5000 \(three events in 4 % of the rows\); got 4999",
        ),
    ],
)
def test_bad_arguments_are_named_with_the_rule_and_what_came(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        case(**options)  # type: ignore[arg-type]
