"""Rows of the paper's tables, made by a cluster: those of one process."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from reproduce import runner as module
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, Run
from reproduce.runner import RunContext, RunEvent, make
from running import runner
from subadjacent.workflow import cluster as tasks

pytestmark = pytest.mark.usefixtures("cluster")

RANDOM = Run("nips-ts", "random", PUBLISHED, quick=True)
RUNS = [
    RANDOM,
    replace(RANDOM, seed=1),
    replace(RANDOM, detector="magnitude", protocol=CLEAN),
    replace(RANDOM, detector="sub-adjacent"),
]
HERE = RunContext(device="cpu")
CLUSTER = replace(HERE, jobs=2, on_cluster=True)
# what depends on the moment
TIMED = {"seconds", "fit_seconds", "score_seconds"}


def rows(folder: Path) -> list[dict[str, str]]:
    results = Results(folder)
    found = [results.get(run) or {} for run in RUNS]
    return [{name: one for name, one in row.items() if name not in TIMED} for row in found]


def test_a_cluster_gives_the_rows_of_one_process(tmp_path: Path) -> None:
    steps: list[RunEvent] = []
    assert make(RUNS, Results(tmp_path / "here"), HERE) == []
    assert make(RUNS, Results(tmp_path / "cluster"), CLUSTER, steps.append) == []
    assert rows(tmp_path / "cluster") == rows(tmp_path / "here")
    assert all(rows(tmp_path / "here"))
    assert [step.done for step in steps] == [1, 2, 3, 4]


@pytest.mark.sweep
def test_runs_that_fail_or_kill_their_workers_stop_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonsense = replace(RANDOM, detector="sub-adjacent", settings=(("window", "wide"),))
    fatal = replace(RANDOM, detector="magnitude")
    family = module._family

    def dying(place: RunContext, runs: list[Run]) -> list[module.Outcome]:
        if fatal in runs:
            os.kill(os.getpid(), signal.SIGKILL)
        return family(place, runs)

    monkeypatch.setattr(module, "_family", dying)
    # one that dies is proof enough, for each takes seconds to import torch
    monkeypatch.setattr(tasks, "MAX_RETRIES", 0)
    results = Results(tmp_path)
    failed = {step.run: step.error for step in make([fatal, nonsense, RANDOM], results, CLUSTER)}
    assert failed.keys() == {fatal, nonsense}
    assert failed[fatal].startswith("the cluster gave up on a piece of work")
    assert failed[nonsense].startswith("TypeError: ")
    assert RANDOM in results


@pytest.mark.sweep
def test_the_command_makes_its_rows_on_a_cluster(tmp_path: Path) -> None:
    command = runner(tmp_path, "reproduce.__main__", "main")
    trial = ("table1", "--quick", "--device", "cpu", "--root", "none")
    here = command(*trial, "-o", "here")
    there = command(*trial, "-o", "there", "--engine", "ray")
    assert there.stdout == here.stdout != ""
    refused = command(*trial, "--engine", "ray", "--jobs", 2, code=2)
    assert "'--jobs': is for this machine: a cluster runs as many as it has cores" in " ".join(
        refused.stderr.replace("│", " ").split()
    )
