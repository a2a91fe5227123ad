"""What the principal components of short windows leave unexplained."""

from __future__ import annotations

from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.subspace import SubspaceMethod


class SubPCADetector(BaseDetector):
    """Scores a row by how far its windows are from the main directions of training windows.

    Every window of ``window`` rows, all channels in one vector, is projected on the directions
    of its entity. A window's error is the mean square of what is left of it, over all its rows
    and channels; a row's score is the mean error of all windows that cover it, of which there
    are fewer at the ends of a stretch.

    Parameters
    ----------
    window : int
        Rows in a window.
    components : int
        Directions to keep.
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
        components: int = 10,
        smoothing: int = 1,
        clip: float = 10.0,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.window = window
        self.components = components
        self.smoothing = smoothing
        self.clip = clip
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> SubspaceMethod:
        return SubspaceMethod(
            window=self.window,
            components=self.components,
            smoothing=self.smoothing,
            clip=self.clip,
        )
