"""From files to findings on disk, in one pass over the rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from subadjacent import SubAdjacentDetector, load
from subadjacent.data.files import open_files
from subadjacent.runtime import Progress
from subadjacent.workflow.detect import Findings, detect
from workflow.level import PASSES, LevelDetector

ROWS = 400


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Two machines, each with a break in its clock and something wrong at the end."""
    frames = []
    for number, name in enumerate(("press", "drill")):
        values = np.random.default_rng(number).normal(size=(ROWS, 2))
        values[-30:-20] += 9
        times = [datetime(2026, 1, 1) + timedelta(minutes=row) for row in range(ROWS)]
        times[300:] = [time + timedelta(days=1) for time in times[300:]]
        frames.append(
            pl.DataFrame(values, schema=["flow", "heat"]).with_columns(
                time=pl.Series(times), item_id=pl.lit(name)
            )
        )
    pl.concat(frames).write_csv(tmp_path / "plant.csv")
    return str(tmp_path / "plant.csv")


def found_in(path: str, folder: Path, detector: LevelDetector, **options: object) -> Findings:
    return detect(detector, open_files([path]), folder, title="plant", **options)  # type: ignore[arg-type]


def test_every_unbroken_segment_is_assessed_once(path: str, tmp_path: Path) -> None:
    PASSES.clear()
    found_in(path, tmp_path / "out", LevelDetector())
    # the rows that are fitted on, then all rows: two segments a machine
    assert PASSES == [200, 200, 300, 100, 300, 100]


def test_tables_alarms_and_report_tell_the_same(path: str, tmp_path: Path) -> None:
    detector = LevelDetector()
    told: list[Progress] = []
    findings = found_in(path, tmp_path / "out", detector, watch=told.append)
    assert findings.rows == 2 * ROWS
    assert [file.name for file in findings.files] == ["scores.csv", "alarms.csv", "report.html"]
    assert all(file.stat().st_size > 0 for file in findings.files)
    scores = pl.read_csv(tmp_path / "out" / "scores.csv")
    rows = open_files([path]).whole().frame
    np.testing.assert_allclose(scores["score"], detector.decision_function(rows), rtol=1e-12)
    alarms = pl.read_csv(tmp_path / "out" / "alarms.csv")
    assert len(alarms) == len(findings.alarms)
    assert {alarm.entity for alarm in findings.alarms} == {"press", "drill"}
    assert findings.alarms == detector.alarms(rows)
    assert {progress.stage for progress in told} >= {"scoring", "drawing"}


def test_the_model_in_the_folder_is_the_one_that_was_used(path: str, tmp_path: Path) -> None:
    detector = SubAdjacentDetector()
    detect(detector, open_files([path]), tmp_path / "out", title="plant")
    rows = open_files([path]).whole().frame
    again = load(tmp_path / "out" / "model").decision_function(rows)
    np.testing.assert_allclose(again, detector.decision_function(rows), rtol=1e-6)


def test_rows_fitted_on_are_left_out_of_the_metrics(path: str, tmp_path: Path) -> None:
    frame = pl.read_csv(path).with_columns(label=pl.Series(([0] * 370 + [1] * 10 + [0] * 20) * 2))
    frame.write_csv(path)
    found_in(path, tmp_path / "out", LevelDetector())
    page = (tmp_path / "out" / "report.html").read_text()
    assert "400 of 800 rows, the first ones" in page
    assert "the 400 rows after those" in page
    assert "random score" in page
