"""An LSTM that forecasts the next row: the plain baseline.

Hundman, Constantinou, Laporte, Colwell and Soderstrom, "Detecting Spacecraft Anomalies Using LSTMs
and Nonparametric Dynamic Thresholding", KDD 2018.

Faithful: two layers of 80 units, dropout of 0.3 between them, the squared error of the forecast
smoothed over time by the detector, and the paper's threshold (``decision/dynamic.py``), which is
the detector's default. Ours: all channels are forecast by one network, the next row and not the
next ten; a window's first half only starts the forecast.

Shapes: B windows, N points in a window, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn import functional

from subadjacent.decision.threshold import DynamicLevel
from subadjacent.rivals.base import Recurrent, RivalConfig, RivalDetector, setting


@dataclass(frozen=True, kw_only=True)
class LSTMConfig(RivalConfig):
    """The settings of the forecaster."""

    tiny: ClassVar = {"width": 4, "layers": 1, "dropout": 0.0}
    # the paper's history of a forecast
    usual_window: ClassVar = 250

    # units of a layer, and layers
    width: int = 80
    layers: int = 2
    # share of units left out between layers in training
    dropout: float = setting(0.3, least=0, most=0.99)


class LSTM(Recurrent):
    """Forecasts each row from all rows before it in its window.

    Not shared out over processes: torch drops out values inside its layers, of all windows at once.
    """

    configured_by = LSTMConfig
    recordable = True
    config: LSTMConfig

    def __init__(self, config: LSTMConfig) -> None:
        super().__init__(config)
        self.remember = nn.LSTM(
            config.channels,
            config.width,
            config.layers,
            batch_first=True,
            dropout=config.dropout if config.layers > 1 else 0.0,
        )
        self.forecast = nn.Linear(config.width, config.channels)

    def forward(self, windows: Tensor) -> Tensor:
        """A forecast of every point of windows (B, N, C) from those before it.

        Nothing comes before the first: its forecast is the mean, which is zero.
        """
        states, _ = self.remember(windows[:, :-1])
        return functional.pad(self.forecast(states), (0, 0, 1, 0))

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002 — steady
        """The mean squared error of the forecasts."""
        return [(self(windows) - windows)[:, 1:].square().mean()]


@dataclass(kw_only=True, eq=False, repr=False)
class LSTMDetector(RivalDetector):
    """Finds rows that an LSTM did not forecast.

    Hundman et al. (KDD 2018); the module's docstring says what is faithful.

    Parameters
    ----------
    smoothing : int
        Number of errors that are averaged: that of the row, and those before it; the paper's 105.
    contamination : threshold object, "auto", float or str
        ``DynamicLevel()``, the paper's threshold: the errors of a segment stand out most above it.
    others
        As of every ``NetworkDetector``. A window has 250 points, unless it is given.
    """

    rival = LSTM

    smoothing: int = 105
    contamination: Any = DynamicLevel()  # noqa: RUF009 — frozen, and fitted as a copy
