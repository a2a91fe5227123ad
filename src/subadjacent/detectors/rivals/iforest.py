"""How soon random cuts leave a row alone."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.seed import choose_seed
from subadjacent.methods.trees import ForestMethod
from subadjacent.runtime import Runtime, Watch


class IsolationForestDetector(BaseDetector):
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
    random_state : int, RandomState or None
        Decides which training rows are drawn, and where trees cut.
    """

    def __init__(
        self,
        *,
        trees: int = 100,
        samples: int = 256,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.trees = trees
        self.samples = samples
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit
        self.random_state = random_state

    def _method(self) -> ForestMethod:
        return ForestMethod(
            trees=self.trees,
            samples=self.samples,
            smoothing=self.smoothing,
            clip=self.clip,
        )

    def _runtime(self, watch: Watch) -> Runtime:
        return Runtime(seed=choose_seed(self.random_state), watch=watch)
