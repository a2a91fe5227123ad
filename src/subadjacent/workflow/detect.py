"""Files → a fitted detector → one assessment → model, scores, alarms and report on disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from subadjacent.runtime import Watch, ignore
from subadjacent.workflow.fit import TrainingRows, rows_to_fit_on
from subadjacent.workflow.report import FileAssessment, Fitted
from subadjacent.workflow.tables import ScoreColumns, alarm_table, keys_of, scores_table
from subadjacent.workflow.writing import (
    check_output_place,
    save_model,
    whole_output,
    write_table,
    write_text,
)

if TYPE_CHECKING:
    from subadjacent.data.files import Columns, FileRows, Rows
    from subadjacent.detectors.alarms import Alarms
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)


class Findings(NamedTuple):
    """The alarms found in some rows, and the files that were written.

    ``misfits`` are the entities that the model no longer fits: alarms there say little.
    ``warnings`` are the report's, the most important first; ``headline`` is the report's too.
    """

    alarms: Alarms
    rows: int
    files: tuple[Path, ...]
    misfits: tuple[str | None, ...]
    warnings: tuple[str, ...]
    headline: str


def detect(
    detector: BaseDetector,
    rows: Rows,
    folder: Path,
    *,
    title: str,
    training: TrainingRows = TrainingRows(),  # noqa: B008 — frozen
    remarks: Sequence[str] = (),
    watch: Watch = ignore,
) -> Findings:
    """Fit on the first rows, assess all of them once, and write the findings to a folder.

    Parameters
    ----------
    detector
        Not fitted yet; afterwards it is, and lies in the folder as ``model``.
    rows
        From ``open_files``.
    folder
        Gets ``model``, ``scores.csv``, ``alarms.csv`` and ``report.html``. Those of an older run
        are replaced in one step, once all are there.
    title
        Of the report.
    training
        Which rows to fit on.
    remarks
        Further warnings for the report; read once the rows are assessed.
    watch
        Called as work goes on.
    """
    check_output_place(folder)
    file_rows = rows.whole(labels="take")
    fitted = training.of(file_rows.frame, rows.read_time)
    detector.fit(rows_to_fit_on(file_rows.frame, fitted), watch=watch)
    if not detector.saveable:
        log.warning("no model is written: another library's detector can only be pickled")
    return write_findings(
        detector,
        file_rows,
        folder,
        title=title,
        columns=rows.named,
        fitted=fitted.to_numpy(),
        notes=rows.notes,
        remarks=remarks,
        save=detector.saveable,
        watch=watch,
    )


def write_findings(
    detector: BaseDetector,
    file_rows: FileRows,
    folder: Path,
    *,
    title: str,
    columns: Columns,
    fitted: Fitted = None,
    notes: Sequence[str] = (),
    remarks: Sequence[str] = (),
    save: bool = False,
    watch: Watch = ignore,
) -> Findings:
    """Assess rows once with a fitted detector; write scores, alarms and report to a folder.

    ``save`` adds the model.
    """
    from subadjacent.report.headline import headline
    from subadjacent.report.text import warnings

    found = FileAssessment(detector, file_rows, watch)
    assessed = ScoreColumns.of(found.assessment)
    table = scores_table(keys_of(file_rows.frame), assessed, columns, file_rows.labels)
    page = found.page(title, notes, fitted, remarks)
    with whole_output(folder) as draft:
        if save:
            save_model(detector, draft / "model")
        files = [draft / name for name in ("scores.csv", "alarms.csv", "report.html")]
        write_table(table, files[0])
        write_table(alarm_table(found.alarms), files[1])
        write_text(page, files[2])
    written = tuple(folder / file.name for file in files)
    return Findings(
        found.alarms,
        len(file_rows),
        written,
        misfits=tuple(found.assessment.misfits),
        warnings=tuple(warnings(detector, found.assessment, remarks)),
        headline=headline(found.assessment, found.alarms),
    )
