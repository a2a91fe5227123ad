"""Which surprises begin a new event, and how severe they are by their return period.

A surprise is a new event's if it exceeds the last such surprise, which decays, by a step. So an
event is reported when it begins and whenever it has grown by a step, not while it merely lasts. An
event that grows slowly is reported as well: it is compared with the last report, not with the row
before.

Severity is the return period by peaks over threshold, with a prior. Surprise has one unit in all
series, so that the peaks of many series are a good prior for each. The series corrects the prior,
the more the longer it is followed. Peaks over each of many thresholds are counted, up to the one
that is exceeded once in ``TAIL_RETURN_PERIOD`` rows; beyond that one the excess is exponential. A
lower threshold would not do: a series of many channels has so many peaks over it that their mean
excess says little of the highest.

Shapes: B rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RETURN_PERIOD = 5_000.0
"""Rows in which one false alarm is accepted, where no budget was requested."""

LOG_RETURN_PERIOD = math.log(RETURN_PERIOD)

LOWEST = 5.0
"""The lowest threshold, of surprise."""

SPACING, THRESHOLDS = 0.25, 400
"""Surprise between two thresholds, and how many there are; what is higher counts at the last."""

TAIL_RETURN_PERIOD = 1_000.0
"""Rows between peaks over the threshold where the tail begins: six are in memory, and the accepted
return period of 5,000 rows is not far beyond. 500 and 2,000 differ by up to 8 points either way
(reproduce/log.md, "Alarms of many channels")."""

PRIOR_RETURN_PERIOD, PRIOR_EXCESS = 770.0, 2.2
"""Rows between peaks over the lowest threshold, and their mean excess, over 126 generated streams
outside of anomalies (reproduce/log.md, "A surprise is held against what was told")."""

PRIOR_ROWS, PRIOR_PEAKS = 5_000.0, 20.0
"""Weight of the prior: as if this many rows had been seen, and the excess of this many peaks. 1,000
rows and 5 peaks cost 2 points of the live score (the log, "A surprise is held against what was
told"); 50 peaks change it by 1 at most ("Alarms of many channels")."""

_THRESHOLDS = LOWEST + SPACING * np.arange(THRESHOLDS)
_PRIOR_SHARES = np.exp(-(_THRESHOLDS - LOWEST) / PRIOR_EXCESS)
_MIDDLES = _THRESHOLDS + SPACING / 2


class PeaksOverThreshold:
    """Counts of peaks, discounted by a forgetting factor, and the tail that was fitted to them.

    Parameters
    ----------
    return_period
        Rows in which one false alarm is accepted. It is the return period of severity 1.
    channels
        Of the series: the prior has the root of them times the peaks of one channel. Independent
        ones would have as many times, but channels of one machine depend on each other
        (reproduce/log.md, "Alarms of many channels").
    """

    def __init__(self, return_period: float, channels: int = 1) -> None:
        self.return_period = return_period
        self.rows = 0.0
        self.counts: Array = np.zeros(THRESHOLDS)
        prior_peaks = math.sqrt(channels) * PRIOR_ROWS / PRIOR_RETURN_PERIOD
        self._prior_peaks: Array = prior_peaks * _PRIOR_SHARES
        self._is_fitted = False

    def severity(self, surprise: Array) -> Array:
        """Log of the return period, as a share of the log of the accepted one, (B,).

        A row without new-event surprise has severity 0.
        """
        if not surprise.any():
            # as nearly always
            return np.zeros(len(surprise))
        self.fit()
        thresholds, log_periods = self._counted
        below = np.minimum(surprise - LOWEST, 0) / PRIOR_EXCESS
        beyond = np.maximum(surprise - thresholds[-1], 0) / self._mean_excess
        log_period = np.maximum(np.interp(surprise, thresholds, log_periods) + below + beyond, 0)
        severity: Array = np.where(surprise > 0, log_period, 0) / math.log(self.return_period)
        return severity

    def learn(self, surprise: Array, forgetting: float) -> None:
        """Count the new-event surprise of rows, (B,); ``forgetting`` multiplies older counts."""
        self.rows = self.rows * forgetting + len(surprise)
        self.counts *= forgetting
        peaks = surprise[surprise > LOWEST]
        if len(peaks):
            bins = np.minimum(((peaks - LOWEST) / SPACING).astype(np.intp), THRESHOLDS - 1)
            self.counts += np.bincount(bins, minlength=THRESHOLDS)
        self._is_fitted = False

    def fit(self) -> None:
        """Fit the tail, if counts have changed since it was fitted."""
        if not self._is_fitted:
            self._fit()

    def _fit(self) -> None:
        peaks = np.add.accumulate(self.counts[::-1])[::-1]
        rates = (peaks + self._prior_peaks) / (self.rows + PRIOR_ROWS)
        # the highest threshold that is exceeded often enough; the lowest if none is
        tail = max(int((rates >= 1 / TAIL_RETURN_PERIOD).sum()) - 1, 0)
        self._counted = _THRESHOLDS[: tail + 1], -np.log(rates[: tail + 1])
        excess = float(self.counts[tail:] @ (_MIDDLES[tail:] - _THRESHOLDS[tail]))
        prior_excess = PRIOR_PEAKS * PRIOR_EXCESS
        self._mean_excess = (excess + prior_excess) / (float(peaks[tail]) + PRIOR_PEAKS)
        self._is_fitted = True

    def state(self) -> dict[str, NDArray[Any]]:
        """The counts; ``restore`` is the inverse."""
        return {"rows": np.array([self.rows]), "counts": self.counts}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the counts by saved ones."""
        self.rows = float(state["rows"][0])
        self.counts = np.array(state["counts"], dtype=np.float64)
        self._is_fitted = False


STEP = 3.0
"""Surprise by which the last new-event surprise must be exceeded: twenty times rarer. 2 and 4 are
as good within chance (reproduce/log.md, "A surprise is held against what was told")."""

TIME_CONSTANT = 500.0
"""Rows in which the last new-event surprise decays to a third. 300 to 700 are as good (same
entry)."""

_DECAY = math.exp(-1 / TIME_CONSTANT)


class NewEventFilter:
    """Holds the last new-event surprise, as far as it has decayed; ``step`` must exceed it."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self.last_reported = 0.0

    def filter(self, surprise: Array) -> Array:
        """The surprise of rows, (B,), that begin or enlarge an event; 0 elsewhere."""
        new_event = np.zeros(len(surprise))
        for row, amount in enumerate(surprise.tolist()):
            self.last_reported *= _DECAY
            if amount >= self.last_reported + self._step:
                new_event[row] = self.last_reported = amount
        return new_event

    def state(self) -> dict[str, NDArray[Any]]:
        """The last new-event surprise; ``restore`` is the inverse."""
        return {"last_reported": np.array([self.last_reported])}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Replace the last new-event surprise by a saved one."""
        self.last_reported = float(state["last_reported"][0])
