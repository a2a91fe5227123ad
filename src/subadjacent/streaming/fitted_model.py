"""What a stream takes from a fitted detector: scores, profiles, and how it was set.

Shapes: B rows that come together, C channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.gaps import FilledRows
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.estimator import require_fitted
from subadjacent.errors import InputError
from subadjacent.methods.method import State
from subadjacent.methods.online.model import OnlineModel
from subadjacent.scoring.threshold import BUDGET, AlarmBudget
from subadjacent.streaming.alarms import AlarmRules
from subadjacent.streaming.model_scores import ModelScores, joined

Array = NDArray[np.float64]


class FittedModel:
    """A detector's part in the stream of one series.

    Parameters
    ----------
    detector
        Fitted; else it is refused.
    channels
        Of the series: those that it was fitted on.
    entity
        The entity of the model; an unseen entity is assessed by the pooled model.
    """

    def __init__(
        self, detector: BaseDetector, channels: tuple[str, ...], entity: str | None
    ) -> None:
        require_fitted(detector)
        if len(channels) != len(detector.channels_):
            raise InputError.of(
                "channels",
                f"must be the {len(detector.channels_)} that the detector was fitted on",
                f"got {len(channels)}",
            )
        model = detector.models_.of(entity)
        self.fill_limit = detector.fill_limit
        self.profiles = detector.habits_.of(entity)
        self.typical = np.asarray(model.typical_values, dtype=np.float64)
        self.rules = rules_of(detector)
        self.looks_ahead = model.reach.after != 0
        twin = None if detector.online_ is None else detector.online_.models.of(entity)
        self._online = model if twin is None else twin
        self._scores = ModelScores(model, twin, self.fill_limit)

    def training(self) -> Iterator[tuple[Array, Array]]:
        """The last rows of training, and their scores from the past alone.

        None of an entity that was not there, and of detectors saved before they kept these rows.
        """
        if isinstance(self._online, OnlineModel) and self._online.learned is not None:
            views = self._online.learner().views
            rows = views.standardiser.original_units(views.history.last(len(views.history)))
            yield rows, np.asarray(self._online.assess(rows).score, dtype=np.float64)

    def score(self, rows: Array, filled: FilledRows, begins: Sequence[int]) -> tuple[Array, Array]:
        """Scores of rows from the past alone, (B,), and those that became final.

        Parameters
        ----------
        rows
            As they came, NaN for what is missing.
        filled
            The same without gaps.
        begins
            Numbers of those that begin a segment.
        """
        if not begins and not filled.gaps.any():
            # one segment goes on without a gap, as nearly always
            return self._scores.at_once(filled.values), self._scores.final(rows)
        missing = filled.gaps > self.fill_limit
        bounds = sorted({0, *begins, len(rows)})
        at_once, final = [], []
        for begin, end in pairwise(bounds):
            here, start = slice(begin, end), begin in begins
            at_once.append(self._scores.at_once(filled.values[here], missing[here], start=start))
            final.append(self._scores.final(rows[here], start=start))
        return joined(at_once), joined(final)

    def finish(self) -> Array:
        """Final scores of all rows that wait."""
        return self._scores.finish()

    def state(self) -> State:
        """Where the scores stand."""
        return self._scores.state()

    def restore(self, state: State) -> None:
        """The inverse of ``state``, for the same detector."""
        self._scores.restore(state)


def rules_of(detector: BaseDetector) -> AlarmRules:
    """When alarms open and close, as the detector was set."""
    wanted = detector.contamination
    is_text = isinstance(wanted, str) and BUDGET.fullmatch(wanted)
    budget = wanted if is_text or isinstance(wanted, AlarmBudget) else "auto"
    return AlarmRules(adapt_after=detector.adapt_after, contamination=budget)
