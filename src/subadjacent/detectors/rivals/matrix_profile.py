"""How unlike a window's shape is to all shapes of training."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.profile import ProfileMethod


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
        Training rows to keep at most, an entity.
    others
        As of every ``MethodDetector``.
    """

    method = ProfileMethod

    window: int = 20
    references: int = 5_000
