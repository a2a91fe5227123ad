"""The threshold that someone would take who knows the answers."""

from __future__ import annotations

from numpy.typing import ArrayLike

from subadjacent.evaluation.metrics import best_f1


def oracle_threshold(scores: ArrayLike, labels: ArrayLike) -> float:
    """The threshold with the highest F1 on these labels; it raises no alarm when there are none.

    An upper bound for thresholds, not one of them: whatever is measured at it is measured on
    labels that already chose it.
    """
    return best_f1(scores, labels).threshold
