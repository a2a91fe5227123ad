"""A network's residuals as one more view: they add to the surprise of the plain ones.

Shapes: T rows of a stretch, C channels.
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
# anomalies less well, and twice the weight costs up to 2.6 points (docs/log.md, "The default
# detector")
WEIGHT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class NetworkView:
    """A network on an entity's scale, and what is usual of its residuals on held-out rows.

    Parameters
    ----------
    network
        Shared by all entities.
    scale
        What is usual of its residuals.
    factor
        1, or less where the network is far larger on typical rows than the plain views.
    """

    network: EntityNetwork
    scale: ChannelScale
    factor: float

    @property
    def reach(self) -> int:
        """Rows to either side of a row that its residual may depend on."""
        return self.network.window - 1

    def surprise(self, residuals: NDArray[np.float32]) -> NDArray[np.float32]:
        """How surprising residuals of a stretch are, (T, C)."""
        surprise = np.empty(residuals.shape, dtype=np.float32)
        for first, last in chunks(len(residuals)):
            surprise[first:last] = self.scale.surprise(Squares.of(residuals, first, last, None))
        surprise *= self.factor
        return surprise

    def add_to(self, combined: Combined, rows: Array) -> Combined:
        """What all views and the network together make of a stretch."""
        surprise = self.surprise(self.network.residuals(rows))
        own = surprise.mean(axis=1, dtype=np.float64)
        share = WEIGHT / (TOTAL_WEIGHT + WEIGHT)
        return Combined(
            (1 - share) * combined.values + np.float32(share) * surprise,
            add_network(combined.rows, own),
            np.concatenate([(1 - share) * combined.by_part, share * own[None]]),
        )


def add_network(rows: NDArray[np.float64], network: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of what plain views and a network make of rows."""
    return np.asarray((TOTAL_WEIGHT * rows + WEIGHT * network) / (TOTAL_WEIGHT + WEIGHT))
