"""Distance of each window's shape to the most similar training window, channel by channel.

Shapes: T rows of a segment, C channels, L rows in a window, W windows, R training rows, V their
windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.scaling import chunks
from subadjacent.decision.evidence import Reach
from subadjacent.detectors.method import MethodDetector
from subadjacent.errors import InputError, require_whole
from subadjacent.methods.method import State, require_array, require_places
from subadjacent.methods.per_entity import PerEntityMethod, Task
from subadjacent.methods.residuals import Prediction, Predictor, Rows
from subadjacent.rivals.pca import windows_over

# rows in a window, and training rows to compare with, at most: both are allocated
MAX_WINDOW, MAX_REFERENCES = 1_000, 1_000_000
# values of all training windows of a channel, at most: 160 MB
MAX_VALUES = 20_000_000
# correlations held at a time: 16 MB
CORRELATIONS = 2_000_000
# in standard deviations of a channel: a window that varies less has no shape, only rounding
FLAT = 1e-3
# windows in a block; where there are too many training rows, blocks of them are kept
BLOCK = 10
# a window without a shape lies from one that has a shape as far as one that is half like it
HALF = 0.5


class Shapes(NamedTuple):
    """Windows brought to mean 0 and deviation 1; those without a shape are 0 throughout."""

    standard: Rows  # (W, L)
    flat: NDArray[np.bool_]  # (W,)
    mean: Rows  # (W,)
    deviation: Rows  # (W,)


@dataclass(frozen=True, slots=True, eq=False)
class MatrixProfile(Predictor):
    """Expects each window to be the nearest training window, at its own mean and deviation.

    Departures are squared distances of windows to the nearest; the error is the root of their mean
    over channels. Both, and the expected values, are means over the windows that cover a row.
    """

    references: NDArray[np.float32]  # (R, C)
    starts: NDArray[np.int64]  # first rows of what is unbroken in them
    length: int  # L

    @property
    def window(self) -> int:
        """Rows in a window."""
        return self.length

    @property
    def reach(self) -> Reach:
        """The windows that cover a row."""
        return Reach(self.length - 1, self.length - 1)

    def predict(self, scaled: Rows) -> Prediction:
        """Means over the windows that cover a row."""
        length = self.length
        expected, departures = np.zeros_like(scaled), np.zeros_like(scaled)
        for channel in range(scaled.shape[1]):
            known = self._known(channel)
            windows = np.lib.stride_tricks.sliding_window_view(scaled[:, channel], length)
            for chunk in chunks(len(windows), max(CORRELATIONS // len(known.flat), 1)):
                square, alike = nearest(shapes(windows[chunk]), known)
                for step in range(length):
                    covered = slice(chunk.start + step, chunk.stop + step)
                    departures[covered, channel] += square
                    expected[covered, channel] += alike[:, step]
        covering = windows_over(len(scaled), length)[:, None]
        departures /= covering
        return Prediction(expected / covering, np.sqrt(departures.mean(axis=1)), departures)

    def _known(self, channel: int) -> Shapes:
        """The shapes of a channel's windows in training."""
        bounds = np.append(self.starts, len(self.references))
        values = self.references[:, channel].astype(np.float64)
        every = np.lib.stride_tricks.sliding_window_view(values, self.length)
        return shapes(
            np.concatenate(
                [every[start : stop - self.length + 1] for start, stop in pairwise(bounds.tolist())]
            )
        )

    def state(self) -> State:
        """The training rows."""
        return State(
            {"references": self.references, "starts": self.starts}, {"window": self.length}
        )


