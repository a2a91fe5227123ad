"""Columns of labels in words and in numbers."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from subadjacent.data.files.cells import is_signed, read_labels


@pytest.mark.parametrize(
    "cells",
    [
        ["0", "1", "0"], ["no", "YES", "No"], ["normal", "Anomaly", "NORMAL"], [0, 1, 0],
        ["Normal", "A ttack", "normal"], ["False", "true", "false"], [False, True, False],
        [0.0, 1.0, 0.0], ["inlier", "outlier", "nominal"], ["benign", "abnormal", "0.0"],
    ],
)  # fmt: skip
def test_words_and_numbers_are_labels(cells: list[Any]) -> None:
    column = pl.Series(cells)
    assert is_signed(column) is False
    assert read_labels(column, signed=False).to_list() == [0, 1, 0]
    assert read_labels(column, signed=False).dtype == pl.Int8


def test_minus_one_is_anomalous_beside_one() -> None:
    for cells in (["1", "-1"], [1, -1], ["1.0", "\u22121.0"]):
        assert is_signed(pl.Series(cells)) is True
        assert read_labels(pl.Series(cells), signed=True).to_list() == [0, 1]
    # among signs nothing says what nought would be
    assert read_labels(pl.Series(["0", "normal", "attack"]), signed=True).to_list() == [None, 0, 1]


def test_ones_alone_do_not_tell() -> None:
    for cells in (["1", "", None, "1.0"], [1, 1], [None, None], [""]):
        assert is_signed(pl.Series(cells, dtype=None)) is None


def test_what_is_no_label_is_null() -> None:
    assert read_labels(pl.Series(["", "2", "x", None, "-1"]), signed=False).null_count() == 5
