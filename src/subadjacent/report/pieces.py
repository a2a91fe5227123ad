"""A long series as few numbers: coarse for the whole, every row around the worst alarms.

The page picks, for the segment in view, the finest piece that covers it and is not too long to
draw. All lines of a series have the same pieces, so that they share their places in time.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.errors import InputError, require_whole

# numbers in the page, all lines and pieces together: 2 bytes each, 2.7 as text; an exact one is two
BUDGET = 4_200_000
# rows up to which a series has no level but its rows: so many are thinned in a moment
SHORT_SERIES = 20_000
# values of the coarsest level; more than a screen has columns of pixels
COARSE_VALUES = 2_000
# how much finer each level is than the one before it
FINER = 3.5
# share of a line's numbers that levels of the whole series may take; the rest goes to alarms
FOR_LEVELS = 0.65
MAX_WINDOWS = 50  # alarms shown with every row
MAX_WINDOW_VALUES = 4_000  # values of one such segment
HIGHEST = 2**16 - 1  # of the whole numbers that values are stored as


class LinePiece(NamedTuple):
    """Rows ``[first, last)`` at one or two values every ``step`` rows."""

    first: int
    last: int
    step: int

    @property
    def size(self) -> int:
        """Values that a line has in this piece."""
        rows = self.last - self.first
        return rows if self.step == 1 else 2 * -(-rows // self.step)


def plan(rows: int, numbers: int, windows: Iterable[tuple[int, int]] = ()) -> list[LinePiece]:
    """Pieces for a series, coarse to fine, with at most about ``numbers`` values a line.

    Parameters
    ----------
    rows
        Length of the series.
    numbers
        Values that one line may have. The coarsest level is there in any case.
    windows
        Half-open row bounds to show in full, the most important first.
    """
    if rows <= min(numbers, SHORT_SERIES):
        return [LinePiece(0, rows, 1)]
    pieces, size = [], float(COARSE_VALUES)
    while size < rows and size <= FOR_LEVELS * numbers:
        pieces.append(LinePiece(0, rows, step_for(rows, round(size / 2))))
        size *= FINER
    if rows <= numbers:
        return [*pieces, LinePiece(0, rows, 1)]
    pieces = pieces or [LinePiece(0, rows, step_for(rows, COARSE_VALUES // 2))]
    left = numbers - sum(piece.size for piece in pieces)
    for first, last in windows:
        step = step_for(last - first, MAX_WINDOW_VALUES // 2)
        # two values from every two rows are all there are: one from each row says when, too
        window = LinePiece(first, last, 1 if step == 2 else step)
        left -= window.size
        if left < 0:
            break
        pieces.append(window)
    return pieces


def pack(values: NDArray[Any], pieces: Sequence[LinePiece], *, exact: bool = False) -> str:
    """One line of a series, piece after piece, in base64 after a letter for the encoding.

    ``c``: a line that never moves is its value alone (float64). ``q``: a piece is its lowest and
    highest value (float64) and then 16-bit whole numbers between the two, so that a huge peak in
    one piece does not blur a ripple in another. ``f``, where ``exact`` is given: a piece is its
    median (float64) and then distances from it (float32). All are little-endian.
    """
    if (values == values[0]).all() or np.isnan(values).all():
        return "c" + _text(np.array(values[:1], dtype="<f8"))
    parts: list[NDArray[Any]] = []
    reduced = [
        min_max(np.ascontiguousarray(values[piece.first : piece.last]), piece.step).astype(float)
        for piece in pieces
    ]
    # distances of such numbers have no place among those of float32
    if exact and np.abs(values).max() < np.finfo(np.float32).max / 2:
        for some in reduced:
            middle = np.median(some)
            parts += [np.array([middle], dtype="<f8"), (some - middle).astype("<f4")]
        return "f" + _text(*parts)
    for some in reduced:
        low, high = float(some.min()), float(some.max())
        # halved, since the distance between two finite numbers may not be one
        span = high / 2 - low / 2
        shares = (some / 2 - low / 2) / span if span > 0 else np.zeros_like(some)
        parts += [np.array([low, high], dtype="<f8"), np.rint(shares * HIGHEST).astype("<u2")]
    return "q" + _text(*parts)


def step_for(rows: int, bins: int) -> int:
    """Rows a bin must hold for ``rows`` rows to fit into ``bins`` bins; at least 1."""
    require_whole("bins", bins, least=1)
    return max(1, -(-rows // bins))


def min_max(values: NDArray[Any], step: int) -> NDArray[Any]:
    """Lowest and highest value of every ``step`` rows, in the order in which they come.

    No peak is lost, whatever the step. The last bin may hold fewer rows. A step of 1 or 2
    leaves nothing out: all values come back.

    Parameters
    ----------
    values
        Finite numbers, shape (rows,).
    step
        Rows in a bin.

    Returns
    -------
    Two values a bin; with a step of 1, one.

    Examples
    --------
    >>> import numpy as np
    >>> min_max(np.array([1, 5, 2, 4, 0, 3, 7]), step=3).tolist()
    [1, 5, 4, 0, 7, 7]
    """
    require_whole("step", step, least=1)
    if values.ndim != 1:
        raise InputError(f"values must be 1-d, one a row; got shape {values.shape}")
    if step == 1:
        return values
    full = len(values) // step
    body = _extremes(values[: full * step].reshape(full, step))
    rest = values[full * step :]
    return np.concatenate([body, _extremes(rest[None])]) if len(rest) else body


def _extremes(bins: NDArray[Any]) -> NDArray[Any]:
    """The minimum and maximum of each row of ``bins``, in their order in time."""
    if not len(bins):
        return bins.ravel()
    places = np.sort(np.stack([bins.argmin(axis=1), bins.argmax(axis=1)], axis=1), axis=1)
    return np.take_along_axis(bins, places, axis=1).ravel()


def _text(*parts: NDArray[Any]) -> str:
    return base64.b64encode(b"".join(part.tobytes() for part in parts)).decode("ascii")
