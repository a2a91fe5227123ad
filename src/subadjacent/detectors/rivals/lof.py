"""How much denser the nearest rows of training lie than a row."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.neighbours import DensityMethod


@dataclass(kw_only=True, eq=False, repr=False)
class LOFDetector(MethodDetector):
    """Scores a row by its local outlier factor: how much denser its neighbours lie than it does.

    Breunig, Kriegel, Ng and Sander, "LOF: identifying density-based local outliers" (SIGMOD
    2000), of standardised rows, as published comparisons on several channels have it; about 1 is
    normal. A ratio of densities has no parts: the channels in an alarm are those by which the row
    is far from its neighbours, an approximation. Ours is that neighbours are training rows alone,
    10,000 of a long series, drawn by chance but always the same; that none counts as nearer than a
    hundredth of a deviation, or rows that repeat would be infinitely dense; and that the
    threshold is set by training rows that each were compared with the other four fifths.

    Parameters
    ----------
    neighbours : int
        How many training rows a row is compared with.
    window : int
        Rows in a window that ends with the row: all their channels make one vector. 1: rows alone.
    references : int
        Training rows to keep at most, an entity.
    others
        As of every ``MethodDetector``.
    """

    method = DensityMethod

    neighbours: int = 20
    window: int = 1
    references: int = 10_000
