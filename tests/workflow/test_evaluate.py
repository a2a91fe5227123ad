"""Scores and labels of files: metrics of rows, and alarms machine by machine."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent.data.files import Columns, open_files
from subadjacent.errors import InputError
from subadjacent.evaluation.summary import with_controls
from subadjacent.workflow.evaluate import evaluate

START = datetime(2026, 1, 1)


def machines(rows: int = 144) -> pl.DataFrame:
    """Two machines that report in turn, every ten minutes for a day.

    Rows 50 to 59 of each are anomalous. One is found at its third row and has a false alarm; the
    other has none.
    """
    row = np.repeat(np.arange(rows), 2)
    machine = np.tile([0, 1], rows)
    score = np.where((machine == 0) & np.isin(row, [52, 55, 100]), 9.0, 1.0 + machine)
    return pl.DataFrame(
        {
            "time": [START + timedelta(minutes=10 * int(one)) for one in row],
            "machine": np.array(["pump", "fan"])[machine],
            "score": score,
            "anomalous": (score > 5).astype(int),
            "y": ((row >= 50) & (row < 60)).astype(int),
        }
    )


def compare(
    frame: pl.DataFrame, folder: Path, *, entity: str | None = "machine", **options: Any
) -> Any:
    file = folder / "scored.csv"
    frame.write_csv(file)
    part = open_files([str(file)], Columns(entity=entity, label="y")).whole()
    return evaluate(part, np.random.default_rng(0), **options)


def test_rows_need_neither_times_nor_machines(tmp_path: Path) -> None:
    pump = machines().filter(pl.col("machine") == "pump")
    ours = compare(pump.select("score", "anomalous", "y"), tmp_path, entity=None)["alarms"]
    assert ours["this detector"]["alarms"] == 2
    assert ours["this detector"]["anomalies_found"] == 1
    assert math.isnan(ours["this detector"]["alarms_false_per_day"])


def test_alarms_are_counted_machine_by_machine(tmp_path: Path) -> None:
    found = compare(machines(), tmp_path)
    ours = found["alarms"]["this detector"]
    assert (ours["alarms"], ours["alarms_right"]) == (2, 1)
    assert (ours["anomalies"], ours["anomalies_found"]) == (2, 1)
    assert ours["event_f1"] == 0.5
    assert ours["oracle_event_f1"] == 0.5
    assert ours["alarm_delay"] == 2
    # two machines for a day each
    assert ours["alarms_false_per_day"] == pytest.approx(0.5)
    assert ours["alarms_false_per_1000_rows"] == pytest.approx(1000 / 288)
    assert ours["normal_rows_alarmed"] == 1 / 268
    assert set(found) == {"this detector", "random score", "alarms"}
    assert set(found["alarms"]) == {"this detector", "random score"}


def test_metrics_of_rows_are_those_of_the_library(tmp_path: Path) -> None:
    frame = machines()
    found = compare(frame, tmp_path)
    scores, labels = frame["score"].to_numpy(), frame["y"].to_numpy()
    expected = with_controls(
        scores, labels, frame["anomalous"].to_numpy(), np.random.default_rng(0)
    )
    assert {name: found[name] for name in expected} == expected


def test_a_threshold_wins_over_the_column(tmp_path: Path) -> None:
    ours = compare(machines(), tmp_path, threshold=1.5)["alarms"]["this detector"]
    # the second machine is above it all day long
    assert (ours["alarms"], ours["anomalies_found"]) == (3, 2)
    none = compare(machines(), tmp_path, threshold=9.0)["alarms"]["this detector"]
    assert none["alarms"] == 0
    everything = compare(machines(), tmp_path, threshold=-math.inf)["alarms"]["this detector"]
    assert everything["normal_rows_alarmed"] == 1


def test_the_column_says_which_rows_alarm_whatever_they_score(tmp_path: Path) -> None:
    frame = machines().with_columns(anomalous=pl.lit(0))
    frame[101, "anomalous"] = 1  # the fan, row 50
    ours = compare(frame, tmp_path)["alarms"]["this detector"]
    assert (ours["alarms"], ours["alarms_right"], ours["anomalies_found"]) == (1, 1, 1)
    all_rows = frame.with_columns(anomalous=pl.lit(1))
    assert compare(all_rows, tmp_path)["this detector"]["alarm_rate"] == 1


def test_alarms_at_the_end_of_one_machine_and_the_start_of_another_are_two(tmp_path: Path) -> None:
    frame = machines().with_columns(anomalous=pl.lit(0))
    # the last row of the fan, the first of the pump
    frame[len(frame) - 1, "anomalous"] = frame[0, "anomalous"] = 1
    assert compare(frame, tmp_path)["alarms"]["this detector"]["alarms"] == 2


def test_another_column_may_hold_the_scores(tmp_path: Path) -> None:
    frame = machines().rename({"score": "points"})
    found = compare(frame, tmp_path, score="points")
    assert found["alarms"]["this detector"]["alarms"] == 2


def test_without_a_regular_clock_false_alarms_a_day_are_unknown(tmp_path: Path) -> None:
    frame = machines()
    rng = np.random.default_rng(0)
    odd = [START + timedelta(seconds=int(s)) for s in np.cumsum(rng.integers(1, 900, len(frame)))]
    for changed in (frame.drop("time"), frame.with_columns(time=pl.Series(odd))):
        ours = compare(changed, tmp_path)["alarms"]["this detector"]
        assert math.isnan(ours["alarms_false_per_day"])
        assert ours["alarms"] == 2


@pytest.mark.parametrize(
    ("change", "options", "rule"),
    [
        (lambda frame: frame.drop("anomalous"), {}, "--threshold is needed where there is no"),
        (lambda frame: frame, {"score": "points"}, "^plant has no column 'points'; it has "),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, change: Any, options: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        compare(change(machines()), tmp_path, name="plant", **options)


def test_labels_must_be_there(tmp_path: Path) -> None:
    machines().drop("y").write_csv(tmp_path / "scored.csv")
    part = open_files([str(tmp_path / "scored.csv")], Columns(entity="machine")).whole()
    with pytest.raises(InputError, match="the file must have a column of labels"):
        evaluate(part, np.random.default_rng(0))
