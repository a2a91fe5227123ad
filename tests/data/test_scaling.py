"""Scaling: by hand, against two passes in extended precision, on channels that hardly move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.data import scaling as module
from subadjacent.data.scaling import CHUNK, Scaler, bulk, chunks, constant, fit_scalers
from subadjacent.data.series import TrainSeries
from subadjacent.errors import InputError


def fitted(values: np.ndarray, clip: float = 10.0) -> Scaler:
    return fit_scalers([TrainSeries(values)], clip).pooled


def two_passes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean, then the root of the mean squared distance from it, with all digits there are."""
    exact = values.astype(np.longdouble)
    mean = exact.mean(axis=0)
    deviation = np.sqrt(((exact - mean) ** 2).mean(axis=0))
    return mean.astype(float), deviation.astype(float)


def noise(n: int, channels: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, channels))


def test_chunks_give_what_two_passes_give() -> None:
    for n in [1, 2, 3, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5]:
        # a drift, so that the chunks have different means
        values = noise(n) * [1, 100] + np.linspace(0, 5, n)[:, None]
        mean, deviation = two_passes(values)
        scaler = fitted(values)
        np.testing.assert_allclose(scaler.center, mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(scaler.deviation, deviation if n > 1 else 1.0, rtol=1e-12)


def test_an_offset_does_not_cost_the_deviation_its_digits() -> None:
    for offset in [1e9, -1e9, 1e12]:
        values = offset + noise(2 * CHUNK + 5, 1) * 1e-5 * abs(offset)
        mean, deviation = two_passes(values)
        scaler = fitted(values)
        np.testing.assert_allclose(scaler.center, mean, rtol=1e-15)
        np.testing.assert_allclose(scaler.deviation, deviation, rtol=1e-9)


def test_narrow_types_are_summed_in_float64() -> None:
    for dtype in [np.float16, np.float32, np.int8, np.uint64, bool]:
        values = (noise(5000) * 40).clip(0, 120).astype(dtype)
        mean, deviation = two_passes(values)
        scaler = fitted(values)
        np.testing.assert_allclose(scaler.center, mean, rtol=1e-12)
        np.testing.assert_allclose(scaler.deviation, deviation, rtol=1e-12)
        assert scaler.apply(values).dtype == np.float32


def test_a_constant_channel_keeps_its_unit() -> None:
    for value in [0.0, 0.1, -3.7, 1e6, -1e-300]:
        values = np.full((1001, 1), value)
        scaler = fitted(values)
        assert scaler.deviation.tolist() == [1]
        np.testing.assert_allclose(scaler.center, value, rtol=1e-14)
        np.testing.assert_allclose(scaler.apply(values[:1] + 0.5), [[0.5]], atol=1e-9)


def test_ten_roundings_are_no_move_and_eleven_are() -> None:
    one = float(np.finfo(np.float64).eps)
    for type_ in (np.float64, np.float32):
        rounding = float(np.finfo(type_).eps)
        low, dtypes = np.array([1.0, -1.0]), [np.dtype(np.int8), np.dtype(type_)]
        # of the largest value: 1 or so, and 2
        assert constant(low, low + 10 * rounding * (1 - one), dtypes).tolist() == [True, True]
        assert constant(low, low + 11 * rounding, dtypes).tolist() == [False, False]
    # whole numbers are not rounded
    assert not constant(np.array([10**9]), np.array([10**9 + 1]), [np.dtype(np.int64)])[0]


def test_variation_too_small_for_a_square_counts_as_none() -> None:
    values = np.tile([1e-200, 3e-200], 50)[:, None]
    assert fitted(values).deviation.tolist() == [1]


def test_an_offset_is_taken_off_before_values_are_rounded() -> None:
    for dtype in [np.float32, np.float64]:
        # steps of a quarter on four million: all that float32 has there
        steps = np.random.default_rng(3).integers(-200, 200, size=(3000, 1)) / 4
        scaler = fitted((4e6 + steps).astype(dtype))
        wanted = (steps - steps.mean()) / steps.std()
        np.testing.assert_allclose(scaler.apply((4e6 + steps).astype(dtype)), wanted, atol=1e-6)


# ---- bad values


def test_values_far_beyond_the_bulk_count_as_being_at_its_bounds_by_hand() -> None:
    # half of the rows 0 and half 1: nothing may lie more than 1 beyond
    values = np.tile([0.0, 1.0], 50)[:, None]
    values[7] = 1e9
    kept = values.clip(-1, 2)
    scaler = fitted(values)
    np.testing.assert_allclose(scaler.center, kept.mean(axis=0))
    np.testing.assert_allclose(scaler.deviation, kept.std(axis=0))


def test_what_channels_do_by_themselves_is_measured_whole() -> None:
    for kind in ["noise", "cycle", "waiting times", "pulses"]:
        rng, time = np.random.default_rng(4), np.arange(5000)
        values = {
            "noise": rng.normal(size=5000),
            "cycle": np.sin(time / 9),
            "waiting times": rng.exponential(size=5000).clip(0, 7),
            "pulses": np.where(time % 400 == 3, 70.0, 0),
        }[kind][:, None]
        mean, deviation = two_passes(values)
        np.testing.assert_allclose(fitted(values).center, mean, atol=1e-12)
        np.testing.assert_allclose(fitted(values).deviation, deviation)


def test_a_hundredth_of_bad_values_moves_a_scale_by_a_tenth_at_most() -> None:
    for bad in [9999.0, -1e6, 15.0]:
        values = np.sin(np.arange(4000) / 9)[:, None] + 0.1 * noise(4000, 1)
        before = fitted(values)
        values[np.random.default_rng(5).choice(4000, 40, replace=False)] = bad
        after = fitted(values)
        assert after.deviation == pytest.approx(before.deviation, rel=0.1)
        assert after.center == pytest.approx(before.center, abs=0.1 * before.deviation.item())


def test_values_far_outside_are_cut() -> None:
    scaler = Scaler(np.array([1.0]), np.array([2.0]), clip=3.0)
    assert scaler.apply(np.array([[1e100], [7.0], [7.1], [-1e9]])).tolist() == [[3], [3], [3], [-3]]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(-9.9, 9.9))
