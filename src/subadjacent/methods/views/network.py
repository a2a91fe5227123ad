"""A network's residuals as one more view, beside the plain views.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.views.combine import Combined
from subadjacent.methods.views.view import TOTAL_WEIGHT
from subadjacent.scoring.evidence import Array
from subadjacent.scoring.usual import ChannelScale, Squares, chunks

if TYPE_CHECKING:
    # torch is there only where a network is
    from subadjacent.methods.neural.model import EntityNetwork

# weight of a network's residual, relative to one of a plain view by itself: alone it ranks
# anomalies less well, and twice the weight costs up to 2.6 points (reproduce/log.md, "The default
# detector")
WEIGHT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class NetworkView:
    """A network on an entity's scale, and the scale of its residuals on held-out rows.

    Parameters
    ----------
    network
        Shared by all entities.
    scale
        The scale of its residuals.
    factor
        1, or less where its surprise on typical rows is far larger than that of the plain views.
    """

    network: EntityNetwork
    scale: ChannelScale
    factor: float

    @property
    def reach(self) -> int:
        """Rows to either side of a row that its residual may depend on."""
        return self.network.window - 1

    def surprise(self, residuals: NDArray[np.float32]) -> NDArray[np.float32]:
        """How surprising residuals of a segment are, (T, C)."""
        surprise = np.empty(residuals.shape, dtype=np.float32)
        for first, last in chunks(len(residuals)):
            surprise[first:last] = self.scale.surprise(Squares.of(residuals, first, last, None))
        surprise *= self.factor
        return surprise

    def add_to(self, combined: Combined, rows: Array) -> Combined:
        """Add the surprise of the network's residuals to that of the plain views."""
        surprise = self.surprise(self.network.residuals(rows))
        row_surprise = surprise.mean(axis=1, dtype=np.float64)
        share = WEIGHT / (TOTAL_WEIGHT + WEIGHT)
        return Combined(
            (1 - share) * combined.values + np.float32(share) * surprise,
            add_network(combined.rows, row_surprise),
            np.concatenate([(1 - share) * combined.by_part, share * row_surprise[None]]),
        )


def add_network(rows: NDArray[np.float64], network: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of the surprise of rows to the plain views and to a network."""
    return np.asarray((TOTAL_WEIGHT * rows + WEIGHT * network) / (TOTAL_WEIGHT + WEIGHT))
