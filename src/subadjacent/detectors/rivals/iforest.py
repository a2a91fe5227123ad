"""How soon random cuts leave a row alone."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import SeededDetector
from subadjacent.methods.trees import ForestMethod


@dataclass(kw_only=True, eq=False, repr=False)
class IsolationForestDetector(SeededDetector):
    """Scores a row by how few random cuts separate it from all others.

    Liu, Ting and Zhou, "Isolation forest" (ICDM 2008), grown by scikit-learn from single rows, as
    published comparisons on several channels have it; scores lie between 0 and 1. A depth has no
    parts: the channels in an alarm are those whose cuts tell most of the row, an approximation (a
    cut that sends it where one in eight went tells three bits). Expected are means of training.
    Trees are drawn from 100,000 rows of a series at most, and saved as arrays.

    Parameters
    ----------
    trees : int
        How many.
    samples : int
        Training rows of each tree, drawn by chance.
    random_state : int, RandomState or None
        Decides which training rows are drawn, and where trees cut.
    others
        As of every ``MethodDetector``.
    """

    method = ForestMethod

    trees: int = 100
    samples: int = 256
