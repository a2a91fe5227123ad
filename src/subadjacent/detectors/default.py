"""The default: each point is expected from its sub-adjacent neighbours, or was seen before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from subadjacent.detectors.base import BaseDetector
from subadjacent.methods.method import Method
from subadjacent.methods.online.method import OnlineMethod
from subadjacent.methods.views.method import ViewsMethod
from subadjacent.methods.views.settings import ViewSettings


class SubAdjacentDetector(BaseDetector):
    """Finds rows that cannot be expected from points near, but not next to, them.

    Each point is expected from its *sub-adjacent* neighbours, in a linear way: by their values, by
    how they depart from their own mean, and by points further away. The residual, by itself and
    given the residuals of the other channels, is averaged on three scales, compared with the
    residuals of held-out training rows, and put through a logarithm. The mean over channels, scales
    and models is the score, in units of the score that one training row in a hundred exceeds. The
    distance of a value from its channel's mean counts as a model of its own. Added to the score are
    the distances of the row, and of each channel's window, to the nearest training row and window.

    One model an entity; seconds on a laptop, without any label and without torch.

    Parameters
    ----------
    near, far : int
        The band: neighbours at a distance of ``near`` to ``far`` rows.
    smoothing : int
        Rows that the score is averaged over: the mean of this average, one over three times as
        many rows, and the score as it is.
    lookahead : "full" or int
        Rows after a row that its score may depend on. "full": about 450, more where cycles are
        long. With 0 a score never changes when more rows come: an online model learns while it
        watches, and compares rows with the training rows without any average (``smoothing``).
    views : "all" or sequence of str
        The views that take part: "level", "rhythm", "local rhythm", "slow rhythm", "state" and
        "shape".
    min_deviation : float
        Share of a channel's usual deviation: a departure below it from what the other channels
        say does not matter, however exactly they said it in training. Departures of a channel
        from its own past matter from a third of it on.
    contamination : "auto", float, str or threshold object
        Where to set the threshold, without labels. "auto": so that at most about a third of the
        alarms is false, as far as normal rows tell. A float: the share of normal rows above it.
        "1/week": a budget of false alarms. Or a threshold object, such as ``Conformal(0.01)``: any
        that has ``fit(scores)`` and ``predict(scores)``.
    adapt_after : int or None
        Rows after which a permanent level shift is the new normal: one alarm, not an endless one.
        None: training rows alone say what is normal.
    fill_limit : int
        Longest gap, in rows, that is filled with the value before it; a longer one is an alarm.

    Examples
    --------
    >>> import numpy as np
    >>> from subadjacent import SubAdjacentDetector
    >>> time = np.arange(2000)
    >>> normal = np.column_stack([np.sin(time / 8), np.cos(time / 8)])
    >>> broken = normal[:500].copy()
    >>> broken[300:310, 1] = 1.0
    >>> detector = SubAdjacentDetector().fit(normal)
    >>> worst = max(detector.alarms(broken), key=lambda alarm: alarm.severity)
    >>> worst.causes[0].channel
    'channel_1'
    """

    def __init__(
        self,
        *,
        near: int = 5,
        far: int = 30,
        smoothing: int = 20,
        lookahead: int | str = "full",
        views: str | Sequence[str] = "all",
        min_deviation: float = 0.1,
        contamination: Any = "auto",
        adapt_after: int | None = 300,
        fill_limit: int = 10,
    ) -> None:
        self.near = near
        self.far = far
        self.smoothing = smoothing
        self.lookahead = lookahead
        self.views = views
        self.min_deviation = min_deviation
        self.contamination = contamination
        self.adapt_after = adapt_after
        self.fill_limit = fill_limit

    def _method(self) -> Method:
        settings = self._settings()
        return OnlineMethod(settings) if settings.lookahead == 0 else ViewsMethod(settings)

    def _online_method(self) -> OnlineMethod | None:
        return None if self._settings().lookahead == 0 else super()._online_method()

    def _settings(self) -> ViewSettings:
        return ViewSettings(
            self.near, self.far, self.smoothing, self.lookahead, self.views, self.min_deviation
        )
