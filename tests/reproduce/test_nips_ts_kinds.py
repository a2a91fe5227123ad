"""NeurIPS-TS kind by kind: which runs, and what the paper's F1 would take."""

from __future__ import annotations

from reproduce.catalogue import table
from reproduce.plan import SYNTHETIC, Selection
from reproduce.run import CLEAN, PUBLISHED, Run
from reproduce.tables.nips_ts_kinds import TABLE, _other
from subadjacent.data.synthetic import KINDS

OURS = Run(SYNTHETIC, "sub-adjacent", PUBLISHED)


def test_every_kind_is_run_alone_after_training_with_and_without_it() -> None:
    runs = TABLE.runs(Selection(datasets=(SYNTHETIC,)))
    # five kinds and all of them, four columns, three seeds
    assert len(runs) == len(set(runs)) == 6 * 4 * 3
    trained = [run for run in runs if run.detector == OURS.detector and run.seed == 2]
    settings = [dict(run.settings) for run in trained]
    clean = [{"anomalies": kind} for kind in KINDS] + [{}]
    assert [one for one in settings if "train" not in one] == clean
    assert [one for one in settings if "train" in one] == [
        {**one, "train": "contaminated"} for one in clean
    ]


def test_all_five_together_are_the_runs_of_table_3() -> None:
    selection = Selection(datasets=(SYNTHETIC,), protocols=(PUBLISHED,))
    together = {run for run in TABLE.runs(selection) if "anomalies" not in dict(run.settings)}
    assert together <= set(table("table3").runs(selection))


def test_a_trial_has_one_kind_and_all() -> None:
    runs = TABLE.runs(Selection(datasets=(SYNTHETIC,), quick=True))
    assert len(runs) == 2 * 4
    assert {dict(run.settings).get("anomalies") for run in runs} == {KINDS[-1], None}
    assert {run.seed for run in runs} == {0}


def test_other_sets_and_the_clean_protocol_have_no_runs() -> None:
    assert TABLE.runs(Selection(datasets=("msl",))) == []
    assert TABLE.runs(Selection(datasets=(SYNTHETIC,), protocols=(CLEAN,))) == []


def test_the_other_of_precision_and_recall_by_hand() -> None:
    # 2 · 60 · 40 / (60 + 40) = 48
    assert _other(48, 60, "recall") == "a recall of 40.0"
    # half the F1 is too little, whatever the other is
    assert _other(48, 24, "recall") == "more recall than there is"
    assert _other(48, 31, "recall") == "more recall than there is"
    # 2 · 25 · 100 / 125 = 40
    assert _other(40, 25, "precision") == "a precision of 100.0"
