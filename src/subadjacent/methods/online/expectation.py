"""What each channel is expected to be, by ridge regression on its own rows before.

Each channel has two regressions. The near one has the rows just before a row as features, so that
its residual is large for a moment when an event begins. The sub-adjacent one has rows five and more
away, so that its residual stays large while an event lasts. Both have the seasonal profile as
features. They share sufficient statistics, which a forgetting factor discounts; a refit solves a
linear system and reads no row.

Shapes: B rows, C channels, F features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.methods.online.windows import windows

Array = NDArray[np.float64]

LAGS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 8), (9, 16), (17, 32), (33, 64))
"""First and last lag of the rows whose mean is a feature; the further away, the more rows."""

REACH = LAGS[-1][1]
"""The largest lag."""

FEATURES = 1 + len(LAGS) + 2
"""A constant, the means over lags, and the seasonal profile at the row and before it."""

SUB_ADJACENT = np.array([0, *range(5, FEATURES)])
"""Features of the sub-adjacent regression: all but those of the first four lags."""

NEAREST = LAGS[SUB_ADJACENT[1] - 1][0]
"""The smallest lag among them: five."""

PENALTY, PENALTY_PER_ROW, MIN_PENALTY = 1e-3, 1e-6, 0.5
"""Ridge penalty of a feature: a share of its own sum of squares, an amount for each row learned
from, and a constant, in rows."""

PRIOR_WEIGHT = 0.5
"""Weight of the row before in the near regression that the penalty draws towards, instead of 0."""

_LAG_MEANS = np.zeros((REACH, len(LAGS)))
for _number, (_first, _last) in enumerate(LAGS):
    # lag 1 is the last of the rows before
    _LAG_MEANS[REACH - _last : REACH - _first + 1, _number] = 1 / (_last - _first + 1)


def lag_features(rows: Array, seasonal: Array, count: int) -> Array:
    """Features of the last ``count`` of the rows, (T, C), as (B, C, F).

    ``seasonal`` are the features from the seasonal profile, (B, C, 2). Rows before the first are
    taken to equal it.
    """
    missing = REACH + count - len(rows)
    if missing > 0:
        rows = np.concatenate([np.repeat(rows[:1], missing, axis=0), rows])
    before = windows(rows[len(rows) - count - REACH : -1], REACH)
    features = np.empty((count, rows.shape[1], FEATURES))
    features[..., 0] = 1
    features[..., 1:-2] = before @ _LAG_MEANS
    features[..., -2:] = seasonal
    return features


class Expectation:
    """The near and the sub-adjacent regression of every channel."""

    def __init__(self, channels: int) -> None:
        self.rows = 0.0
        self.gram: Array = np.zeros((channels, FEATURES, FEATURES))
        self.cross_products: Array = np.zeros((channels, FEATURES))
        # near, then sub-adjacent; at first both expect the nearest row that they see
        self._weights: Array = np.zeros((2, channels, FEATURES))
        self._weights[0, :, 1] = self._weights[1, :, 5] = 1.0
        self._is_fit_due = False

    @property
    def weights(self) -> Array:
        """Coefficients of the near and of the sub-adjacent regression, (2, C, F)."""
        self.fit_if_due()
        return self._weights

    def residuals(self, features: Array, rows: Array) -> Array:
        """Rows less what the near and the sub-adjacent regression expect, (2, B, C)."""
        expected = features.swapaxes(0, 1) @ self.weights.transpose(1, 2, 0)  # (C, B, 2)
        residuals: Array = rows - expected.T
        return residuals

    def learn(self, features: Array, rows: Array, forgetting: float) -> None:
        """Add rows, (B, C), with their features; ``forgetting`` multiplies what was there."""
        self.fit_if_due()
        self.rows = self.rows * forgetting + len(features)
        self.gram *= forgetting
        self.cross_products *= forgetting
        by_channel = features.transpose(1, 2, 0)  # (C, F, B)
        self.gram += by_channel @ by_channel.transpose(0, 2, 1)
        self.cross_products += (by_channel @ rows.T[:, :, None])[..., 0]

    def relearn(
        self, channels: NDArray[np.intp], features: Array, rows: Array, weights: Array
    ) -> None:
        """Make the statistics of some channels anew, because their features have changed.

        ``features`` (T, C, F) and ``rows`` (T, C) are of all channels; ``weights`` (T,) of rows.
        """
        self.fit_if_due()
        for channel in channels:
            weighted = (features[:, channel] * weights[:, None]).T
            self.gram[channel] = weighted @ features[:, channel]
            self.cross_products[channel] = weighted @ rows[:, channel]

    def request_fit(self) -> None:
        """Have both regressions fitted to the rows until now, before they are used next."""
        self._is_fit_due = True

    def fit_if_due(self) -> None:
        """Do the fit that was requested, if there is one."""
        if self._is_fit_due:
            self._fit()
            self._is_fit_due = False

    def _fit(self) -> None:
        penalised = self.gram.copy()
        diagonal = penalised.reshape(len(penalised), -1)[:, :: FEATURES + 1]
        diagonal += PENALTY * diagonal + (PENALTY_PER_ROW * self.rows + MIN_PENALTY)
        near_targets = self.cross_products.copy()
        near_targets[:, 1] += MIN_PENALTY * PRIOR_WEIGHT
        weights = np.zeros(self._weights.shape)
        weights[0] = np.linalg.solve(penalised, near_targets[..., None])[..., 0]
        targets = self.cross_products[:, SUB_ADJACENT, None]
        solved = np.linalg.solve(penalised[:, SUB_ADJACENT[:, None], SUB_ADJACENT], targets)
        weights[1, :, SUB_ADJACENT] = solved[..., 0].T
        self._weights = weights

    def state(self) -> dict[str, NDArray[Any]]:
        """Statistics and coefficients; ``restore`` is the inverse."""
        return {
            "rows": np.array([self.rows]),
            "gram": self.gram,
            "cross_products": self.cross_products,
            "weights": self.weights,
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace statistics and coefficients by saved ones."""
        self.rows = float(state["rows"][0])
        self.gram, self.cross_products, self._weights = (
            np.array(state[name], dtype=np.float64)
            for name in ("gram", "cross_products", "weights")
        )
        self._is_fit_due = False
