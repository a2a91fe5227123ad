"""How surprising a row is as a whole: many channels that are out a little, or one for good.

Channel by channel a small departure counts for nothing, however many channels share it. Here
squares are added over channels before they are compared with what is usual.

Shapes: T rows of a stretch, C channels, S scales.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.standardised import FLOOR, SCALES, Folds, averages, block_mean, moving_mean

# a mean over channels is steadier than one channel: less of it counts as much
SOFTNESS = 30.0
# residuals beyond this are cut, so that one channel that is far out is not all there is
CLIP = 4.0
# rows calmer than this have no channel to blame
TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The usual mean square over channels: of averaged residuals, and averaged, (2, S)."""

    squares: NDArray[np.float64]

    def surprise(self, residuals: NDArray[Any], *, causal: bool) -> NDArray[np.float64]:
        """Of each row as a whole, laid on its channels by their share in it, (T, C).

        The mean over channels is the row's. A single channel has been judged by itself already.
        """
        cut = np.clip(residuals, -CLIP, CLIP)
        found = zip(self.squares.ravel(), _squares(cut, causal=causal), strict=True)
        total = sum(_unlikeliness(square, usual) for usual, square in found)
        return np.asarray(total)[:, None] * _shares(cut)


class Learned(NamedTuple):
    """What is usual, and the surprise of each stretch to what is usual in other rows."""

    together: Together
    surprise: list[NDArray[np.float64]]


def learn_together(
    parts: Sequence[NDArray[Any]], judged: Sequence[NDArray[np.bool_]], *, causal: bool
) -> Learned:
    """From residuals on rows that the model did not learn from, as far as they were judged."""
    cuts = [np.clip(part, -CLIP, CLIP) for part in parts]
    kept = np.concatenate(list(judged))
    folds = Folds.of(kept)
    total, usual = np.zeros(len(kept)), []
    for of_parts in zip(*(_squares(cut, causal=causal) for cut in cuts), strict=True):
        squares = np.concatenate(of_parts)
        usual.append(block_mean(squares[kept]))
        for mine, others in folds.pairs:
            total[mine] += _unlikeliness(squares[mine], block_mean(squares[others]))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return Learned(
        Together(np.array(usual).reshape(2, len(SCALES))),
        [one[:, None] * _shares(cut) for one, cut in zip(np.split(total, ends), cuts, strict=True)],
    )


def _unlikeliness(squares: NDArray[np.float64], usual: Any) -> NDArray[np.float64]:
    """What squares on one scale add to a surprise."""
    return np.asarray(np.log1p(squares / ((usual + FLOOR) * SOFTNESS)) / (2 * len(SCALES)))


def _shares(cut: NDArray[Any]) -> NDArray[np.float64]:
    """What part of a row's surprise is each channel's, (T, C); 1 on average, or 0 if alone."""
    if cut.shape[1] == 1:
        return np.zeros(cut.shape)
    squares = np.square(cut, dtype=np.float64)
    mean = squares.mean(axis=1, keepdims=True)
    shares = np.divide(squares, mean, out=np.ones_like(squares), where=mean > TINY)
    return np.asarray(shares)


def _squares(cut: NDArray[Any], *, causal: bool) -> Iterator[NDArray[np.float64]]:
    """Mean squares over channels, (T): of averages on each scale, then averages of squares."""
    for scale in SCALES:
        yield np.square(averages(cut, scale, causal=causal)).mean(axis=1)
    squares = np.square(cut, dtype=np.float64).mean(axis=1)
    for scale in SCALES:
        yield moving_mean(squares, scale, causal=causal)
