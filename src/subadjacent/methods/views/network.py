"""A network's residuals as one more view, beside the plain views.

Shapes: T rows of a segment, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from subadjacent.decision.view_facts import FACTS
from subadjacent.methods.views.residual_scale import ChannelScale, Squares, chunks
from subadjacent.methods.views.view import NETWORK, TOTAL_WEIGHT

if TYPE_CHECKING:
    # torch is there only where a network is
    from subadjacent.methods.neural.model import EntityNetwork

# weight of a network's residual, relative to one of a plain view by itself
WEIGHT = FACTS[NETWORK].weight
SHARE = WEIGHT / (TOTAL_WEIGHT + WEIGHT)


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
        """The surprise of the residuals of a segment, (T, C)."""
        surprise = np.empty(residuals.shape, dtype=np.float32)
        for first, last in chunks(len(residuals)):
            surprise[first:last] = self.scale.surprise(Squares.of(residuals, first, last, None))
        surprise *= self.factor
        return surprise


def add_network(rows: NDArray[np.float64], network: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of the surprise of rows to the plain views and to a network."""
    return np.asarray((TOTAL_WEIGHT * rows + WEIGHT * network) / (TOTAL_WEIGHT + WEIGHT))