@dataclass(frozen=True, kw_only=True)
class ProfileMethod(PerEntityMethod):
    """Keeps training rows, and compares the shapes of windows with theirs.

    Settings are those of ``MatrixProfileDetector``.
    """

    keeps_rows: ClassVar[bool] = True

    window: int = 20
    references: int = 5_000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("window", self.window, least=3, most=MAX_WINDOW)
        require_whole("references", self.references, least=1, most=MAX_REFERENCES)

    def _fit_one(self, task: Task) -> Predictor:
        length = int(self.window)
        blocks = list(task.segments(length))
        most = min(int(self.references), MAX_VALUES // length)
        if sum(map(len, blocks)) > most:
            size = BLOCK * length
            pieces = [
                segment[start : start + size]
                for segment in blocks
                for start in range(0, max(len(segment) - size, 0) + 1, size)
            ]
            kept = max(most // size, 1)
            chosen = np.linspace(0, len(pieces) - 1, min(kept, len(pieces))).round().astype(int)
            blocks = [pieces[number] for number in chosen]
        starts = np.cumsum([0, *(len(block) for block in blocks[:-1])])
        return MatrixProfile(np.concatenate(blocks).astype(np.float32), starts, length)

    def _restore(self, state: State, channels: int) -> Predictor:
        length, references = state.facts["window"], state.arrays["references"]
        starts = state.arrays["starts"]
        require_whole("window", length, least=3, most=MAX_WINDOW)
        require_array("references", references, (*references.shape[:1], channels))
        require_array("starts", starts, starts.shape[:1])
        require_places("starts", starts)
        if len(references) * length > MAX_VALUES:
            raise InputError(f"references must be at most {MAX_VALUES // length:,} rows")
        long = np.diff(np.append(starts, len(references))) >= length
        if not len(starts) or starts[0] or not long.all():
            raise InputError(f"starts must begin with 0 and lie {length} rows apart at least")
        return MatrixProfile(references, starts, length)


def shapes(windows: Rows) -> Shapes:
    """Windows, each standardised by its own mean and deviation."""
    mean, deviation = windows.mean(axis=1), windows.std(axis=1)
    flat = deviation < FLAT
    standard = (windows - mean[:, None]) / np.where(flat, 1.0, deviation)[:, None]
    standard[flat] = 0.0
    return Shapes(standard, flat, mean, deviation)


def nearest(queries: Shapes, known: Shapes) -> tuple[Rows, Rows]:
    """Squared distance of each shape to the nearest known one, (W,), and the nearest, (W, L).

    Squared distances of shapes are 2L (1 - their correlation), so all of them come from one
    product of matrices. Two windows without a shape are alike.
    """
    length = queries.standard.shape[1]
    shaped, flat = known.standard[~known.flat], bool(known.flat.any())
    best = np.zeros_like(queries.standard)
    if len(shaped):
        if not flat:
            # all are as far from what has no shape
            best[queries.flat] = shaped[0]
        moving = ~queries.flat
        correlation = queries.standard[moving] @ shaped.T / length  # (W, V) at most
        alike = shaped[correlation.argmax(axis=1)]
        if flat:
            alike[correlation.max(axis=1) < HALF] = 0.0
        best[moving] = alike
    # computed again from differences: near 1, a correlation has lost digits of the distance
    square = np.square(queries.standard - best).sum(axis=1)
    return square, queries.mean[:, None] + queries.deviation[:, None] * best


@dataclass(kw_only=True, eq=False, repr=False)
class MatrixProfileDetector(MethodDetector):
    """Scores a row by how unlike the windows over it are to the most similar ones of training.

    The matrix profile of Yeh et al. (ICDM 2016), as a join of new rows with training rows:
    windows of each channel are brought to mean 0 and deviation 1, and each has the Euclidean
    distance to the nearest training window. Squares of it, averaged over the windows that cover a
    row, are its channels' parts; the score is the root of their mean. So level and size do not
    matter, only shape. Ours is that channels find their nearest windows each by itself, as in
    Tafazoli and Keogh (2023), with the mean over all; that windows that move by less than a
    thousandth of a deviation have no shape; and that of a long training series blocks of ten
    windows are kept, 5,000 rows in all. All distances come from products of matrices: at these
    sizes no slower than compiled code, and exact. The threshold is set by training rows that each
    were compared with the other four fifths.

    Parameters
    ----------
    window : int
        Rows in a window.
    references : int
        Training rows to keep at most, an entity: blocks of ten windows' length, evenly over all,
        one at least. Fewer where their windows would hold more than 20 million values.
    others
        As of every ``MethodDetector``.
    """

    method = ProfileMethod

    window: int = 20
    references: int = 5_000
