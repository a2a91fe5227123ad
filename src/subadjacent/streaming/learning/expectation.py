"""What a channel is expected to be, from its own rows before: a ridge that forgets.

Two ridges share their sufficient statistics. The near one sees the rows just before a row, so
that it is off for a moment when something begins; the sub-adjacent one sees rows five and more
away, so that it stays off while something lasts. Both know what is usual at this time of the
channel's cycle. Old statistics fade, and a new fit is a solve.

Shapes: B rows, C channels, F features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.streaming.learning.windows import windows

Array = NDArray[np.float64]

LAGS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 8), (9, 16), (17, 32), (33, 64))
"""Rows before a row, first and last, whose mean is a feature; it is wider further away."""

REACH = LAGS[-1][1]
"""Rows before a row that features are made of."""

FEATURES = 1 + len(LAGS) + 2
"""A constant, the means, and the season now and some rows ago."""

NEAR = np.arange(FEATURES)
SUB_ADJACENT = np.array([0, *range(5, FEATURES)])
"""Features of each ridge: all, and those of rows at least five away."""

PENALTY, LEAST_PENALTY = 1e-3, 0.5
"""Share of a feature's own square that is added to it, and what is added at least, in rows."""

PERSISTS = 0.5
"""What the row before counts for until rows say more."""

_MEANS = np.zeros((REACH, len(LAGS)))
for _number, (_first, _last) in enumerate(LAGS):
    # the row before is the last of the rows that features are made of
    _MEANS[REACH - _last : REACH - _first + 1, _number] = 1 / (_last - _first + 1)


def features(rows: Array, season: Array, new: int) -> Array:
    """Of the last ``new`` of the rows, (T, C), and what their season says, (B, C, 2): (B, C, F)."""
    missing = REACH + new - len(rows)
    if missing > 0:
        rows = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows])
    before = windows(rows[len(rows) - new - REACH : -1], REACH)
    found = np.empty((new, rows.shape[1], FEATURES))
    found[..., 0] = 1
    found[..., 1:-2] = before @ _MEANS
    found[..., -2:] = season
    return found


class Expectation:
    """Both ridges of every channel."""

    def __init__(self, channels: int) -> None:
        self.rows = 0.0
        self.products: Array = np.zeros((channels, FEATURES, FEATURES))
        self.targets: Array = np.zeros((channels, FEATURES))
        # of the near ridge and of the sub-adjacent one
        self.weights: Array = np.zeros((2, channels, FEATURES))
        self.weights[0, :, 1] = self.weights[1, :, 5] = 1.0

    def residuals(self, seen: Array, rows: Array) -> tuple[Array, Array]:
        """What is left of rows, (B, C), by the near ridge and by the sub-adjacent one."""
        expected = np.einsum("bcf,kcf->kbc", seen, self.weights)
        return rows - expected[0], rows - expected[1]

    def learn(self, seen: Array, values: Array, keep: float) -> None:
        """Take in rows' features, (B, C, F), and values, (B, C), after the older ones faded."""
        self.rows = self.rows * keep + len(seen)
        self.products *= keep
        self.targets *= keep
        by_channel = seen.transpose(1, 2, 0)  # (C, F, B)
        self.products += by_channel @ by_channel.transpose(0, 2, 1)
        self.targets += (by_channel @ values.T[:, :, None])[..., 0]

    def replace(
        self, channels: NDArray[np.intp], seen: Array, values: Array, weights: Array
    ) -> None:
        """Take in rows anew for some channels, whose features are other ones now.

        ``seen`` are the features of all channels, (T, C, F), ``values`` (T, C), ``weights`` (T,).
        """
        for channel in channels:
            weighted = (seen[:, channel] * weights[:, None]).T
            self.products[channel] = weighted @ seen[:, channel]
            self.targets[channel] = weighted @ values[:, channel]

    def solve(self) -> None:
        """Fit both ridges to what was taken in."""
        ridge = self.products.copy()
        diagonal = np.einsum("cff->cf", ridge)
        diagonal += PENALTY * diagonal + (1e-6 * self.rows + LEAST_PENALTY)
        targets = self.targets.copy()
        targets[:, 1] += LEAST_PENALTY * PERSISTS
        weights = np.zeros_like(self.weights)
        weights[0] = np.linalg.solve(ridge, targets[..., None])[..., 0]
        few = ridge[:, SUB_ADJACENT[:, None], SUB_ADJACENT]
        weights[1, :, SUB_ADJACENT] = np.linalg.solve(few, self.targets[:, SUB_ADJACENT, None])[
            ..., 0
        ].T
        self.weights = weights

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learned; ``restore`` is the inverse."""
        return {
            "rows": np.array([self.rows]),
            "products": self.products,
            "targets": self.targets,
            "weights": self.weights,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was learned."""
        self.rows = float(state["rows"][0])
        for name in ("products", "targets", "weights"):
            setattr(self, name, np.array(state[name], dtype=np.float64))
