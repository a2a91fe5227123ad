"""The made-up plant: what it says it changed is what it changed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from subadjacent.data.plant import KIND_CODES, KINDS, Event, Plant, multivariate
from subadjacent.errors import InputError


@pytest.fixture(scope="module")
def plant() -> Plant:
    return multivariate(n=5_000, channels=6, seed=0)


def test_events_spell_out_kind_and_labels_row_by_row() -> None:
    rows = np.zeros((6, 2))
    events = (Event(1, 3, "trend", (0,)), Event(4, 5, "global", (0, 1)))
    plant = Plant(train=rows, test=rows, base=rows, events=events)
    assert plant.kind.tolist() == [0, 3, 3, 0, 4, 0]
    assert plant.labels.tolist() == [0, 1, 1, 0, 1, 0]


def test_the_tightest_plant_has_one_normal_row_before_between_and_after() -> None:
    # two points and three gaps: five rows hold them in one way only
    plant = multivariate(n=5, channels=1, seed=0, kinds=("global", "contextual"))
    assert plant.labels.tolist() == [0, 1, 0, 1, 0]


def test_an_event_changes_its_channels_on_every_row_and_nothing_else() -> None:
    for seed in range(5):
        plant = multivariate(n=2_000, channels=5, seed=seed)
        expected = np.zeros(plant.test.shape, bool)
        for event in plant.events:
            expected[event.start : event.stop, list(event.channels)] = True
        np.testing.assert_array_equal(plant.test != plant.base, expected)


def test_a_kind_alone_lasts_as_long_as_the_radius_says() -> None:
    for name in KINDS:
        plant = multivariate(n=1_000, channels=3, seed=2, kinds=(name,), radius=8)
        assert {event.kind for event in plant.events} == {name}
        assert set(plant.kind.tolist()) == {0, KIND_CODES[name]}
        least, most = (1, 1) if name in ("global", "contextual") else (8, 16)
        assert all(least <= event.stop - event.start <= most for event in plant.events)


def test_same_seed_same_plant_and_same_clean_rows_whatever_the_anomalies() -> None:
    first, second = (multivariate(n=300, channels=3, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.test, second.test)
    assert first.events == second.events
    assert not np.array_equal(first.train, multivariate(n=300, channels=3, seed=5).train)
    for options in [{}, {"kinds": ()}, {"ratio": 0}]:
        other = multivariate(n=300, channels=3, seed=4, **options)
        np.testing.assert_array_equal(first.train, other.train)
        np.testing.assert_array_equal(first.base, other.base)
        if options:
            assert other.events == ()
            np.testing.assert_array_equal(other.test, other.base)


def test_the_highest_ratio_fits_whatever_the_size() -> None:
    for radius in [1, 2, 5]:
        for kinds in [KINDS, ("global",), ("trend",), ("seasonal", "contextual")]:
            for n in range(40, 200, 7):
                plant = multivariate(n, 1, seed=n, kinds=kinds, ratio=0.25, radius=radius)
                assert all(before.stop < after.start for before, after in pairwise(plant.events))
                assert plant.events[-1].stop < n


def test_bad_arguments_are_named_with_the_rule_and_what_came() -> None:
    cases: list[Any] = [
        ({"n": 67}, r"n must be .* at least 68 \(one event of each kind, with gaps\); got 67"),
        ({"n": 0, "kinds": ()}, r"n must be .* at least 1 .*got 0"),
        ({"channels": 0}, r"channels must be .* at least 1; got 0"),
        ({"channels": 2.5}, r"channels must be a whole number.*got 2\.5"),
        ({"seed": -1}, r"seed must be .* at least 0; got -1"),
        ({"radius": 0}, r"radius must be .* at least 1; got 0"),
        ({"ratio": 0.3}, r"ratio must be between 0 and 0\.25; got 0\.3"),
        ({"ratio": float("nan")}, r"ratio must be between 0 and 0\.25; got nan"),
        ({"kinds": ("spike",)}, r"kinds must be .*'shapelet'.*'contextual'.*got \['spike'"),
        ({"kinds": "trend"}, r"kinds must be a sequence of names.*got 'trend'"),
    ]
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            multivariate(**options)
