"""NeurIPS-TS kind by kind: which runs, and what the paper's F1 would take."""

from __future__ import annotations

from reproduce.plan import SYNTHETIC, Selection
from reproduce.run import CLEAN
from reproduce.tables.nips_ts_kinds import TABLE, _other
from subadjacent.data.plant import KINDS


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
