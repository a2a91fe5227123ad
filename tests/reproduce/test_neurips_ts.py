"""What the NeurIPS-TS generator promises; `test_sources` holds its series to a fingerprint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reproduce.benchmarks.neurips_ts import neurips_ts
from subadjacent.data.plant import KIND_CODES, KINDS
from subadjacent.errors import InputError


def test_a_kind_alone_marks_only_its_own_code() -> None:
    for name in KINDS:
        made = neurips_ts(2_000, seed=3, kinds=(name,))
        assert set(made.kind.tolist()) == {0, KIND_CODES[name]}
        # 5 % before overlaps; patterns at a border are cut off
        assert 0.03 < made.labels.mean() <= 0.05


def test_no_kinds_or_no_ratio_gives_the_clean_series_and_their_order_does_not_matter() -> None:
    for options in ({"kinds": ()}, {"ratio": 0}):
        made = neurips_ts(500, seed=7, **options)
        np.testing.assert_array_equal(made.values, made.base)
        assert made.labels.sum() == 0
    named, reversed_ = neurips_ts(500, seed=7), neurips_ts(500, seed=7, kinds=KINDS[::-1])
    np.testing.assert_array_equal(named.values, reversed_.values)


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