def test_within_the_clip_nothing_is_lost(center: float, deviation: float, z: float) -> None:
    scaler = Scaler(np.array([center]), np.array([deviation]))
    values = np.array([[center + z * deviation]])
    back = scaler.invert(scaler.apply(values))
    assert back.dtype == np.float64
    # float32 has seven digits of z
    np.testing.assert_allclose(back, values, atol=1e-6 * deviation * max(abs(z), 1), rtol=1e-9)


def test_scaled_values_go_where_they_are_told() -> None:
    values = noise(10)
    scaler = fitted(values)
    out = np.zeros((12, 2), dtype=np.float32)
    found = scaler.apply(values, out=out[1:11])
    assert np.shares_memory(found, out)
    np.testing.assert_array_equal(out[1:11], scaler.apply(values))
    assert not out[[0, 11]].any()


def test_each_entity_has_a_scaler_and_unseen_entities_share_one() -> None:
    low, high = np.array([[0.0], [2.0]]), np.array([[10.0], [10.0], [14.0], [14.0]])
    scalers = fit_scalers([TrainSeries(low, entity="low"), TrainSeries(high, entity="high")])
    assert scalers.of("low").center.tolist() == [1]
    assert scalers.of("low").deviation.tolist() == [1]
    assert scalers.of("high").center.tolist() == [12]
    assert scalers.of("high").deviation.tolist() == [2]
    mean, deviation = two_passes(np.concatenate([low, high]))
    for stranger in ("other", None):
        np.testing.assert_allclose(scalers.of(stranger).center, mean)
        np.testing.assert_allclose(scalers.of(stranger).deviation, deviation)


def test_the_clip_reaches_every_scaler() -> None:
    scalers = fit_scalers([TrainSeries(noise(9), entity="a")], clip=2.5)
    assert scalers.pooled.clip == scalers.of("a").clip == 2.5


def test_chunks_cover_every_row_once() -> None:
    for n, size in [(0, 4), (1, 4), (4, 4), (5, 4), (11, 4), (3, 1)]:
        parts = list(chunks(n, size))
        assert [row for part in parts for row in range(n)[part]] == list(range(n))
        assert all(part.stop - part.start <= size for part in parts)


ONE = np.array([1.0, 2.0])


def test_a_scaler_without_a_scale_is_refused() -> None:
    cases: list[Any] = [
        (ONE, ONE[:1], 10.0, r"deviation must have one value a channel; got \(1,\)"),
        (ONE[:, None], ONE, 10.0, r"center must have one value a channel; got \(2, 1\)"),
        (ONE, np.array([1.0, 0.0]), 10.0, "deviation must be above 0"),
        (ONE, np.array([1.0, -1.0]), 10.0, "deviation must be above 0"),
        (ONE, np.array([1.0, np.inf]), 10.0, "deviation must be finite"),
        (np.array([np.nan, 1.0]), ONE, 10.0, "center must be finite"),
        (ONE, ONE, 0.0, "clip must be above 0; got 0"),
        (ONE, ONE, np.nan, "clip must be above 0; got nan"),
    ]
    for center, deviation, clip, message in cases:
        with pytest.raises(InputError, match=message):
            Scaler(center, deviation, clip)


def test_a_fiftieth_of_the_rows_lies_outside_on_either_side_by_hand() -> None:
    # 101 values: two lie below 2, two above 98
    values = np.arange(101.0)[:, None]
    found = bulk([values])
    assert found.low.tolist() == [2]
    assert found.high.tolist() == [98]
    wider = found.wider_by(0.5)
    assert wider.low.tolist() == [2 - 48]
    assert wider.high.tolist() == [98 + 48]


def test_a_bulk_of_one_value_has_no_bounds() -> None:
    flag = np.zeros((1000, 2))
    flag[::100, 0] = 1
    flag[:, 1] = np.arange(1000)
    wider = bulk([flag]).wider_by(1.0)
    assert (wider.low[0], wider.high[0]) == (-np.inf, np.inf)
    assert np.isfinite([wider.low[1], wider.high[1]]).all()


@pytest.mark.parametrize("at_a_time", [1, 250, 600, 10**6])
@pytest.mark.parametrize("dtype", [bool, np.int16, np.float32])
def test_rows_of_all_tables_count_however_many_are_sorted_at_once(
    at_a_time: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SORTED_VALUES", at_a_time)
    rng = np.random.default_rng(0)
    parts = [(40 * rng.normal(size=(rows, 5))).astype(dtype) for rows in (200, 1, 49)]
    found = bulk(parts)
    together = np.concatenate(parts).astype(np.float64)
    np.testing.assert_allclose(found.low, np.quantile(together, 0.02, axis=0))
    np.testing.assert_allclose(found.high, np.quantile(together, 0.98, axis=0))
