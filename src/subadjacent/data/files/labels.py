"""A column of labels, whatever words it has for them → 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subadjacent.data.labels import ANOMALOUS, NORMAL, SIGN, as_word

if TYPE_CHECKING:
    import polars as pl

LABELS_SHOWN = "0 or 1, true or false, yes or no, normal or anomaly (or attack), or 1 or -1"


def read_labels(cells: pl.Series, *, signed: bool) -> pl.Series:
    """Labels as 8-bit integers, 1 for anomalous; null where a cell is none.

    Where labels are ``signed``, -1 is anomalous and 1 normal.
    """
    import polars as pl

    meaning = dict.fromkeys(NORMAL, 0) | dict.fromkeys(ANOMALOUS, 1)
    if signed:
        meaning |= {SIGN: 1, "1": 0}
        del meaning["0"]
    words = _words(cells)
    return words.replace_strict(meaning, default=None, return_dtype=pl.Int8)


def is_signed(cells: pl.Series) -> bool | None:
    """Whether -1 stands among labels; None where there are only ones, which tell nothing."""
    words = set(_words(cells).unique().to_list())
    if SIGN in words:
        return True
    return None if words <= {"1", "", None} else False


def _words(cells: pl.Series) -> pl.Series:
    """The distinct cells, as ``as_word`` writes them."""
    import polars as pl

    text = cells.cast(pl.String)
    words = {cell: as_word(cell) for cell in text.unique().to_list() if cell is not None}
    return text.replace_strict(words, default=None, return_dtype=pl.String)
