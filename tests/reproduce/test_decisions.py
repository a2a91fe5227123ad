"""The table of decisions: alarms at the label-free threshold, one table a dataset."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from reproduce.comparison import facts_of
from reproduce.plan import SYNTHETIC, Selection
from reproduce.render import markdown
from reproduce.results import Results
from reproduce.run import CLEAN, Run
from reproduce.runner import RunContext, make
from reproduce.tables.decisions import TABLE, VARIANTS

MSL = Selection(datasets=("msl",))


def measured(**others: float) -> dict[str, float]:
    return {
        "alarms": 30.0,
        "alarms_right_share": 1 / 3,
        "anomalies_found_share": 0.25,
        "event_f1": 0.2857,
        "oracle_event_f1": 0.44,
        "normal_rows_alarmed": 0.1467,
        "alarms_false_per_1000_rows": 0.271,
        "alarms_false_per_day": 0.39,
        "alarm_delay": 2.33,
    } | others


def test_rows_from_before_alarms_were_counted_are_not_run(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(Run("msl", "default", CLEAN), {"average_precision": 0.5})
    results.add(Run("msl", "pca", CLEAN), measured(alarm_delay=math.nan))
    # read again, the old row has empty columns
    (table,) = TABLE.result_tables(Results(tmp_path), MSL)
    cells = dict(table.rows)
    assert {cell.missing for cell in cells["our default"]} == {"not run"}
    assert {cell.missing for cell in cells["PCA error"]} == {""}
    assert "| PCA error | 30 | 33.3 | 25.0 | 28.6 | 44.0 | 14.7 | 0.27 | — |" in markdown(table)


@pytest.mark.parametrize(("rows", "warned"), [(19_999, True), (20_000, False)])
def test_anomalies_that_are_everywhere_are_warned_of(
    tmp_path: Path, rows: int, warned: bool
) -> None:
    results = Results(tmp_path)
    results.add(facts_of("nips-ts"), {"entities": 1, "segments": 1_000, "test_rows": rows})
    (table,) = TABLE.result_tables(results, Selection(datasets=("nips-ts",)))
    assert table.notes[0] == "1,000 anomalies in one series."
    assert len(table.notes) == 1 + warned
    if warned:
        assert table.notes[1].startswith("There is an anomaly every 20 rows, so that nearly every")


def test_a_trial_makes_rows_that_fill_it(tmp_path: Path) -> None:
    selection = Selection(datasets=(SYNTHETIC,), quick=True)
    results = Results(tmp_path)
    assert len(TABLE.runs(selection)) == len(VARIANTS) + 1
    runs = [run for run in TABLE.runs(selection) if run.detector in ("magnitude", "facts")]
    assert make(runs, results, RunContext(device="cpu")) == []
    (table,) = TABLE.result_tables(results, selection)
    cells = dict(table.rows)["input magnitude"]
    assert {cell.missing for cell in cells} == {""}
    assert 0 <= cells[3].mean <= cells[4].mean <= 100
