"""F1 without point adjustment as the authors' code has it: errors smoothed by a kernel.

The kernel is a Gaussian bell, cut off at three deviations. Its length is picked on the labels, for
each entity by itself, and so is the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.evaluation.metrics import auroc, average_precision, best_f1

# rows of the kernel that are tried, in the released search; 0 leaves the errors as they are
LENGTHS = range(0, 601, 10)
# deviations from its middle to where the bell ends
DEVIATIONS = 3.0
# the column of results with the F1 of each entity
BY_ENTITY = "oracle_f1_by_entity"


def smoothed(error: NDArray[Any], length: int) -> NDArray[np.float64]:
    """Errors averaged by a bell of ``length`` rows; nothing lies beyond the ends of the series.

    Weights do not add up to 1: as F1 is the best over all thresholds, that makes no difference.
    """
    error = np.asarray(error, dtype=np.float64)
    # a bell that is longer than the series would make it longer
    length = min(length, len(error))
    if length == 0:
        return error
    bell = np.exp(-(np.linspace(-DEVIATIONS, DEVIATIONS, length) ** 2) / 2)
    return np.convolve(error, bell, "same")


def evaluate(error: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """Metrics at the kernel's length and the threshold that are best on the labels."""
    tried = [(best_f1(smoothed(error, length), labels).f1, -length) for length in LENGTHS]
    # of several lengths that are as good, the shortest
    f1, shortest = max(tried)
    score = smoothed(error, -shortest)
    return {
        "oracle_f1": f1,
        "auroc": auroc(score, labels),
        "average_precision": average_precision(score, labels),
        "kernel": float(-shortest),
    }


def as_text(f1s: Iterable[float]) -> str:
    """The F1 of each entity as one cell of a row of results."""
    return " ".join(f"{f1:.4f}" for f1 in f1s)


def best_of_runs(cells: Sequence[str]) -> float:
    """The best run of each entity, from one such cell a run; the mean over the entities."""
    by_run = [[float(f1) for f1 in cell.split()] for cell in cells]
    return float(np.mean([max(entity) for entity in zip(*by_run, strict=True)]))
