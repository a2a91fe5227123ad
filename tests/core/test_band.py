"""The band: which points are sub-adjacent to which."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from oracle import in_band
from subadjacent.core.band import Band
from subadjacent.errors import InputError


def members(band: Band, n: int, target: int) -> list[int]:
    """The points in the band of ``target``, in order."""
    return torch.nonzero(band.mask(n)[:, target]).flatten().tolist()


def test_the_band_of_a_point_goes_around_the_ring_or_stops_at_the_ends_of_a_line() -> None:
    # around a ring of eight, two and three steps from point 0 lead to 2, 3 and to 6, 5
    assert members(Band(2, 3), 8, target=0) == [2, 3, 5, 6]
    assert members(Band(2, 3, circular=False), 8, target=0) == [2, 3]
    assert members(Band(2, 3, circular=False), 8, target=4) == [1, 2, 6, 7]


def test_the_mask_is_the_definition() -> None:
    for band in (Band(0, 0), Band(0, 1), Band(1, 3), Band(2, 99), Band(1, 3, circular=False)):
        for n in (1, 2, 3, 8, 13):
            expected = [[in_band(i, j, n, band) for i in range(n)] for j in range(n)]
            assert band.mask(n).tolist() == expected
    assert Band(1, 2).mask(5, torch.device("meta")).device.type == "meta"


def test_the_shortest_window_that_holds_a_point_is_accepted() -> None:
    for band, shortest in (
        (Band(0, 0), 1),
        (Band(1, 1), 2),
        (Band(20, 30), 40),
        (Band(20, 30, circular=False), 21),
        (Band(0, 0, circular=False), 1),
    ):
        band.check(shortest)
        assert band.mask(shortest).any()


def test_a_band_without_a_point_is_refused_with_the_facts() -> None:
    for band, n, longest in (
        (Band(1, 1), 1, 0),
        (Band(20, 30), 39, 19),
        (Band(20, 30, circular=False), 20, 19),
        (Band(1, 2, circular=False), 1, 0),
    ):
        with pytest.raises(InputError) as refused:
            band.check(n)
        assert str(refused.value) == (
            f"band must hold a point: in a window of {n} the largest distance is {longest}; "
            f"got near={band.near}, far={band.far}"
        )


def test_ends_are_whole_numbers_in_order_and_the_paper_s_are_the_default() -> None:
    assert Band() == Band(near=20, far=30, circular=True)
    assert Band(np.int64(2), np.int32(3)) == Band(2, 3)
    with pytest.raises(InputError, match=r"near <= far; got near=5, far=4"):
        Band(5, 4)
    for name in ("near", "far"):
        rule = f"{name} must be a whole number of at least 0; got "
        for value in (-1, 1.5, 2.0, True, "2", None, float("nan")):
            with pytest.raises(InputError, match=rule):
                Band(**{"near": 0, "far": 9, name: value})
    for circular in (1, None, [], "yes"):
        with pytest.raises(InputError, match="circular must be true or false; got"):
            Band(1, 2, circular)
