"""What was never seen in training: how surprising a distance to everything seen is.

The other views ask whether a value can be expected. A view of states and one of shapes ask
whether anything like it was there before: they measure the distance to the nearest of some
references from the training rows, and hold it against the distances of training rows to
references far from them in time.

Such a view may know nothing of some data: where nothing comes twice, everything is far from
everything. Its weight is learned from held-out rows, without any label.

Shapes: T rows of a segment, N rows of all segments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.quantiles import quantiles
from subadjacent.methods.views.residual_scale import FLOOR
from subadjacent.ridge.folds import folds as row_folds

# parts of the rows whose mean distances are compared, as for residuals
BLOCKS = 10
# a squared distance this many times the baseline counts as log 2 / 2. A third of it costs much
# where a shape is what is new, three times as much costs where a state is (reproduce/log.md,
# "States and shapes")
SOFTNESS = 3.0
# on held-out rows the scores of a view and of all views that expect values are compared at these
# quantiles. With the upper tenth as well it costs nearly three points on SMD, by the highest row
# alone as much there (reproduce/log.md, "States and shapes")
QUANTILES = (0.99, 0.999, 1.0)
# what a distance as large as the usual one comes to. Held-out scores are taken to be no lower: a
# view that found nothing new at all, as where rows were recorded twice, is not trusted the more
AT_USUAL = math.log1p(SOFTNESS**-2) / 2

Scores = NDArray[np.float64]
Distances = NDArray[Any]


class Novelty(NamedTuple):
    """How new a segment is: its rows, and each channel's part in that.

    The rows make the score; channels explain it. Channels share what a state comes to, times their
    number; the mean value of shapes, over the channels that have any, is their row's.
    """

    rows: Scores  # (T,)
    values: NDArray[np.float32]  # (T, C)


def surprise(squares: Distances, usual: Distances, floor: float = FLOOR) -> Distances:
    """``log(1 + (z/3)²) / 2``, z being a squared distance over the usual one.

    ``floor`` is a squared distance that does not matter, however small the usual ones are.

    Squared once more: unlike residuals, distances to the nearest of many references hardly vary
    as long as nothing is new, and those up to the usual one are to count for nothing.
    """
    # NumPy 1 makes float64 of a lone float32 and a number of Python's, which a whole row of them
    # stays clear of: rows one by one would differ from a batch
    precise = np.asarray(usual).dtype.type
    ratio = squares / ((usual + precise(floor)) * precise(SOFTNESS))
    return np.asarray(np.log1p(np.square(ratio)) / 2)


def usual_distance(squares: Distances) -> Any:
    """The root mean square over ten blocks of rows of each block's mean; of each column.

    What was unlike anything else for some of the time will be so again.
    """
    blocks = np.array_split(squares, min(BLOCKS, len(squares)))
    return np.sqrt(np.mean([np.square(block.mean(axis=0)) for block in blocks], axis=0))


def folds(count: int) -> Iterator[slice]:
    """Contiguous parts of ``count`` rows."""
    return (slice(first, last) for first, last in row_folds(count))


def outside(rows: NDArray[np.int64], fold: slice, guard: int) -> NDArray[np.bool_]:
    """Which of ``rows`` lie at least ``guard`` rows before or after a fold."""
    return np.asarray((rows <= fold.start - guard) | (rows >= fold.stop - 1 + guard))


def nearer(held_against: int, references: int, dimensions: int) -> float:
    """How much nearer, squared, the nearest of all references is than that of some of them.

    Held-out rows are compared with references of other folds, rows to come with all. Among r
    points that fill a space the nearest is at a distance of about r to the power of one over its
    dimensions. Rows that fill fewer of them have noise in all.
    """
    return float((held_against / references) ** (2 / dimensions))


def novelty_weight(own: Scores, others: Scores) -> float:
    """The weight of a view of what was never seen, from scores of held-out rows.

    The largest, up to 1, with which the view is not above the views that expect values: neither
    on the highest row nor on the highest hundredth. One that finds much that is new in normal rows
    that it had not seen is turned down.
    """
    highest = np.array(quantiles(own, QUANTILES))
    allowed = np.array(quantiles(others, QUANTILES))
    return float(min(1.0, np.min(allowed / np.maximum(highest, AT_USUAL))))
