"""The band: which points are sub-adjacent to which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from oracle import in_band
from subadjacent.core.band import Band
from subadjacent.errors import InputError


def members(band: Band, n: int, target: int) -> list[int]:
    """The points in the band of ``target``, in order."""
    return torch.nonzero(band.mask(n)[:, target]).flatten().tolist()


def test_the_band_of_a_point_goes_around_the_ring() -> None:
    # around a ring of eight, two and three steps from point 0 lead to 2, 3 and to 6, 5
    assert members(Band(2, 3), 8, target=0) == [2, 3, 5, 6]


def test_the_band_of_a_point_stops_at_the_ends_of_a_line() -> None:
    assert members(Band(2, 3, circular=False), 8, target=0) == [2, 3]
    assert members(Band(2, 3, circular=False), 8, target=4) == [1, 2, 6, 7]


def test_the_paper_s_band_is_the_default() -> None:
    assert Band() == Band(near=20, far=30, circular=True)


@pytest.mark.parametrize(
    "band", [Band(0, 0), Band(0, 1), Band(1, 3), Band(2, 99), Band(1, 3, circular=False)]
)
def test_the_mask_is_the_definition(band: Band) -> None:
    for n in (1, 2, 3, 8, 13):
        expected = [[in_band(i, j, n, band) for i in range(n)] for j in range(n)]
        assert band.mask(n).tolist() == expected


@pytest.mark.parametrize(
    ("band", "shortest"),
    [
        (Band(0, 0), 1),
        (Band(1, 1), 2),
        (Band(20, 30), 40),
        (Band(20, 30, circular=False), 21),
        (Band(0, 0, circular=False), 1),
    ],
)
def test_the_shortest_window_that_holds_a_point_is_accepted(band: Band, shortest: int) -> None:
    band.check(shortest)
    assert band.mask(shortest).any()


@pytest.mark.parametrize(
    ("band", "n", "longest"),
    [
        (Band(1, 1), 1, 0),
        (Band(20, 30), 39, 19),
        (Band(20, 30, circular=False), 20, 19),
        (Band(1, 2, circular=False), 1, 0),
    ],
)
def test_a_band_without_a_point_is_refused_with_the_facts(band: Band, n: int, longest: int) -> None:
    message = (
        f"band must hold a point: in a window of {n} the largest distance is {longest}; "
        f"got near={band.near}, far={band.far}"
    )
    with pytest.raises(InputError) as refused:
        band.check(n)
    assert str(refused.value) == message


def test_near_beyond_far_is_refused() -> None:
    with pytest.raises(InputError, match=r"near <= far; got near=5, far=4"):
        Band(5, 4)


@pytest.mark.parametrize("name", ["near", "far"])
def test_an_end_that_is_no_whole_number_is_refused_by_name(name: str) -> None:
    for value in (-1, 1.5, 2.0, True, "2", None, float("nan")):
        with pytest.raises(InputError, match=f"{name} must be a whole number of at least 0; got "):
            Band(**{"near": 0, "far": 9, name: value})


def test_numpy_s_whole_numbers_are_accepted() -> None:
    assert Band(np.int64(2), np.int32(3)) == Band(2, 3)


def test_the_mask_is_made_on_the_device_requested() -> None:
    assert Band(1, 2).mask(5, torch.device("meta")).device.type == "meta"


@pytest.mark.parametrize("circular", [1, None, [], "yes"])
def test_a_band_is_circular_or_it_is_not(circular: Any) -> None:
    with pytest.raises(InputError, match="circular must be true or false; got"):
        Band(1, 2, circular)
