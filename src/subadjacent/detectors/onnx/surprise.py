"""The surprise of residuals in a graph, as in ``scoring.usual``.

Shapes: T rows of a segment, C channels, S scales.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.onnx.moving import Window, row_counts, window_sums
from subadjacent.detectors.onnx.value import Value
from subadjacent.scoring.usual import (
    JOINT_CLIP,
    JOINT_SOFTNESS,
    LARGEST_SQUARE,
    SCALES,
    SOFTNESS,
    SPREAD,
    SPREAD_WEIGHT,
    TINY,
    ChannelScale,
    JointScale,
    hold_back,
)


class Averages:
    """The windows that residuals are averaged over, and how many rows each has within the segment.

    Parameters
    ----------
    row_numbers
        The numbers of all rows of a segment, (T,).
    """

    def __init__(self, row_numbers: Value, lookahead: int | None) -> None:
        self.windows = [Window.around(scale, lookahead) for scale in SCALES[1:]]
        self.spread = Window.around(SPREAD, lookahead)
        self.present = [
            row_counts(row_numbers, row_numbers.count, window) for window in self.windows
        ]


def channel_surprise(residuals: Value, scale: ChannelScale, over: Averages) -> Value:
    """The surprise of each value by itself, (T, C)."""
    usual = scale.squares + scale.floor
    units: NDArray[np.float64] = 1 / (usual * SOFTNESS * np.array(SCALES)[:, None])
    product = residuals.square() * units[:1] + 1.0
    sums = window_sums(residuals, over.windows)
    for number, (total, present) in enumerate(zip(sums, over.present, strict=True), start=1):
        held_back = residuals.writer.value(_held_back(usual, number)).take(present)
        product *= total.square() * (held_back * units[number : number + 1]) + 1.0
    (squares,) = window_sums(residuals.square().at_most(LARGEST_SQUARE), [over.spread])
    excess = squares * (1 / (SPREAD * np.maximum(scale.spread, scale.floor)))
    return product.log() / float(len(SCALES)) + excess.at_least(1.0).log() * SPREAD_WEIGHT


def joint_surprise(residuals: Value, scale: JointScale, channels: int, over: Averages) -> Value:
    """The surprise of each row as a whole, shared out to its channels, (T, C).

    There are several channels: a single one has been judged by itself already.
    """
    write = residuals.writer
    usual = (scale.squares + scale.floor)[:, None]
    values = residuals.clip(-JOINT_CLIP, JOINT_CLIP)
    squares = values.square()
    mean = squares.sum(1, keep=True) / float(channels)  # (T, 1)
    sums = window_sums(values, over.windows)
    means = window_sums(mean, over.windows)
    terms = [mean] * 2
    for number, present in enumerate(over.present, start=1):
        held_back = write.value(_held_back(usual[: len(SCALES)], number)).take(present)
        of_sums = sums[number - 1].square().sum(1, keep=True)
        terms.insert(number, of_sums * held_back / float(SCALES[number] * channels))
        terms.append(means[number - 1] / present.column().cast(np.float64))
    ratios = write.concat(terms, axis=1) / (usual[:, 0] * JOINT_SOFTNESS)  # (T, 2 S)
    row_surprise = (ratios + 1.0).log().sum(1, keep=True) / float(len(usual))
    shares = write.where(mean > TINY, squares / mean.at_least(TINY), 1.0)
    return row_surprise * shares


def _held_back(usual: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """The factor of the squared sum over a window, by the number of its rows, (rows + 1, C).

    The first row is for no rows at all, which no window has.
    """
    row_count = np.arange(1, SCALES[number] + 1)
    factors = np.ones((len(row_count), usual.shape[1]))
    hold_back(factors, usual, number, row_count)
    return np.concatenate([np.zeros((1, usual.shape[1])), factors / row_count[:, None]])
