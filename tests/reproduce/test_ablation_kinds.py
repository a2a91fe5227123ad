"""Views of states and shapes left out, on generated kinds of anomaly."""

from __future__ import annotations

from pathlib import Path

from reproduce.comparison import ResultTable
from reproduce.plan import Selection
from reproduce.results import Results
from reproduce.run import CLEAN, Run
from reproduce.runner import RunContext, make
from reproduce.tables.ablation_kinds import TABLE, VARIANTS


def tables(results: Results) -> list[ResultTable]:
    return TABLE.result_tables(results, Selection())


def test_there_is_no_mean_as_long_as_a_run_is_missing(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(Run("off the ring", "default", CLEAN), {"average_precision": 0.5})
    rows = dict(tables(results)[0].rows)
    assert rows["off the ring (state)"][0].values == (50.0,)
    assert rows["mean"][0].missing == "not run"


def test_a_kind_runs_like_any_dataset(tmp_path: Path) -> None:
    selection = Selection(datasets=("off the ring",), quick=True)
    runs = [run for run in TABLE.runs(selection) if run.dataset == "off the ring"]
    assert len(runs) == len(VARIANTS)
    results = Results(tmp_path)
    assert make(runs, results, RunContext(device="cpu")) == []
    ((label, cells), _), *_ = (table.rows for table in TABLE.result_tables(results, selection))
    assert label == "off the ring (state)"
    assert all(0 <= cell.mean <= 100 for cell in cells)
