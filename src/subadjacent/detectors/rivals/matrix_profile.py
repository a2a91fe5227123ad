"""How unlike a window's shape is to all shapes of training."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.profile import ProfileMethod


class MatrixProfileDetector(BaseDetector):
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
    smoothing : int
        Average each score with those before it, so many in all.
    clip : float
        Standardised values beyond this are cut.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels; as for ``SubAdjacentDetector``.
    adapt_after : int or None
        Rows after which what has moved for good is the new normal: one alarm, not one for ever.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.
    """

    def __init__(
        self,
        *,
        window: int = 20,
        references: int = 5_000,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.window = window
        self.references = references
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> ProfileMethod:
        return ProfileMethod(
            window=self.window,
            references=self.references,
            smoothing=self.smoothing,
            clip=self.clip,
        )
