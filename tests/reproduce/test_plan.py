"""What is made, what is shown, and what is said when there is nothing to make it of."""

from __future__ import annotations

from pathlib import Path

import pytest

from committed import RESULTS
from reproduce.catalogue import names
from reproduce.datasets import KINDS
from reproduce.plan import Selection, available, make_plan
from reproduce.results import Results
from reproduce.run import CLEAN, Run
from subadjacent.errors import DataNotFound, InputError

ANY = Selection(datasets=())


def test_without_data_only_generated_sets_are_at_hand(tmp_path: Path) -> None:
    assert available(tmp_path) == ("nips-ts", *KINDS)


def test_only_what_has_no_row_is_made(tmp_path: Path) -> None:
    plan = make_plan(
        ["decisions"], Selection(datasets=(), seeds=4), Results(RESULTS), tmp_path, run=True
    )
    assert {run.seed for run in plan.runs} == {3}
    assert {run.dataset for run in plan.runs} == {"nips-ts"}
    assert plan.there > len(plan.runs)


def test_what_can_be_made_is_made_and_the_rest_is_named(tmp_path: Path) -> None:
    plan = make_plan(names(["all"]), ANY, Results(tmp_path), tmp_path, run=True)
    tables = ["table1", "table3", "leaderboard", "decisions", "nips-ts-kinds"]
    tables += ["ablation-default", "ablation-kinds"]
    assert [table.name for table in plan.tables] == tables
    assert [figure.name for figure in plan.compute] == ["figure5"]
    assert set(plan.lacking) == {*names(["all"])} - {*tables, "figure5"}


def test_rows_of_other_data_are_not_taken_for_rows_of_this(tmp_path: Path) -> None:
    for file in RESULTS.glob("*.csv"):
        text = file.read_text()
        kept = [line for line in text.splitlines() if "nips-ts" in line or line.startswith("key,")]
        there = Results(RESULTS).get(Run("nips-ts", "facts", CLEAN))
        assert there is not None
        other = "\n".join(kept).replace(there["data"], "0123456789abcdef")
        (tmp_path / file.name).write_text(other + "\n")
    with pytest.raises(InputError, match=r"other data of NeurIPS-TS \(fingerprint 0123"):
        make_plan(["table3"], ANY, Results(tmp_path), tmp_path, run=True)


def test_a_trial_takes_the_generated_set_where_there_is_no_other(tmp_path: Path) -> None:
    selection = Selection(datasets=(), quick=True)
    plan = make_plan(names(["all"]), selection, Results(tmp_path), tmp_path, run=True)
    assert plan.lacking == ()
    assert {run.dataset for run in plan.runs} == {"nips-ts"}
    assert [figure.name for figure in plan.compute] == ["figure3", "figure5"]


def test_without_running_no_dataset_is_looked_for_and_rows_alone_are_shown(tmp_path: Path) -> None:
    plan = make_plan(names(["all"]), ANY, Results(RESULTS), tmp_path / "no", run=False)
    assert (plan.runs, plan.compute, plan.lacking) == ((), (), ())
    with pytest.raises(
        DataNotFound, match="has no rows of table2; leave out --no-run to make them"
    ):
        make_plan(["table2"], ANY, Results(tmp_path), None, run=False)
