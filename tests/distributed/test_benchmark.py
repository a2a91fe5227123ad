"""The benchmark of lakes at a tiny size; the simulation of a large cluster, by hand."""

from __future__ import annotations

import math
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.usefixtures("cluster")
def test_a_lake_is_scored_with_and_without_a_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--files", "2", "--entities", "2", "--rows", "50", "--workers", "2")
    monkeypatch.setattr(sys, "argv", ["lake.py", *sizes])
    runpy.run_path(str(FOLDER / "lake.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "200 rows of 2 entities in 2 files, 3 channels"
    assert [line.split("  ")[0] for line in lines[2:4]] == ["one machine, no Ray", "workers: 2"]
    assert "looking" in lines[4]
    assert "sorting" in lines[4]
    assert lines[5].startswith("  a task: ")


CALM = {"spread": 0.0, "stragglers": 0.0, "days_between_failures": math.inf}


def simulated(tasks: int, seconds: float, **cluster: float) -> tuple[float, float, int]:
    script = runpy.run_path(str(FOLDER / "stragglers.py"))
    rng = np.random.default_rng(0)
    found = script["simulate"](tasks, seconds, script["Cluster"](**cluster), rng)
    return tuple(found)


def test_a_calm_cluster_is_used_whole() -> None:
    assert simulated(4, 10.0, workers=2, dispatch=0.0, **CALM) == (20.0, 1.0, 0)
    # a worker too many
    assert simulated(4, 10.0, workers=5, dispatch=0.0, **CALM) == (10.0, 0.8, 0)


def test_workers_wait_for_tasks_that_are_handed_out_slowly() -> None:
    # at 5, 10, 15 and 20 seconds
    assert simulated(4, 10.0, workers=4, dispatch=5.0, **CALM) == (30.0, 40 / 120, 0)


def test_a_slow_machine_holds_up_the_end() -> None:
    slow = CALM | {"stragglers": 1.0, "slowdown": 3.0}
    assert simulated(2, 10.0, workers=2, dispatch=0.0, **slow) == (30.0, 20 / 60, 0)


def test_what_a_dead_machine_was_at_is_done_again() -> None:
    often = CALM | {"days_between_failures": 20 / 86_400}
    seconds, efficiency, lost = simulated(200, 10.0, workers=2, dispatch=0.0, **often)
    # a task of ten seconds dies with 1 - exp(-1/2) = 39 %, so that 1.65 are needed for one
    assert 100 < lost < 160
    assert seconds > 1_000
    assert efficiency == 2_000 / (2 * seconds)


def test_the_simulation_says_what_each_size_of_task_costs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--rows", "4000", "--rate", "100", "--workers", "2", "8")
    monkeypatch.setattr(sys, "argv", ["stragglers.py", *sizes])
    runpy.run_path(str(FOLDER / "stragglers.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4,000 rows are 40 seconds of one worker"
    table = [line.split() for line in lines[2:]]
    assert [(row[0], row[1], row[3]) for row in table] == [
        (workers, seconds, tasks)
        for workers in "28"
        for seconds, tasks in (("2", "20"), ("20", "2"), ("60", "1"))
    ]
