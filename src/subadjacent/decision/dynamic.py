"""The dynamic threshold of Hundman et al. (KDD 2018), with pruning.

The candidates are mean + z deviations, z from 2.5 to 12. Mean and deviation of the scores fall most
without those above the chosen one, relative to how many rows and runs these are. Runs whose peaks
are no clear step above the next lower peak are then pruned, which amounts to a higher threshold.
Ours: it is chosen once from all scores of a series, in hindsight; the paper chooses it anew for
every 70 rows from the 2,100 before them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.events import join

# deviations above the mean that are tried, as published
DEVIATIONS = np.arange(2.5, 12.5, 0.5)
# least step between two peaks, as a share of the higher one, as published
STEP = 0.13


def dynamic_level(scores: NDArray[np.float64], step: float = STEP) -> float:
    """The dynamic threshold of Hundman et al. for the scores of a series."""
    # squares of very large scores would overflow
    unit = float(np.abs(scores).max()) or 1.0
    return unit * _level(scores / unit, step)


def _level(scores: NDArray[np.float64], step: float) -> float:
    mean, deviation = float(scores.mean()), float(scores.std())
    levels = mean + DEVIATIONS * deviation
    worth = [_worth(scores, level, mean, deviation) for level in levels]
    # no score stands out: the highest candidate, above all scores
    best = float(levels[int(np.argmax(worth))]) if max(worth) > 0 else float(levels[-1])
    return pruned(scores, best, step)


def _worth(scores: NDArray[np.float64], level: float, mean: float, deviation: float) -> float:
    """The relative drop of mean and deviation without scores above ``level``, per rows and runs."""
    above = scores > level
    if not above.any() or mean <= 0 or deviation <= 0:
        return 0.0
    rest = scores[~above]
    taken = (mean - rest.mean()) / mean + (deviation - rest.std()) / deviation
    runs = len(join(above, 0, 1, [(0, len(scores))]))
    return float(taken / (above.sum() + runs**2))


def pruned(scores: NDArray[np.float64], level: float, step: float) -> float:
    """The threshold after pruning: raised to the highest pruned peak."""
    above = scores > level
    if not above.any():
        return level
    runs = join(above, 0, 1, [(0, len(scores))])
    peaks = sorted((float(scores[start:stop].max()) for start, stop in runs), reverse=True)
    peaks.append(float(scores[~above].max()))
    steps = [(high - low) / high for high, low in pairwise(peaks)]
    clear = [number for number, fall in enumerate(steps) if fall > step]
    # keep the peaks above the last clear step
    kept = clear[-1] + 1 if clear else 0
    return level if kept == len(runs) else max(level, peaks[kept])
