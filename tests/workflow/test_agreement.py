"""All that is said of a row agrees: scores, alarms, labels, whoever is asked and in what parts."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from subadjacent import BaseDetector, SubAdjacentDetector
from subadjacent.data.files import open_files
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.events import join
from subadjacent.workflow.detect import detect
from subadjacent.workflow.report import report
from subadjacent.workflow.score import score
from workflow.level import LevelDetector

ROWS, BREAK = 1_600, 1_200
MACHINES = ("press", "drill")


def plant() -> pl.DataFrame:
    """Two machines in turn, with a day missing from their clock; one of them moves for good."""
    times = [datetime(2026, 1, 1) + timedelta(minutes=row) for row in range(ROWS)]
    times[BREAK:] = [time + timedelta(days=1) for time in times[BREAK:]]
    frames = []
    for number, name in enumerate(MACHINES):
        rng = np.random.default_rng(number)
        values = np.sin(np.arange(ROWS) / 9)[:, None] + rng.normal(scale=0.3, size=(ROWS, 2))
        # the same thing three times, on either side of the break
        for start in (900, 980, BREAK - 5):
            values[start : start + 10, number] += 6
        if name == "drill":
            values[1_000:] += 4
        frames.append(
            pl.DataFrame(values, schema=["flow", "heat"]).with_columns(
                time=pl.Series(times), item_id=pl.lit(name)
            )
        )
    # sorting keeps each machine's order: their rows come in turn
    return pl.concat(frames).sort("time", maintain_order=True)


HOLES = {"press": (1_300, 1_360), "drill": (200, 240)}
"""Rows in which a machine's flow is missing: while it is assessed, while it is learned from."""


def holed(frame: pl.DataFrame) -> pl.DataFrame:
    row = pl.int_range(pl.len()).over("item_id")
    gone = pl.lit(value=False)
    for name, (start, stop) in HOLES.items():
        gone |= (pl.col("item_id") == name) & (row >= start) & (row < stop)
    return frame.with_columns(flow=pl.when(gone).then(None).otherwise(pl.col("flow")))


def has_alarms_at(rows: list[int], alarms: list[Alarm], entity: str) -> list[bool]:
    """Whether each run of anomalous rows has an alarm that shares a row with it."""
    own = [alarm for alarm in alarms if alarm.entity == entity]
    return [
        any(alarm.first < stop and alarm.last >= start for alarm in own)
        for start, stop in join(np.array(rows, dtype=bool))
    ]


@pytest.mark.parametrize(
    "detector",
    [
        LevelDetector(contamination="auto", adapt_after=200),
        SubAdjacentDetector(adapt_after=200),
        pytest.param(SubAdjacentDetector(contamination=0.01, lookahead=0), marks=pytest.mark.sweep),
    ],
    ids=["level", "default", "causal"],
)
def test_rows_and_alarms_are_the_same_in_every_output(
    detector: BaseDetector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.workflow.score.CHUNK_ROWS", 700)
    monkeypatch.setattr("subadjacent.workflow.score.MIN_ROWS", 100)
    path = tmp_path / "plant.csv"
    holed(plant()).write_csv(path)
    findings = detect(detector, open_files([str(path)]), tmp_path / "out", title="plant")
    written = pl.read_csv(tmp_path / "out" / "scores.csv")
    in_parts = score(detector, open_files([str(path)]))
    frame = open_files([str(path)]).whole().frame
    predicted = detector.predict(frame).to_list()
    assert written["anomalous"].to_list() == predicted
    assert in_parts["anomalous"].to_list() == predicted
    np.testing.assert_allclose(
        in_parts["normalized_score"], written["normalized_score"], rtol=1e-3, atol=1e-3
    )
    for name in MACHINES:
        of_machine = written.filter(pl.col("item_id") == name)["anomalous"].to_list()
        assert all(of_machine[slice(*HOLES[name])])
        assert not all(of_machine)
        runs = has_alarms_at(of_machine, findings.alarms, name)
        assert runs == [True] * len(runs) != []
    table = pl.read_csv(tmp_path / "out" / "alarms.csv")
    assert table["repeat"].to_list() == [alarm.repeat for alarm in findings.alarms]
    assert table["permanent"].to_list() == [alarm.permanent for alarm in findings.alarms]
    # none reaches across the break, though the same thing goes on there
    assert all((alarm.first < BREAK) == (alarm.last < BREAK) for alarm in findings.alarms)


def test_every_output_says_what_the_model_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "plant.csv"
    # half of the drill's rows are off; the rest of its rows and the press are as they were
    off = pl.when((pl.col("item_id") == "drill") & (pl.col("time") >= datetime(2026, 1, 1, 13)))
    plant().with_columns(flow=pl.col("flow") + off.then(50.0).otherwise(0.0)).write_csv(path)
    detector = LevelDetector()
    with caplog.at_level(logging.WARNING):
        findings = detect(detector, open_files([str(path)]), tmp_path / "out", title="plant")
    assert findings.misfits == ("drill",)
    sentence = "Most rows of drill are unlike those that the model learned from"
    assert [sentence in record.getMessage() for record in caplog.records] == [True]
    assert sentence in (tmp_path / "out" / "report.html").read_text()
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        report(detector, open_files([str(path)]), tmp_path / "page.html", title="plant")
    assert [sentence in record.getMessage() for record in caplog.records] == [True]
    for least, whole in ((100, False), (10_000, False), (100, True)):
        monkeypatch.setattr("subadjacent.workflow.score.MIN_ROWS", least)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            score(LevelDetector(whole=whole).fit(plant()[:1_600]), open_files([str(path)]))
        assert [sentence in record.getMessage() for record in caplog.records] == [True]
