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
    from subadjacent.decision.alarms import Alarm
    from subadjacent.detectors.assessment import Assessment
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)

Fitted = NDArray[np.bool_] | None
"""Which rows were fitted on, one value a row; None where none of them were."""


def report(
    detector: BaseDetector, rows: Rows, page: Path, *, title: str, watch: Watch = ignore
) -> None:
    """Assess the rows of files once with a fitted detector, and write the page about them."""
    file_rows = rows.whole(labels="take")
    assessment = detector.assess(file_rows.frame, watch=watch)
    alarms = assessment.alarms()
    warn_of_misfits(assessment.misfits)
    text = build_page(
        detector, assessment, file_rows, alarms, title=title, notes=rows.notes, watch=watch
    )
    write_text(text, page)


def warn_of_misfits(entities: Sequence[str | None]) -> None:
    """Log which series a model no longer fits."""
    if entities:
        from subadjacent.report.text import misfits

        log.warning("%s", "\n".join(misfits(entities)))


def build_page(
    detector: BaseDetector,
    assessment: Assessment,
    file_rows: FileRows,
    alarms: Sequence[Alarm],
    *,
    title: str,
    notes: Sequence[str] = (),
    remarks: Sequence[str] = (),
    fitted: Fitted = None,
    watch: Watch = ignore,
) -> str:
    """The page, with metrics beside those of a random score where there are labels.

    Rows that were fitted on are left out of the metrics.
    """
    from subadjacent.evaluation.summary import with_controls
    from subadjacent.report.page import page

    facts = {"Read as": "; ".join(notes)} if notes else {}
    judged = np.ones(len(file_rows), dtype=bool) if fitted is None else ~fitted
    if fitted is not None:
        facts["Fitted on"] = f"{int(fitted.sum()):,} of {len(fitted):,} rows, the first ones"
    metrics = None
    if file_rows.labels is not None and judged.any():
        scores = assessment.scores.to_numpy()[judged]
        alarmed = assessment.anomalous.to_numpy()[judged]
        with uncounted("comparing with labels", watch):
            metrics = with_controls(
                scores, file_rows.labels[judged], alarmed, np.random.default_rng(0)
            )
        if fitted is not None:
            facts["Metrics of"] = f"the {int(judged.sum()):,} rows after those"
    return page(
        detector,
        assessment,
        title=title,
        alarms=alarms,
        labels=file_rows.labels,
        fitted=fitted,
        metrics=metrics,
        facts=facts,
        remarks=remarks,
        watch=watch,
    )
