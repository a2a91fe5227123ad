"""The NeurIPS-TS generator against the fingers of one hand, and against the stored series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reproduce.benchmarks.neurips_ts import neurips_ts, rows_around
from subadjacent.data.plant import KIND_CODES, KINDS
from subadjacent.errors import InputError

STORED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "nips_ts.npz"


@pytest.fixture(scope="module")
def stored() -> dict[str, NDArray[Any]]:
    if not STORED.exists():
        pytest.skip(f"the stored NeurIPS-TS series is not at {STORED}")
    with np.load(STORED) as arrays:
        return dict(arrays)


def test_a_pattern_of_radius_five_is_cut_off_at_the_borders_of_twenty_rows() -> None:
    cases: list[Any] = [
        (10, slice(5, 15)),
        (0, slice(0, 5)),
        (3, slice(0, 8)),
        (15, slice(10, 20)),
        (16, slice(11, 20)),
        (19, slice(14, 20)),
    ]
    for center, rows in cases:
        assert rows_around(center, 5, 20) == rows


def test_one_trend_is_a_ramp_and_leaves_the_level_where_it_ended() -> None:
    # 20 rows, a fifth of them covered by patterns of 4: round(20 * 0.2 / 4) = 1 trend
    made = neurips_ts(20, seed=0, kinds=["trend"], ratio=0.2, radius=2)
    start = int(np.flatnonzero(made.kind)[0])
    assert made.kind.tolist() == [0] * start + [3] * 4 + [0] * (16 - start)
    added = (made.values - made.base)[:, 0]
    added = added * np.sign(added[-1])  # up or down is a matter of the seed
    expected = [0] * start + [0, 0.5, 1, 1.5] + [1.5] * (16 - start)
    np.testing.assert_allclose(added, expected, atol=1e-12)


def test_one_global_point_stands_at_or_beyond_everything_else() -> None:
    made = neurips_ts(20, seed=0, kinds=["global"], ratio=0.05)
    (row,) = np.flatnonzero(made.kind)
    point, others = made.values[row, 0], made.base[:, 0]
    assert point >= others.max() or point <= others.min()


def test_the_default_series_has_the_papers_anomaly_rate() -> None:
    made = neurips_ts()
    assert made.labels.sum() == 4_488
    assert made.values.shape == made.base.shape == (20_000, 1)
    assert made.labels.shape == made.kind.shape == (20_000,)
    assert made.values.dtype == made.base.dtype == np.float64
    assert made.labels.dtype == made.kind.dtype == np.uint8


# rtol because the stored values are float32 and wander to -56, where half a step is 2e-6


@pytest.mark.shared
def test_seed_100_is_the_stored_test_series(stored: dict[str, NDArray[Any]]) -> None:
    made = neurips_ts(n=20_000, seed=100)
    np.testing.assert_allclose(made.values, stored["test"], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(made.labels, stored["labels"])
    np.testing.assert_array_equal(made.kind, stored["kind"])


@pytest.mark.shared
def test_seed_101_is_the_stored_training_series(stored: dict[str, NDArray[Any]]) -> None:
    made = neurips_ts(n=20_000, seed=101)
    np.testing.assert_allclose(made.base, stored["train"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(made.values, stored["train_contaminated"], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(made.labels, stored["train_contaminated_labels"])


@pytest.mark.shared
def test_kind_codes_are_those_of_the_stored_names(stored: dict[str, NDArray[Any]]) -> None:
    assert stored["kind_names"].tolist()[1:] == list(KINDS)


def test_a_kind_alone_marks_only_its_own_code() -> None:
    for name in KINDS:
        made = neurips_ts(2_000, seed=3, kinds=(name,))
        assert set(made.kind.tolist()) == {0, KIND_CODES[name]}
        # 5 % before overlaps; patterns at a border are cut off
        assert 0.03 < made.labels.mean() <= 0.05


def test_a_kind_that_leaves_no_shift_changes_exactly_the_labelled_rows() -> None:
    for name in [name for name in KINDS if name != "trend"]:
        made = neurips_ts(2_000, seed=3, kinds=(name,))
        changed = (made.values != made.base)[:, 0]
        np.testing.assert_array_equal(changed, made.labels == 1)


def test_same_seed_same_series() -> None:
    first, second = neurips_ts(500, seed=7), neurips_ts(500, seed=7)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.kind, second.kind)
    assert not np.array_equal(first.base, neurips_ts(500, seed=8).base)


def test_the_order_in_which_kinds_are_named_does_not_matter() -> None:
    named, reversed_ = neurips_ts(500, seed=7), neurips_ts(500, seed=7, kinds=KINDS[::-1])
    np.testing.assert_array_equal(named.values, reversed_.values)


def test_no_kinds_or_no_ratio_gives_the_clean_series() -> None:
    for options in [{"kinds": ()}, {"ratio": 0}]:
        made = neurips_ts(500, seed=7, **options)
        np.testing.assert_array_equal(made.values, made.base)
        assert made.labels.sum() == 0


def test_the_smallest_series_can_be_all_anomalies() -> None:
    for n, radius in [(2, 1), (3, 1), (10, 5), (11, 5)]:
        made = neurips_ts(n, seed=1, ratio=1, radius=radius)
        assert np.isfinite(made.values).all()


def test_bad_arguments_are_named_with_the_rule_and_what_came() -> None:
    cases: list[Any] = [
        ({"n": 9}, r"n must be .* at least 10 \(one whole pattern of radius 5\); got 9"),
        ({"n": 100.0}, r"n must be a whole number.*got 100\.0"),
        ({"radius": 0}, r"radius must be .* at least 1; got 0"),
        ({"seed": -1}, r"seed must be .* at least 0; got -1"),
        ({"seed": 2**32}, r"seed must be less than 2\*\*32; got 4294967296"),
        ({"ratio": -0.1}, r"ratio must be between 0 and 1; got -0\.1"),
        ({"ratio": 1.1}, r"ratio must be between 0 and 1; got 1\.1"),
        ({"ratio": float("nan")}, r"ratio must be between 0 and 1; got nan"),
        ({"kinds": ("trend", "spike")}, r"kinds must be .*'shapelet'.*'contextual'.*got \['spike'"),
        ({"kinds": "trend"}, r"kinds must be a sequence of names.*got 'trend'"),
    ]
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            neurips_ts(**options)
