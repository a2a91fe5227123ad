"""The value of a cell of text: a number, a label, or a missing value.

A cell that a spreadsheet would run as a formula, such as an entity ``=cmd|…``, is written with an
apostrophe before it, as OWASP advises, and read without it: ``guard`` and ``unguard``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from subadjacent.data.names import ANOMALOUS, NORMAL, SIGN, as_word

if TYPE_CHECKING:
    import polars as pl

MISSING = (
    "", "na", "n/a", "nan", "-nan", "<na>", "null", "nil", "none", "missing", "?", "-", "--",
    "\\n", "#n/a", "#n/a n/a", "#na", "#null!", "#value!", "#div/0!", "#num!", "#ref!",
    "#name?", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
)  # fmt: skip
"""Words for a missing value, in lower case: those of people, of databases and of spreadsheets."""

MAX_QUOTED = 40
"""Characters of a cell that a message shows."""

# between thousands: a mark that is the same all through the number, before each three digits
_SPACES, _APOSTROPHES = " \u00a0\u202f", "'\u2019"
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?|[+-]?inf(inity)?")


class Marks(NamedTuple):
    """The marks within a file's numbers; between thousands may stand spaces or apostrophes, too."""

    decimal: str = "."
    thousands: str = ""


POINTS = Marks()
"""The marks of computers: points before decimals."""


