"""The residuals of short windows from their principal components."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.detectors.method import MethodDetector
from subadjacent.methods.subspace import SubspaceMethod


@dataclass(kw_only=True, eq=False, repr=False)
class SubPCADetector(MethodDetector):
    """Scores a row by how far its windows are from the main directions of training windows.

    Every window of ``window`` rows, all channels in one vector, is projected on the directions
    of its entity. A window's error is the mean square of its residual, over all its rows
    and channels; a row's score is the mean error of all windows that cover it, of which there
    are fewer at the ends of a segment.

    Parameters
    ----------
    window : int
        Rows in a window.
    components : int
        Directions to keep.
    others
        As of every ``MethodDetector``.
    """

    method = SubspaceMethod

    window: int = 20
    components: int = 10
