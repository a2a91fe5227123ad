"""A fit in a process of its own: it takes a core and much memory, and can be killed.

``python -m subadjacent.service.fitting FILE FOLDER SHARE COLUMNS`` fits on the first share of the
rows of a file of a limited number of columns, and writes a model folder. Standard output has a JSON
object a line: progress, then the number of rows it was fitted on, or an error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from subadjacent.errors import SubAdjacentError
from subadjacent.runtime import Progress
from subadjacent.service.body_limits import MAX_FITTED_ROWS, check_table
from subadjacent.service.problems import describe_error

NICE = 5
"""Requests come first."""


def main(file: str, folder: str, share: str, columns: str) -> None:
    """Fit a detector on a file, save it, and report progress."""
    from subadjacent.data.files import open_files
    from subadjacent.detectors.default import SubAdjacentDetector
    from subadjacent.workflow.fit import TrainingRows, fit
    from subadjacent.workflow.writing import save_model

    os.nice(NICE)
    try:
        _report(step="reading")
        check_table(Path(file), max_rows=MAX_FITTED_ROWS, max_columns=int(columns))
        rows = open_files([file])
        detector = SubAdjacentDetector()
        fitted = fit(detector, rows, TrainingRows(float(share)), _report_progress)
        save_model(detector, Path(folder))
    except SubAdjacentError as error:
        _report(error=describe_error(error, "the file").replace(file, "the file"))
    except MemoryError:
        _report(error="the file must fit into memory; it does not: send fewer rows")
    else:
        _report(rows=fitted)


def _report_progress(progress: Progress) -> None:
    _report(step=progress.stage, done=progress.done, total=progress.total)


def _report(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