def show(cell: Any) -> str:
    """A cell as messages quote it: on one line, and not too long."""
    text = str(cell)
    return repr(text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…")


def is_missing(cell: str) -> bool:
    """Whether a cell holds one of the words for missing."""
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, whatever its decimal mark is."""
    bare = _bare(cell)
    if _NUMBER.fullmatch(bare):
        return True
    return any(re.fullmatch(_grouped(comma, "[,.]"), bare) for comma in (",", "."))


def blank_missing(cells: pl.Series) -> pl.Series:
    """Text without surrounding spaces, and null where it is a word for missing."""
    import polars as pl

    bare = cells.cast(pl.String).str.strip_chars()
    return bare.set(bare.str.to_lowercase().is_in(MISSING), None)


def read_numbers(cells: pl.Series, marks: Marks = POINTS) -> tuple[pl.Series, int | None]:
    """Text as floats, and the first cell that is neither number nor missing.

    ``true`` and ``false`` are 1 and 0, and ``45 %`` is 45. A number too large for a float is none.
    """
    import polars as pl

    bare = cells.str.strip_chars()
    numbers = _plain(bare, marks)
    if (odd := numbers.is_null() & bare.is_not_null()).any():
        converted = _as_written(bare.filter(odd), marks)
        numbers = numbers.scatter(odd.arg_true(), converted)
    large = numbers.is_infinite().fill_null(False)
    if not large.any() and not numbers.null_count():
        return numbers, None
    words = bare.fill_null("").str.to_lowercase()
    large &= ~words.str.contains("inf", literal=True)
    bad = (numbers.is_null() & ~words.is_in(MISSING)) | large
    return numbers.set(large, None).cast(pl.Float64), bad.arg_max() if bad.any() else None


def find_marks(cells: list[str], separator: str) -> Marks:
    """The marks within the numbers of some cells.

    1,5 and 0,123 and 1.234,5 tell that they are decimal marks, as 1.234.567 does; 1.5, 1,234.5
    and 1,234,567 that points are.
    1,234 tells nothing: between cells that no comma separates it is taken for a decimal mark.
    """
    seen = {mark: _evidence_of_mark(cells, mark) for mark in (",", ".")}
    comma, point = seen[","], seen["."]
    if comma["sure"] and not point["sure"]:
        return Marks(",", ".")
    if comma["grouped"] and separator != "," and not (point["sure"] or point["grouped"]):
        return Marks(",", ".")
    return Marks(".", ",") if separator == "," or point["sure"] else POINTS


def _evidence_of_mark(cells: list[str], mark: str) -> dict[str, bool]:
    """Whether a mark is a decimal one in some cell; whether it may separate thousands."""
    other_mark = "." if mark == "," else ","
    plain = re.compile(rf"[+-]?\d*{re.escape(mark)}\d+(e[+-]?\d+)?")
    alone = re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+")
    with_thousands = re.compile(_grouped(other_mark, re.escape(mark)))
    other_thousands = re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(other_mark)}\d{{3}}){{2,}}")
    bare = list(map(_bare, cells))
    grouped = any(alone.fullmatch(cell) for cell in bare)
    sure = any(
        (plain.fullmatch(cell) and not alone.fullmatch(cell))
        or (mark in cell and with_thousands.fullmatch(cell))
        or other_thousands.fullmatch(cell)
        for cell in bare
    )
    return {"sure": sure, "grouped": grouped}


def _bare(cell: str) -> str:
    """A cell in lower case with an ASCII minus, without spaces or per cent sign."""
    return cell.strip().lower().replace("\u2212", "-").removesuffix("%").rstrip()


def _plain(bare: pl.Series, marks: Marks) -> pl.Series:
    """Numbers as computers write them, with one decimal mark and nothing else."""
    import polars as pl

    if marks.decimal == ".":
        return bare.cast(pl.Float64, strict=False)
    numbers = bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    # a point among decimal commas would stand between thousands
    return numbers.set(bare.str.contains(".", literal=True).fill_null(False), None)


def _as_written(bare: pl.Series, marks: Marks) -> pl.Series:
    """Numbers as people write them; null for everything else."""
    import polars as pl

    text = bare.str.to_lowercase().str.replace("\u2212", "-", literal=True)
    text = text.str.strip_suffix("%").str.strip_chars_end()
    grouped = text.str.contains(f"^{_grouped(marks.thousands, re.escape(marks.decimal))}$")
    between = f"[{_SPACES}{_APOSTROPHES}{marks.thousands}]"
    text = text.zip_with(~grouped, text.str.replace_all(between, ""))
    numbers = _plain(text, marks)
    for word, value in (("true", 1.0), ("false", 0.0)):
        numbers = numbers.set(text == word, value)
    return numbers.cast(pl.Float64)


def _grouped(mark: str, point: str) -> str:
    """Numbers with marks between their thousands: spaces, apostrophes, or ``mark`` if any."""
    kinds = [_SPACES, _APOSTROPHES, *([mark] if mark else [])]
    groups = "|".join(rf"(?:[{kind}]\d{{3}})+" for kind in kinds)
    return rf"[+-]?[1-9]\d{{0,2}}(?:{groups})(?:{point}\d*)?"


# what begins a formula, behind any number of apostrophes; some programs take the wide forms of the
# four marks for the marks
_FORMULA = "[=+\\-@\t\r\uff0b\uff0d\uff1d\uff20]"
# -5 and +1.5e3 are numbers and no formulas
_PLAIN_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def guard(cells: pl.Series) -> pl.Series:
    """Text with an apostrophe before each cell that a spreadsheet would run."""
    formula = cells.str.contains(f"^'*{_FORMULA}") & ~cells.str.contains(f"^{_PLAIN_NUMBER}$")
    return ("'" + cells).zip_with(formula.fill_null(False), cells)


def unguard(cells: pl.Series) -> pl.Series:
    """The inverse of ``guard``."""
    return cells.str.replace(f"^'('*{_FORMULA})", "${1}")


LABELS_SHOWN = "0 or 1, true or false, yes or no, normal or anomaly (or attack), or 1 or -1"


def counts_rows(column: pl.Series) -> bool:
    """Whether each number is one more than the number before it."""
    import polars as pl

    numbers, bad = read_numbers(column.cast(pl.String))
    steps = numbers.diff()[1:]
    return bad is None and len(steps) > 0 and bool((steps == 1).fill_null(False).all())


def read_labels(cells: pl.Series, *, signed: bool) -> pl.Series:
    """Labels as 8-bit integers, 1 for anomalous; null where a cell is not a label.

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
    """Whether labels contain -1; None if all are 1, which does not decide."""
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
