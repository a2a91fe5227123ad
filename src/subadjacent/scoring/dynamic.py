"""The threshold of Hundman et al. (KDD 2018): removing what is above it changes most.

Of the levels mean + z deviations, z from 2.5 to 12, the one is taken above which there are few rows
in few runs, without which mean and deviation of the errors fall most. Runs of rows above it whose
peaks are no clear step above the next lower ones are then given up ("pruning"). Both amount to one
level. Ours: it is chosen once over the scores of a series, in hindsight; the paper chooses it anew
for every 70 rows from the 2,100 before them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from subadjacent.scoring.events import join

# deviations above the mean that are tried, as published
DEVIATIONS = np.arange(2.5, 12.5, 0.5)
# a step between two peaks below this share of the higher one is none, as published
STEP = 0.13


def dynamic_level(scores: NDArray[np.float64], step: float = STEP) -> float:
    """The level chosen from the scores of a series themselves; those above it stand out."""
    # squares of very large scores would overflow
    unit = float(np.abs(scores).max()) or 1.0
    return unit * _level(scores / unit, step)


def _level(scores: NDArray[np.float64], step: float) -> float:
    mean, deviation = float(scores.mean()), float(scores.std())
    levels = mean + DEVIATIONS * deviation
    worth = [_worth(scores, level, mean, deviation) for level in levels]
    # none stands out: the highest, which nothing reaches
    best = float(levels[int(np.argmax(worth))]) if max(worth) > 0 else float(levels[-1])
    return pruned(scores, best, step)


def _worth(scores: NDArray[np.float64], level: float, mean: float, deviation: float) -> float:
    """How far mean and deviation fall without the scores above a level, per rows and runs."""
    above = scores > level
    if not above.any() or mean <= 0 or deviation <= 0:
        return 0.0
    rest = scores[~above]
    taken = (mean - rest.mean()) / mean + (deviation - rest.std()) / deviation
    runs = len(join(above, 0, 1, [(0, len(scores))]))
    return float(taken / (above.sum() + runs**2))


def pruned(scores: NDArray[np.float64], level: float, step: float) -> float:
    """The level, raised to the highest peak that is pruned."""
    above = scores > level
    if not above.any():
        return level
    runs = join(above, 0, 1, [(0, len(scores))])
    peaks = sorted((float(scores[start:stop].max()) for start, stop in runs), reverse=True)
    peaks.append(float(scores[~above].max()))
    steps = [(high - low) / high for high, low in pairwise(peaks)]
    clear = [number for number, fall in enumerate(steps) if fall > step]
    # those down to the last clear step stay
    kept = clear[-1] + 1 if clear else 0
    return level if kept == len(runs) else max(level, peaks[kept])
