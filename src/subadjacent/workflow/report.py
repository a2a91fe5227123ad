"""The page about an assessment, and its warnings."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from subadjacent.runtime import Watch, ignore, uncounted
from subadjacent.workflow.writing import write_text

if TYPE_CHECKING:
    from subadjacent.data.files import FileRows, Rows
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)

Fitted = NDArray[np.bool_] | None
"""Which rows were fitted on, one value a row; None where none of them were."""


class FileAssessment:
    """A detector's one assessment of the rows of files: its alarms, and the page about it."""

    def __init__(self, detector: BaseDetector, rows: FileRows, watch: Watch = ignore) -> None:
        self.detector, self.rows, self._watch = detector, rows, watch
        self.assessment = detector.assess(rows.frame, watch=watch)
        self.alarms = self.assessment.alarms()
        warn_of_misfits(self.assessment.misfits)

    def page(
        self,
        title: str,
        notes: Sequence[str] = (),
        fitted: Fitted = None,
        remarks: Sequence[str] = (),
    ) -> str:
        """The page, with metrics beside those of a random score where there are labels.

        Rows that were fitted on are left out of the metrics. ``remarks`` are further warnings.
        """
        from subadjacent.evaluation.summary import with_controls
        from subadjacent.report.page import page

        assessment, labels = self.assessment, self.rows.labels
        facts = {"Read as": "; ".join(notes)} if notes else {}
        assessed = np.ones(len(self.rows), dtype=bool) if fitted is None else ~fitted
        if fitted is not None:
            facts["Fitted on"] = f"{int(fitted.sum()):,} of {len(fitted):,} rows, the first ones"
        metrics = None
        if labels is not None and assessed.any():
            scores = assessment.scores.to_numpy()[assessed]
            alarmed = assessment.anomalous.to_numpy()[assessed]
            with uncounted("comparing with labels", self._watch):
                metrics = with_controls(scores, labels[assessed], alarmed, np.random.default_rng(0))
            if fitted is not None:
                facts["Metrics of"] = f"the {int(assessed.sum()):,} rows after those"
        return page(
            self.detector,
            assessment,
            title=title,
            alarms=self.alarms,
            labels=labels,
            fitted=fitted,
            metrics=metrics,
            facts=facts,
            remarks=remarks,
            watch=self._watch,
        )


def report(
    detector: BaseDetector, rows: Rows, page: Path, *, title: str, watch: Watch = ignore
) -> None:
    """Assess the rows of files once with a fitted detector, and write the page about them."""
    found = FileAssessment(detector, rows.whole(labels="take"), watch)
    write_text(found.page(title, rows.notes), page)


def warn_of_misfits(entities: Sequence[str | None]) -> None:
    """Log which series a model no longer fits."""
    if entities:
        from subadjacent.report.text import misfits

        log.warning("%s", "\n".join(misfits(entities)))
