"""What a channel's residual is, given those of the other channels in the same row.

Residuals of channels that move together are expected from each other: a relation that breaks shows
even where every channel by itself stays within what is usual.

Shapes: T rows of a stretch, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# residuals beyond this are cut, so that one channel that is far out does not put all others out
CLIP = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Expects each channel's residual from the others', in a linear way.

    Parameters
    ----------
    weights
        What is left of a row e is ``weights @ e``, (C, C); ones on the diagonal.
    """

    weights: NDArray[np.float32]

    def left(self, residuals: NDArray[Any]) -> NDArray[np.float32]:
        """What the others leave of each channel's residual, (T, C)."""
        return np.asarray(np.clip(residuals, -CLIP, CLIP) @ self.weights.T, dtype=np.float32)
