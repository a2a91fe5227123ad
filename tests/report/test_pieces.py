"""Pieces of a long series: what is kept, and that it comes back as it was."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from subadjacent.errors import InputError
from subadjacent.report.pieces import (
    COARSE_VALUES,
    HIGHEST,
    MAX_WINDOW_VALUES,
    SHORT_SERIES,
    LinePiece,
    min_max,
    pack,
    plan,
    step_for,
)

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=200)


def unpack(text: str, pieces: list[LinePiece]) -> list[NDArray[np.float64]]:
    """What the page's script does, read aloud."""
    code, raw, found = text[0], base64.b64decode(text[1:]), []
    if code == "c":
        return [np.full(piece.size, *np.frombuffer(raw, "<f8")) for piece in pieces]
    for piece in pieces:
        header, width = (8, 4) if code == "f" else (16, 2)
        values = raw[header : header + width * piece.size]
        if code == "f":
            found.append(np.frombuffer(raw[:8], "<f8") + np.frombuffer(values, "<f4"))
        else:
            low, high = np.frombuffer(raw[:16], "<f8")
            found.append(low + (high - low) * np.frombuffer(values, "<u2") / HIGHEST)
        raw = raw[header + len(values) :]
    assert not raw
    return found


def test_a_short_series_is_kept_whole_and_a_longer_one_has_a_coarse_level_as_well() -> None:
    for rows in (900, SHORT_SERIES):
        assert plan(rows, numbers=SHORT_SERIES) == [LinePiece(0, rows, 1)]
    coarse, *_, whole = plan(rows=50_000, numbers=60_000)
    assert coarse.size <= COARSE_VALUES
    assert whole == LinePiece(0, 50_000, 1)
    # even with no numbers to spare
    (piece,) = plan(rows=500_000, numbers=1)
    assert (piece.last, piece.size <= COARSE_VALUES) == (500_000, True)


def test_a_long_series_has_levels_and_windows_within_its_numbers() -> None:
    windows = [(100_000, 100_300), (7, 307), (400_000, 400_300)]
    pieces = plan(rows=500_000, numbers=40_000, windows=windows)
    levels = [piece for piece in pieces if piece[:2] == (0, 500_000)]
    assert [piece.step for piece in levels] == sorted({piece.step for piece in levels})[::-1]
    assert pieces[len(levels) :] == [LinePiece(*one, 1) for one in windows]
    assert sum(piece.size for piece in pieces) <= 40_000
    # what no longer fits is left out, the last first
    pieces = plan(rows=500_000, numbers=COARSE_VALUES + 700, windows=[(0, 600), (600, 1_200)])
    assert pieces[1:] == [LinePiece(0, 600, 1)]
    # a very long alarm is not kept row by row
    window = plan(rows=500_000, numbers=60_000, windows=[(0, 100_000)])[-1]
    assert (window.step > 1, window.size <= MAX_WINDOW_VALUES) == (True, True)


def test_values_come_back_to_within_their_sixteen_bits() -> None:
    values = np.random.default_rng(0).normal(size=5_000)
    pieces = [LinePiece(0, 5_000, 10), LinePiece(1_000, 1_400, 1)]
    coarse, fine = unpack(pack(values, pieces), pieces)
    assert len(coarse) == 1_000
    assert coarse.max() == pytest.approx(values.max())
    assert coarse.min() == pytest.approx(values.min())
    np.testing.assert_allclose(fine, values[1_000:1_400], atol=np.ptp(values) / HIGHEST)
    # a huge peak elsewhere does not blur a piece
    values[4_000] = 1e9
    _, fine = unpack(pack(values, pieces), pieces)
    np.testing.assert_allclose(fine, values[1_000:1_400], atol=1e-3)


def test_exact_values_have_seven_digits_of_their_distance_from_the_median() -> None:
    values = 1e9 + np.random.default_rng(0).normal(size=1_000)
    values[500] = 4e12
    pieces = [LinePiece(0, 1_000, 10), LinePiece(0, 1_000, 1)]
    packed = pack(values, pieces, exact=True)
    assert packed.startswith("f")
    _, fine = unpack(packed, pieces)
    np.testing.assert_allclose(fine - 1e9, values - 1e9, rtol=2e-7, atol=1e-6)
    # numbers beyond those of float32 are kept with fewer digits, not lost
    huge = pack(np.array([0.0, 1e300]), [LinePiece(0, 2, 1)], exact=True)
    assert unpack(huge, [LinePiece(0, 2, 1)])[0].tolist() == [0, 1e300]


def test_a_constant_line_comes_back_exactly_and_takes_no_room() -> None:
    pieces = [LinePiece(0, 1_000, 10), LinePiece(0, 10, 1)]
    for value in (0.0, 3.5, -1e100, np.nan):
        packed = pack(np.full(1_000, value), pieces)
        assert len(packed) == 13
        coarse, fine = unpack(packed, pieces)
        np.testing.assert_array_equal(coarse, np.full(200, value))
        np.testing.assert_array_equal(fine, np.full(10, value))


def test_each_bin_keeps_its_lowest_and_its_highest_in_the_order_they_came() -> None:
    assert min_max(np.array([1, 9, 5, 7, 2, 3]), step=3).tolist() == [1, 9, 7, 2]
    # the last bin may be short
    assert min_max(np.array([1, 2, 3, 4, 5, 0, 8]), step=3).tolist() == [1, 3, 5, 0, 8, 8]
    assert min_max(np.array([3.0, 1.0, 2.0]), step=1).tolist() == [3.0, 1.0, 2.0]
    assert min_max(np.array([]), step=4).tolist() == []


@given(VALUES, st.integers(2, 50))
def test_every_bin_has_its_extremes_and_no_more(found: list[float], step: int) -> None:
    values = np.array(found)
    fewer = min_max(values, step)
    bins = [values[start : start + step] for start in range(0, len(values), step)]
    assert len(fewer) == 2 * len(bins)
    for pair, part in zip(fewer.reshape(-1, 2), bins, strict=True):
        assert sorted(pair) == [part.min(), part.max()]
        assert np.argmax(part == pair[0]) <= len(part) - 1 - np.argmax(part[::-1] == pair[1])
    assert np.isfinite(fewer).all()


@given(VALUES, st.integers(1, 300))
def test_asking_for_more_bins_than_rows_keeps_every_row(found: list[float], more: int) -> None:
    values = np.array(found)
    assert min_max(values, step_for(len(values), len(values) + more)).tolist() == found


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="step must be a whole number of at least 1"):
        min_max(np.zeros(3), step=0)
    with pytest.raises(InputError, match=r"values must be 1-d, one a row; got shape \(2, 2\)"):
        min_max(np.zeros((2, 2)), step=2)
    with pytest.raises(InputError, match="bins must be a whole number of at least 1"):
        step_for(3, 0)
