"""A detector's results on some rows, from one pass: scores, alarms and explanations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.frames import Table
from subadjacent.data.series import TrainSeries
from subadjacent.decision.alarms import REPEAT_WITHIN, describe
from subadjacent.decision.baseline_profile import BaselineProfiles
from subadjacent.decision.decision import RowDecisions
from subadjacent.decision.evidence import Evidence
from subadjacent.detectors.alarms import Alarms
from subadjacent.errors import InputError

if TYPE_CHECKING:
    from subadjacent.detectors.base import BaseDetector
    from subadjacent.report.in_notebook import ReportPage


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assessment:
    """Some rows, and a detector's results on them.

    Results come in the shape of the input: an array for an array, a frame or series with the
    same index for a frame, a list or dict for several entities.

    Parameters
    ----------
    table
        The rows, and the way back to the input's shape.
    evidence
        The models' evidence, one a series.
    decisions
        The decisions on their scores, one a series.
    profiles
        The profiles of each series' channels, learned from training rows.
    detector
        The detector that assessed them.
    """

    table: Table
    evidence: tuple[Evidence, ...]
    decisions: tuple[RowDecisions, ...]
    profiles: tuple[BaselineProfiles, ...]
    detector: BaseDetector

    def __repr__(self) -> str:
        """The size of the data, and how many events there are in it."""
        rows = sum(map(len, self.series))
        events = sum(len(assessed.events) for assessed in self.decisions)
        peak = max(float(assessed.severity.max()) for assessed in self.decisions)
        return (
            f"<Assessment of {rows:,} rows, {len(self.series[0].channels):,} channels, "
            f"{len(self.series):,} series: {events:,} events, severity up to {peak:.1f}>"
        )

    def _repr_html_(self) -> str:
        """The headline and the table of alarms that notebooks show."""
        return self.alarms()._repr_html_()

    @property
    def series(self) -> tuple[TrainSeries, ...]:
        """The rows, one series an entity."""
        return self.table.series

    @property
    def scores(self) -> Any:
        """One score a row, high = abnormal."""
        return self._restored(self._scores(), "score")

    @property
    def normalized_scores(self) -> Any:
        """Severities: 1 is the level that normal rows cross as often as requested, 2 a tenth."""
        scores = [decided.severity for decided in self.decisions]
        return self._restored(scores, "normalized_score")

    @property
    def thresholds(self) -> Any:
        """The threshold of each row; it adapts to a permanent level shift."""
        thresholds = [decided.rows.threshold for decided in self.decisions]
        return self._restored(thresholds, "threshold")

    @property
    def anomalous(self) -> Any:
        """1 for every row of an alarm, else 0."""
        labels = [decided.anomalous.astype(int) for decided in self.decisions]
        return self._restored(labels, "anomalous")

    @property
    def probabilities(self) -> Any:
        """Confidence that a row is normal (first column) or anomalous (second)."""
        probabilities = [decided.probability for decided in self.decisions]
        pairs = [np.column_stack([1 - anomalous, anomalous]) for anomalous in probabilities]
        return self._restored(pairs, ("normal", "anomalous"))

    @property
    def p_values(self) -> Any:
        """Upper bound of the chance that a normal row scores as high; None if not conformal."""
        p_values = [decided.p_values for decided in self.decisions]
        known = [values for values in p_values if values is not None]
        return self._restored(known, "p_value") if len(known) == len(p_values) else None

    @property
    def misfits(self) -> list[str | None]:
        """Entities that have drifted so far from their training rows that their model is no use."""
        return [
            series.entity
            for series, decided in zip(self.series, self.decisions, strict=True)
            if not decided.fits
        ]

    @property
    def by_channel(self) -> Any:
        """How unusual each channel is at each row, (time, channels)."""
        by_channel = [evidence.by_channel for evidence in self.evidence]
        return self._restored(by_channel, self.series[0].channels)

    @property
    def expected(self) -> Any:
        """The expected value of each channel, (time, channels); None where a model expects none."""
        expected = [evidence.expected for evidence in self.evidence]
        known = [values for values in expected if values is not None]
        return (
            self._restored(known, self.series[0].channels) if len(known) == len(expected) else None
        )

    @property
    def traces(self) -> list[Mapping[str, NDArray[Any]]]:
        """Named rows that led to the scores, one table a series."""
        return [evidence.traces for evidence in self.evidence]

    def alarms(
        self,
        *,
        shortest: int = 1,
        channels: int = 5,
        again: int = REPEAT_WITHIN,
    ) -> Alarms:
        """One alarm for each event, in time order within each entity.

        Rows that are ``anomalous`` are where scores stand out, and scores are averages over rows;
        an alarm begins and ends where the channels that explain it depart.

        Parameters
        ----------
        shortest
            Leave out events of fewer rows.
        channels
            Number of channels to name as causes.
        again
            An event of the same channels as another, with at most this many rows between them,
            repeats it.
        """
        alarms = Alarms([], self)
        for series, evidence, decided, profiles in zip(
            self.series, self.evidence, self.decisions, self.profiles, strict=True
        ):
            alarms += describe(
                series,
                evidence,
                decided,
                profiles,
                shortest=shortest,
                channels=channels,
                again=again,
            )
        return alarms

    def plot(
        self, entity: str | None = None, *, alarms: Alarms | None = None, **options: Any
    ) -> Any:
        """Draw one entity's rows, with the worst alarm's channel, the alarms and the severity.

        Returns a matplotlib figure. Without matplotlib it is the report, which a notebook shows.

        Parameters
        ----------
        entity
            Which one to draw; that of the worst alarm when left out.
        alarms
            Those to shade; all of them when left out.
        options
            Further parameters of ``subadjacent.report.figures.figure_series``: ``channels``,
            ``rows``, ``labels``, ``fitted`` and ``traces``.
        """
        # the report is a layer above detectors
        from subadjacent.report.in_notebook import plot

        return plot(self, entity, self.alarms() if alarms is None else alarms, options)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "Anomalies",
        labels: Any = None,
    ) -> ReportPage:
        """The page that explains every alarm; a notebook shows it.

        Parameters
        ----------
        path
            An HTML file to write it to.
        title
            Name of the page.
        labels
            The truth where it is known, 0 or 1 a row, in the shape of the input; only drawn.
        """
        from subadjacent.report.in_notebook import report

        page = report(self, title=title, labels=labels)
        if path is not None:
            page.save(Path(path))
        return page

    def _scores(self) -> list[NDArray[Any]]:
        return [evidence.score for evidence in self.evidence]

    def _restored(self, values: list[NDArray[Any]], names: Any) -> Any:
        return self.table.restore(values, names)


def check_scores(series: TrainSeries, scores: NDArray[Any]) -> None:
    """Refuse scores that are NaN: compared with a threshold they would count as normal."""
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        of = "" if series.entity is None else f" of {series.entity}"
        raise InputError.of(
            "X",
            "must have finite scores",
            f"got {scores[wrong[0]]} for row {series.label(int(wrong[0]))}{of}, and {len(wrong):,} "
            f"such rows in all",
            "its values are too large for the model, or the model is damaged; fit it anew",
        )
